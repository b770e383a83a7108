// SPDX-License-Identifier: Apache-2.0

/// The paper's invariants that speak of shared variables and places in the text, in every state of one block, N = k+1:
/// all of figure 3 and figure 8, and all of figure 9 but I16. Where they name the private v of a process, which it has
/// read from Q, I17 is looked at with Q in its place, as I16 has it, and I10 without it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "kgate/algorithms/am97_figure9.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// A state of one block, in the paper's words.
class block {
 public:
  block(const state_view& s, const model& of, int N) : s_(s), of_(of), N_(N) {}

  template <class T>
  T value(const std::string& name) const {
    for (int v = 0; v < of_.memory.size(); ++v)
      if (of_.memory.at(v).name == name) return from_bytes<T>(s_.value(v));
    ADD_FAILURE() << "no variable " << name;
    return T{};
  }
  /// p@{labels}: its next statement is one of these, or it is in its critical section, which has a number of its own.
  bool at(int p, std::initializer_list<std::string_view> labels) const {
    const std::string_view next = s_.where(p) == region::critical ? "critical" : s_.label(p);
    return std::find(labels.begin(), labels.end(), next) != labels.end();
  }
  int count(std::initializer_list<std::string_view> labels) const {
    int all = 0;
    for (int p = 0; p < N_; ++p) all += at(p, labels) ? 1 : 0;
    return all;
  }
  template <class Test>
  bool some(Test test) const {
    bool any = false;
    for (int p = 0; p < N_; ++p) any |= test(p);
    return any;
  }
  int processes() const { return N_; }

 private:
  const state_view& s_;
  const model& of_;
  int N_;
};

/// The name of a variable of the only block, which is instance `at`.
std::string in_block(const char* name, int at) { return std::string(name) + "." + std::to_string(at); }
std::string of_process(const char* name, int p) { return std::string(name) + "[" + std::to_string(p) + "]"; }

std::string figure_3(const block& b, int k, int instance) {
  const int X = b.value<int>(in_block("X", instance));
  const auto Q = b.value<process_id>(in_block("Q", instance));
  if (b.processes() - b.count({"2"}) > k + 1) return "I1";
  if (X != k - b.count({"3", "4", "5", "critical"})) return "I2";
  if (X < 0 && !b.some([&](int p) { return b.at(p, {"3"}) || (b.at(p, {"4", "5"}) && Q == pid(p)); })) return "I3";
  return b.count({"critical"}) > k ? "I4" : "";
}

std::string figure_8(const block& b, int k, int instance) {
  const int X = b.value<int>(in_block("X", instance));
  const auto Q = b.value<process_id>(in_block("Q", instance));
  const auto P = [&](int p) { return b.value<bool>(of_process(in_block("P", instance).c_str(), p)); };
  if (b.processes() - b.count({"2"}) > k + 1) return "I5";
  if (X != k - b.count({"3", "4", "5", "6", "7", "8", "critical"})) return "I6";
  for (int p = 0; p < b.processes(); ++p) {
    if (!P(p) && Q != pid(p)) return "I7";
    if ((b.at(p, {"6", "14"}) || (b.at(p, {"7", "8"}) && !P(p))) && Q != pid(p)) return "I9";
  }
  if ((b.count({"5", "6", "13", "14"}) > 0) == b.some([&](int p) { return !P(p); })) return "I7";
  if (b.count({"5", "6", "13", "14"}) > 1) return "I8";
  if (X < 0 && !b.some([&](int r) { return b.at(r, {"3", "4", "5", "6"}) || (b.at(r, {"7", "8"}) && !P(r)); }))
    return "I10";
  return b.count({"critical"}) > k ? "I11" : "";
}

std::string figure_9(const block& b, int k, int instance) {
  const int X = b.value<int>(in_block("X", instance));
  const auto Q = b.value<process_id>(in_block("Q", instance));
  const bool Z = b.value<bool>(in_block("Z", instance));
  const am97::spin_word waits(false, instance);
  const auto is_false = [&](const char* name, int p) { return b.value<am97::spin_word>(of_process(name, p)) == waits; };
  if (b.processes() - b.count({"2"}) > k + 1) return "I12";
  if (X != k - b.count({"3", "4", "5", "6", "7", "8", "9", "10", "11-12", "critical"})) return "I13";
  if (Z != (b.count({"4", "5", "6", "7", "8"}) > 0)) return "I14";
  if (b.count({"4", "5", "6", "7", "8"}) > 1) return "I15";
  for (int p = 0; p < b.processes(); ++p) {
    if (b.at(p, {"7", "8"}) && Q != pid(p)) return "I18";
    if (b.at(p, {"8"}) && !is_false("P", p)) return "I19";
    if (b.at(p, {"6"}) && b.some([&](int v) { return Q == pid(v) && is_false("P", v); })) return "I17";
    const bool replaceable = (!Z || b.count({"4", "5"}) > 0) && Q == pid(p);
    if (b.at(p, {"9", "10", "11-12"}) && !replaceable && is_false("P", p)) return "I20";
    if (b.at(p, {"11-12"}) && is_false("P", p) && Q != pid(p)) return "I21";
  }
  if (X < 0 && !b.some([&](int r) {
        return b.at(r, {"3", "4", "5", "6", "7", "8"}) || (b.at(r, {"9"}) && is_false("P", r)) ||
               (b.at(r, {"10", "11-12"}) && is_false("P", r) && is_false("R", r));
      }))
    return "I22";
  return b.count({"critical"}) > k ? "I23" : "";
}

using figure = std::string (*)(const block&, int, int);

/// The number of the one block.
int instance_of(const model& of) {
  int instance = -1;
  for (int v = 0; v < of.memory.size(); ++v)
    if (of.memory.at(v).name.starts_with("X.")) instance = std::stoi(of.memory.at(v).name.substr(2));
  return instance;
}

verdict decided(const char* algorithm, figure broken, int k, const std::vector<std::string>& wrong = {}) {
  const int N = k + 1;
  auto made = make_model(find_algorithm(algorithm), N, k);
  const model& of = *made;
  const int instance = instance_of(of);
  made->invariant = [&of, broken, k, N, instance](const state_view& s) { return broken(block(s, of, N), k, instance); };
  program_name name{algorithm, N, k, 0, {}};
  for (const std::string& text : wrong) name.wrong.push_back(mutation::parse(text));
  program p(std::move(made), N, k, {0, name.wrong});
  check_request request;
  request.of = name;
  request.properties = {"invariant"};
  request.limits.threads = 2;
  return check(p, request).properties.at(0).is;
}

TEST(Am97Invariants, HoldInEveryState) {
  for (const int k : {1, 2, 3}) EXPECT_EQ(decided("am97-chain-cc", figure_3, k), verdict::holds) << k;
  for (const int k : {1, 2}) EXPECT_EQ(decided("am97-chain-dsm", figure_8, k), verdict::holds) << k;
  for (const int k : {1, 2}) EXPECT_EQ(decided("am97-chain-dsm-small", figure_9, k), verdict::holds) << k;
}
TEST(Am97Invariants, FailForMutants) {
  EXPECT_EQ(decided("am97-chain-cc", figure_3, 2, {"drop:3"}), verdict::violated) << "I3";
  EXPECT_EQ(decided("am97-chain-dsm", figure_8, 2, {"drop:5"}), verdict::violated) << "I9";
  EXPECT_EQ(decided("am97-chain-dsm", figure_8, 2, {"drop:6"}), verdict::violated) << "I7";
  EXPECT_EQ(decided("am97-chain-dsm", figure_8, 2, {"drop:13"}), verdict::violated) << "I9";
  EXPECT_EQ(decided("am97-chain-dsm-small", figure_9, 2, {"drop:5"}), verdict::violated) << "I17";
  EXPECT_EQ(decided("am97-chain-dsm-small", figure_9, 2, {"drop:7"}), verdict::violated) << "I19";
  EXPECT_EQ(decided("am97-chain-dsm-small", figure_9, 2, {"drop:8"}), verdict::violated) << "I14";
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
/// U1 of figure 3, U2 of figure 8 and U3 of figure 9: whoever has been released stays so until it is inside.
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
