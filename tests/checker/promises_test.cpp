// SPDX-License-Identifier: Apache-2.0
// Every promise of every row of the catalogue is decided, at a size that takes seconds: what is promised holds, and
// what a row does not promise of the basic properties is violated somewhere.

#include "lab/models/promises.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

constexpr double seconds_max = 100;

struct size {
  int N, k, passages;
};

check_result judge(const catalog::row& row, size at, const std::vector<std::string>& properties, int crashes) {
  const bool safe = row.needs == catalog::registers::safe;
  program_options options;
  options.passages = at.passages;
  program p(make_model({&row, false}, at.N, at.k, safe ? safe_registers(at.N, at.passages) : register_kind{}), at.N,
            at.k, options);
  check_request request;
  request.of = {std::string(row.id), at.N, at.k, at.passages, {}, safe};
  request.properties = properties;
  request.crashes = crashes;
  request.limits.threads = 2;
  request.limits.memory_max = std::uint64_t{2} << 30;
  request.limits.seconds_max = seconds_max;
  check_result r = check(p, request);
  for (const property_result& one : r.properties)
    if (one.counterexample) {
      EXPECT_EQ(validate(*one.counterexample, p), "") << row.id << ' ' << one.name;
    }
  return r;
}

/// The sizes at which what a row promises is decided: the largest that takes seconds, and smaller ones for the order of
/// entering.
std::vector<size> sizes_of(const catalog::row& row) {
  const int passages = row.bounded_variables && row.needs == catalog::registers::atomic ? 0 : 1;
  const int k = std::min(2, row.allowed.k_max);
  const bool large = row.id.starts_with("flbb79-bounded") || row.id == "flbb79-fifo" || row.id == "afek94-bounded" ||
                     row.id == "choi11-wrapping" || row.needs == catalog::registers::safe;
  if (large) return {{2, 1, passages}};
  return {{std::min(3, row.allowed.N_max), k, passages}};
}

class Promises : public testing::TestWithParam<const catalog::row*> {};

TEST_P(Promises, AreKept) {
  const catalog::row& row = *GetParam();
  for (const size at : sizes_of(row)) {
    const int crashes = std::min(catalog::crashes_max(row.promise, at.N, at.k), at.N - 1);
    std::vector<std::string> promised;
    for (const property& one : properties())
      if (is_promised({&row, false}, one.id, at.N, at.k, crashes)) promised.emplace_back(one.id);
    ASSERT_GE(promised.size(), promised_properties(row.promise).size());
    for (const property_result& one : judge(row, at, promised, crashes).properties) {
      EXPECT_EQ(one.is, verdict::holds) << row.id << " N=" << at.N << " k=" << at.k << ' ' << one.name << ": "
                                        << one.why;
      if (one.name == "bounded-waiting") {
        ASSERT_EQ(one.figures.size(), 1U) << row.id;
        EXPECT_LE(one.figures[0].second, row.promise.overtakings_max) << row.id;
      }
    }
  }
}

/// Where what a row does not promise is violated.
struct broken {
  const char* id;
  const char* property;
  size at;
  int crashes;
};
constexpr broken not_promised[] = {
    {"fa-semaphore", "starvation-free", {2, 1, 0}, 0},
    {"flbb79-count", "starvation-free", {2, 1, 0}, 0},
    {"mcs", "bounded-exit", {2, 1, 0}, 0},
    {"burns-lynch", "starvation-free", {2, 1, 0}, 0},
    {"flbb79-bounded-printed-order", "deadlock-free", {3, 2, 0}, 1},
    {"flbb79-bounded-printed-order", "starvation-free", {3, 2, 0}, 1},
    {"flbb79-bounded-printed-test", "deadlock-free", {2, 1, 0}, 0},
    {"flbb79-bounded-printed-test", "starvation-free", {2, 1, 0}, 0},
    {"choi11-as-printed", "deadlock-free", {3, 2, 1}, 1},
    {"choi11-as-printed", "starvation-free", {3, 2, 1}, 1},
    {"choi11-as-printed-waits", "deadlock-free", {3, 2, 1}, 1},
    {"choi11-as-printed-waits", "starvation-free", {3, 2, 1}, 1},
    {"choi11-as-printed-rounding", "k-exclusion", {3, 2, 2}, 1},
    {"choi11-as-printed-rounding", "deadlock-free", {3, 2, 1}, 1},
    {"choi11-as-printed-rounding", "starvation-free", {3, 2, 1}, 1},
    {"choi11-as-printed-patterns", "deadlock-free", {3, 2, 2}, 1},
    {"choi11-as-printed-patterns", "starvation-free", {3, 2, 2}, 1},
    {"choi11-wrapping", "k-exclusion", {2, 1, 0}, 0},
    {"afek94-as-printed", "k-exclusion", {3, 1, 2}, 0},
    {"afek94-as-printed", "k-fcfs", {2, 1, 1}, 0},
    {"afek94-as-printed", "fife", {2, 1, 2}, 0},
    {"choi11-as-printed-rounding", "k-fcfs", {3, 2, 2}, 1},
    {"choi11-wrapping", "k-fcfs", {2, 1, 0}, 0},
    {"flbb79-bank-buffer", "k-fcfs", {2, 1, 0}, 0},
    {"flbb79-bank-buffer", "fife", {2, 1, 0}, 0},
    {"flbb79-bounded", "k-fcfs", {2, 1, 0}, 0},
    {"flbb79-bounded", "fife", {2, 1, 0}, 0},
    {"flbb79-bounded-printed-test", "k-fcfs", {2, 1, 0}, 0},
    {"flbb79-bounded-printed-test", "fife", {2, 1, 0}, 0},
};
/// What no search of states can show at a size that takes seconds, and what shows it or why nothing can.
struct elsewhere {
  const char* id;
  const char* property;
  const char* why;
};
constexpr elsewhere not_shown_here[] = {
    {"choi11-as-printed-blocks", "deadlock-free", "a run of 189 steps: tests/algorithms/choi11/errata_test.cpp"},
    {"choi11-as-printed-blocks", "starvation-free", "the same run"},
    {"choi11-one-update", "deadlock-free", "found by a random search: tests/algorithms/choi11/errata_test.cpp"},
    {"choi11-one-update", "starvation-free", "the same run"},
    {"choi11-descending", "deadlock-free", "a run kept in tests/algorithms/choi11/mutants_test.cpp"},
    {"choi11-descending", "starvation-free", "the same run"},
    {"choi11-wrapping", "deadlock-free", "a sleep through two rounds: tests/algorithms/choi11/bounded_test.cpp"},
    {"choi11-wrapping", "starvation-free", "the same run"},
    {"afek94-as-printed", "starvation-free", "a run without end: tests/checker/shifted_search_test.cpp"},
    {"kgate-gate", "starvation-free", "needs a run without end, and its operations are numbered"},
    {"kgate-gate", "bounded-exit", "needs a run without end, and its operations are numbered"},
};

TEST_P(Promises, WhatIsNotPromisedIsViolated) {
  const catalog::row& row = *GetParam();
  for (const property& basic : properties()) {
    const auto promised = promised_properties(row.promise);
    if (!basic.basic || std::find(promised.begin(), promised.end(), basic.id) != promised.end()) continue;
    if (std::any_of(std::begin(not_shown_here), std::end(not_shown_here),
                    [&](const elsewhere& one) { return row.id == one.id && basic.id == one.property; }))
      continue;
    const auto entry = std::find_if(std::begin(not_promised), std::end(not_promised),
                                    [&](const broken& one) { return row.id == one.id && basic.id == one.property; });
    ASSERT_NE(entry, std::end(not_promised)) << row.id << " does not promise " << basic.id << ": where is it violated?";
    const check_result r = judge(row, entry->at, {std::string(basic.id)}, entry->crashes);
    EXPECT_EQ(r.properties.at(0).is, verdict::violated) << row.id << ' ' << basic.id << ": " << r.properties.at(0).why;
  }
}

/// The order of entering that a row does not promise and its text keeps all the same, as far as sizes go that take
/// seconds, and why.
constexpr elsewhere kept_unpromised[] = {
    {"flbb79-bank", "k-fcfs", "its lock, here MCS, is first come first served"},
    {"flbb79-bank", "fife", "the same"},
    {"flbb79-bank-numbers", "fife", "its lock is first come first served"},
    {"mcs", "fife", "its queue; for k = 1 it is as k-fcfs"},
    {"bakery", "fife", "for k = 1 it is as k-fcfs"},
    {"danek10-kfcfs", "fife", "needs N = 5: tests/cli/lab/search_test.py finds it"},
    {"kgate-gate", "fife", "shows nothing at N = 2; its operations are numbered"},
    {"choi11-as-printed", "k-fcfs", "its error is one of progress"},
    {"choi11-as-printed", "fife", "the same"},
    {"choi11-as-printed-waits", "k-fcfs", "the same"},
    {"choi11-as-printed-waits", "fife", "the same"},
    {"choi11-as-printed-blocks", "k-fcfs", "the same"},
    {"choi11-as-printed-blocks", "fife", "the same"},
    {"choi11-as-printed-rounding", "fife", "shows nothing at N = 2"},
    {"choi11-as-printed-patterns", "k-fcfs", "the same"},
    {"choi11-as-printed-patterns", "fife", "the same"},
    {"choi11-one-update", "k-fcfs", "the same"},
    {"choi11-one-update", "fife", "the same"},
    {"choi11-descending", "k-fcfs", "the same"},
    {"choi11-descending", "fife", "the same"},
    {"choi11-wrapping", "fife", "a sleep through two rounds: tests/algorithms/choi11/bounded_test.cpp"},
    {"flbb79-bounded-printed-order", "k-fcfs", "nobody gets as far as its exit: that is the error"},
    {"flbb79-bounded-printed-order", "fife", "the same"},
};

TEST_P(Promises, TheOrderThatIsNotPromisedIsBrokenOrSaidToBeKept) {
  const catalog::row& row = *GetParam();
  const auto promised = promised_properties(row.promise);
  const auto is_this = [&](const auto& one, const char* property) {
    return row.id == one.id && std::string_view(property) == one.property;
  };
  for (const char* order : {"k-fcfs", "fife"}) {
    if (std::find(promised.begin(), promised.end(), order) != promised.end()) continue;
    const auto is_entry = [&](const auto& one) { return is_this(one, order); };
    const auto entry = std::find_if(std::begin(not_promised), std::end(not_promised), is_entry);
    const bool kept = std::any_of(std::begin(kept_unpromised), std::end(kept_unpromised), is_entry);
    ASSERT_FALSE(kept && entry != std::end(not_promised)) << row.id << ' ' << order;
    const size at = entry != std::end(not_promised) ? entry->at : size{2, 1, row.bounded_variables ? 0 : 1};
    const property_result one = judge(row, at, {order}, 0).properties.at(0);
    if (entry != std::end(not_promised)) {
      EXPECT_EQ(one.is, verdict::violated) << row.id << ' ' << order << ": " << one.why;
    } else if (kept) {
      EXPECT_EQ(one.is, verdict::holds) << row.id << ' ' << order << ": " << one.why;
    } else {
      EXPECT_EQ(one.is, verdict::undecided) << row.id << ' ' << order;
      EXPECT_NE(one.why.find("doorway"), std::string::npos) << row.id << ' ' << order << ": " << one.why;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, Promises, testing::ValuesIn(algorithm_rows()), [](const auto& it) {
  std::string name(it.param->id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace kgate::lab
