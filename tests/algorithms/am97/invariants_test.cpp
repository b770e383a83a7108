// SPDX-License-Identifier: Apache-2.0

/// The paper's invariants, which stand beside the texts, in every state of one block, N = k+1: all of figure 3 and
/// figure 8 but I1 and I5, which N = k+1 makes true, and all of figure 9 but I12 and I16.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// The number of the one block.
int instance_of(const model& of) {
  int instance = -1;
  for (int v = 0; v < of.memory.size(); ++v)
    if (of.memory.at(v).name.starts_with("X.")) instance = std::stoi(of.memory.at(v).name.substr(2));
  return instance;
}

/// "holds", or the invariant that is false.
std::string decided(const char* algorithm, int k, const std::vector<std::string>& wrong = {}) {
  const int N = k + 1;
  check_request request;
  request.of = {algorithm, N, k, 0, {}};
  for (const std::string& text : wrong) request.of.wrong.push_back(mutation::parse(text));
  program p(make_model(find_algorithm(algorithm), N, k), N, k, {0, request.of.wrong});
  request.properties = {"invariant"};
  const property_result found = check(p, request).properties.at(0);
  if (!found.counterexample) return to_string(found.is);
  EXPECT_EQ(validate(*found.counterexample, p), "");
  return found.counterexample->what;
}

TEST(Am97Invariants, HoldInEveryState) {
  for (const int k : {1, 2, 3}) EXPECT_EQ(decided("am97-chain-cc", k), "holds") << k;
  for (const int k : {1, 2}) EXPECT_EQ(decided("am97-chain-dsm", k), "holds") << k;
  for (const int k : {1, 2}) EXPECT_EQ(decided("am97-chain-dsm-small", k), "holds") << k;
}
TEST(Am97Invariants, FailForMutants) {
  const auto fails = [](const char* algorithm, const char* wrong, const char* which) {
    const std::string said = decided(algorithm, 2, {wrong});
    EXPECT_NE(said.find(which), std::string::npos) << said;
  };
  fails("am97-chain-cc", "drop:3", "I3");
  fails("am97-chain-cc", "drop:7", "I2");
  fails("am97-chain-dsm", "drop:5", "I9");
  fails("am97-chain-dsm", "drop:6", "I7");
  fails("am97-chain-dsm", "drop:13", "I9");
  fails("am97-chain-dsm-small", "drop:5", "I20");
  fails("am97-chain-dsm-small", "drop:7", "I19");
  fails("am97-chain-dsm-small", "drop:8", "I14");
}
/// Labels do not tell in which of several blocks a process is.
TEST(Am97Invariants, SpeakOfOneBlock) {
  EXPECT_TRUE(program(make_model(find_algorithm("am97-chain-cc"), 3, 2), 3, 2, {}).has_invariant());
  EXPECT_FALSE(program(make_model(find_algorithm("am97-chain-cc"), 3, 1), 3, 1, {}).has_invariant());
}

verdict judged(const char* algorithm, int k, const std::string& formula) {
  const int N = k + 1;
  program p(make_model(find_algorithm(algorithm), N, k), N, k, {0, {}});
  check_request request;
  request.of = {algorithm, N, k, 0, {}};
  request.properties = {"ltl: " + formula};
  request.crashes = k - 1;
  return check(p, request).properties.at(0).is;
}
/// U1 of figure 3, U2 of figure 8 and U3 of figure 9: one that has been released stays so until it is inside.
TEST(Am97Unless, ReleasedStaysReleased) {
  for (const int k : {1, 2}) {
    EXPECT_EQ(judged("am97-chain-cc", k, "forall p: [] (at(p, 5) && Q.0 != p -> ((at(p, 5) && Q.0 != p) W inside(p)))"),
              verdict::holds);
    EXPECT_EQ(judged("am97-chain-cc", k, "forall p: [] (at(p, 5) && Q.0 = p -> ((at(p, 5) && Q.0 = p) W inside(p)))"),
              verdict::violated)
        << "who has not been released may be";
    EXPECT_EQ(judged("am97-chain-dsm", k, "[] (at(1, 8) && P.0[1] = 1 -> ((at(1, 8) && P.0[1] = 1) W inside(1)))"),
              verdict::holds);
    const int IN = instance_of(*make_model(find_algorithm("am97-chain-dsm-small"), k + 1, k));
    for (const char* word : {"P", "R"})
      for (const bool released : {true, false}) {
        const std::string waits =
            fmt::format("at(1, \"11-12\") && {}[1] {} \"(false,{})\"", word, released ? "!=" : "=", IN);
        EXPECT_EQ(judged("am97-chain-dsm-small", k, fmt::format("[] ({0} -> (({0}) W inside(1)))", waits)),
                  released ? verdict::holds : verdict::violated)
            << waits;
      }
  }
}

}  // namespace
}  // namespace kgate::lab
