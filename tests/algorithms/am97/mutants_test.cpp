// SPDX-License-Identifier: Apache-2.0
// Errors made on purpose in Anderson & Moir's algorithms, each with the property that must break. Most are made by the
// machine at one of the paper's labels; those that concern how blocks are put together are put together wrongly here,
// from the real blocks.

#include <gtest/gtest.h>

#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure9.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// Checks a program and says which properties are violated; every counterexample is judged apart.
std::vector<std::string> broken(program& p, const program_name& name) {
  check_request request;
  request.of = name;
  request.crashes = p.k() - 1;
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
  if (name.algorithm.ends_with("+names")) request.properties.emplace_back("distinct-names");
  std::vector<std::string> names;
  for (const property_result& one : check(p, request).properties) {
    if (one.is != verdict::violated) continue;
    names.push_back(one.name);
    EXPECT_TRUE(one.counterexample.has_value());
    if (one.counterexample) {
      EXPECT_EQ(validate(*one.counterexample, p), "");
    }
  }
  return names;
}

struct mutant {
  const char* algorithm;
  int N, k;
  const char* error;
  const char* breaks;
  const char* what;
};

std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.algorithm << ' ' << m.error << ": " << m.what;
}

class Am97Mutant : public testing::TestWithParam<mutant> {};

TEST_P(Am97Mutant, IsCaught) {
  const mutant& m = GetParam();
  program_options options;
  options.wrong = {mutation::parse(m.error)};
  program p(make_model(find_algorithm(m.algorithm), m.N, m.k), m.N, m.k, options);
  const std::vector<std::string> names = broken(p, {m.algorithm, m.N, m.k, 0, options.wrong});
  EXPECT_TRUE(std::find(names.begin(), names.end(), m.breaks) != names.end()) << m;
}

TEST_P(Am97Mutant, IsTheOnlyThingWrong) {
  const mutant& m = GetParam();
  program p(make_model(find_algorithm(m.algorithm), m.N, m.k), m.N, m.k, {});
  EXPECT_TRUE(broken(p, {m.algorithm, m.N, m.k, 0, {}}).empty()) << m;
}

const mutant mutants[] = {
    {"am97-chain-cc", 3, 2, "defer:7", "starvation-free", "7 and 8 swapped: Q is written before the slot is back"},
    {"am97-chain-cc", 3, 1, "defer:7", "starvation-free", "7 and 8 swapped, two levels"},
    {"am97-chain-cc", 3, 2, "force:4=-1", "starvation-free", "the second test of X is missing: always waits"},
    {"am97-chain-cc", 3, 2, "force:4=0", "k-exclusion", "the second test of X never makes it wait"},
    {"am97-chain-cc", 3, 2, "drop:8", "starvation-free", "the waiting process is not released"},
    {"am97-chain-cc", 3, 2, "drop:7", "deadlock-free", "the slot is not released"},
    {"am97-chain-cc", 3, 2, "drop:3", "k-exclusion", "the spin location is not initialised"},
    {"am97-chain-cc", 3, 2, "drop:5", "k-exclusion", "nobody waits"},
    {"am97-chain-cc", 3, 2, "force:2=1", "k-exclusion", "slots are not counted"},
    {"am97-chain-dsm", 3, 2, "drop:4", "starvation-free", "test-and-set dropped in the entry"},
    {"am97-chain-dsm", 3, 2, "drop:12", "starvation-free", "test-and-set dropped in the exit"},
    {"am97-chain-dsm", 3, 2, "drop:13", "k-exclusion", "does not pretend to become the waiting process"},
    {"am97-chain-dsm", 3, 2, "drop:14", "k-exclusion", "its spin location is left set in the exit"},
    {"am97-chain-dsm", 3, 2, "drop:6", "k-exclusion", "its spin location is not initialised"},
    {"am97-chain-dsm", 3, 2, "defer:5", "k-exclusion", "5 and 6 swapped"},
    {"am97-chain-dsm", 3, 2, "force:7=-1", "starvation-free", "the second test of X is missing"},
    {"am97-chain-dsm", 3, 2, "defer:10", "starvation-free", "10 and 11 swapped"},
    {"am97-chain-dsm-small", 3, 2, "drop:3", "starvation-free", "test-and-set of Z dropped"},
    {"am97-chain-dsm-small", 3, 2, "drop:5", "starvation-free", "the spinning process is not released on entry"},
    {"am97-chain-dsm-small", 3, 2, "drop:16", "starvation-free", "one spin word only: the second is never set"},
    {"am97-chain-dsm-small", 3, 2, "drop:8", "k-exclusion", "Z is not given back"},
    {"am97-chain-dsm-small", 3, 2, "drop:7", "k-exclusion", "the first spin word is not initialised"},
    {"am97-chain-dsm-small", 3, 2, "drop:9", "k-exclusion", "the second spin word is not initialised"},
    {"am97-chain-dsm-small", 3, 2, "force:10=-1", "starvation-free", "the second test of X is missing"},
    {"am97-chain-dsm-small", 3, 2, "defer:14", "starvation-free", "14 and 15 swapped"},
    {"am97-fastpath-nested-cc", 4, 2, "force:1=0", "k-exclusion", "everybody takes the fast path"},
    {"am97-fastpath-tree-cc", 3, 1, "force:1=0", "k-exclusion", "everybody takes the fast path"},
    {"am97-fastpath-nested-cc", 3, 1, "drop:7", "k-exclusion", "the fast path is not given back"},
    {"am97-chain-cc+names", 3, 2, "drop:3", "distinct-names", "names are taken without test-and-set"},
    {"am97-chain-cc+names", 3, 2, "drop:5", "distinct-names", "names are not given back"},
};

INSTANTIATE_TEST_SUITE_P(ByLabel, Am97Mutant, testing::ValuesIn(mutants), [](const auto& it) {
  std::string name = std::string(it.param.algorithm) + "_" + it.param.error + "_N" + std::to_string(it.param.N) + "_k" +
                     std::to_string(it.param.k);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = c == '=' ? 'e' : '_';
  return name;
});

using M = checker_machine;

template <class Algorithm>
std::vector<std::string> broken_shape(int N, int k) {
  program p(make_model<Algorithm>(N, k), N, k, {});
  return broken(p, {"a wrong shape", N, k, 0, {}});
}

bool contains(const std::vector<std::string>& all, const char* one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// A chain that is one block short.
class short_chain {
 public:
  using Private = nothing_private;
  short_chain(M::Memory& memory, int N, int k) : shared_(memory, N), levels_(memory, shared_, N, N, k + 1) {}
  void acquire(M::Process& p, Private&) { levels_.acquire(p); }
  void release(M::Process& p, Private&) { levels_.release(p); }

 private:
  am97::figure3<M>::Shared shared_;
  am97::levels<M, am97::figure3> levels_;
};

TEST(Am97Shapes, AMissingLevelLetsOneMoreIn) { EXPECT_TRUE(contains(broken_shape<short_chain>(3, 1), "k-exclusion")); }

/// A tree whose node takes 2k-1 processes down to k although 2k may come: off by one.
class narrow_tree {
 public:
  using Private = nothing_private;
  narrow_tree(M::Memory& memory, int N, int k) : shared_(memory, N), node_(memory, shared_, N, 2 * k - 1, k) {}
  void acquire(M::Process& p, Private&) { node_.acquire(p); }
  void release(M::Process& p, Private&) { node_.release(p); }

 private:
  am97::figure3<M>::Shared shared_;
  am97::levels<M, am97::figure3> node_;
};

TEST(Am97Shapes, ATreeNodeOffByOneIsCaught) { EXPECT_TRUE(contains(broken_shape<narrow_tree>(4, 2), "k-exclusion")); }

/// Blocks of figure 9 that all have the same instance number.
class shared_instance_numbers {
 public:
  using Private = nothing_private;
  shared_instance_numbers(M::Memory& memory, int N, int k)
      : shared_(memory, N), outer_(memory, shared_, N, k + 1, 0), inner_(memory, shared_, N, k, 0) {}
  void acquire(M::Process& p, Private&) {
    outer_.acquire(p);
    inner_.acquire(p);
  }
  void release(M::Process& p, Private&) {
    inner_.release(p);
    outer_.release(p);
  }

 private:
  am97::figure9<M>::Shared shared_;
  am97::figure9<M> outer_, inner_;
};

TEST(Am97Shapes, SharedInstanceNumbersAreCaught) { EXPECT_FALSE(broken_shape<shared_instance_numbers>(3, 1).empty()); }

/// The fast path is given back before its block is left: a third process can come to the block meant for two.
class early_fast_path {
 public:
  struct Private {
    bool slow = false;
  };
  early_fast_path(M::Memory& memory, int N, int k)
      : shared_(memory, N),
        X(memory, {.name = "fast.X"}, false),
        slow_path_(memory, shared_, N, N - 1, k, 1),
        block_(memory, shared_, N, k, 0) {}
  void acquire(M::Process& p, Private& mine) {
    mine.slow = X.test_and_set(p["1"]);
    if (mine.slow) slow_path_.acquire(p);
    block_.acquire(p);
  }
  void release(M::Process& p, Private& mine) {
    if (!mine.slow) X.write(p["7"], false);
    block_.release(p);
    if (mine.slow) slow_path_.release(p);
  }

 private:
  am97::figure3<M>::Shared shared_;
  M::Var<bool> X;
  am97::levels<M, am97::figure3> slow_path_;
  am97::figure3<M> block_;
};

TEST(Am97Shapes, AFastPathGivenBackEarlyIsCaught) { EXPECT_FALSE(broken_shape<early_fast_path>(3, 1).empty()); }

}  // namespace
}  // namespace kgate::lab
