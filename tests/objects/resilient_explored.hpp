// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is explored of resilient objects, quick and deep: 3 processes, k = 2, one operation each.

#include <gtest/gtest.h>

#include "explored_objects.hpp"
#include "kgate/algorithms/bitmap_names.hpp"
#include "kgate/algorithms/ticket_queue.hpp"
#include "kgate/algorithms/word_names.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

/// That of word_slots, which also tells the object which are inside.
using one_word_names = word_names<checker_machine, std::uint8_t>;
/// The paper's: names by test-and-set over figure 3.
using papers_names = am97::names<checker_machine, am97::chain<checker_machine, am97::figure3>>;
/// That of kgate::slots: names by bitmap over the ticket queue, in words that the checker can hold.
using slots_names =
    bitmap_assignment<checker_machine, ticket_queue<checker_machine, ticket_word<std::uint16_t, 4>>, std::uint8_t>;
template <class T, class Names>
void expect_linearizable(std::uint64_t states_max) {
  const operations_result r = explored<T, resilient_operations<T, Names>>(3, 2, 1, states_max);
  EXPECT_TRUE(r.complete) << r.states;
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_TRUE(r.waited);  // the third, for one of the two
  testing::Test::RecordProperty("states", static_cast<int>(r.states));
}

/// Whether `property` holds though as many processes as `crashes` stop for ever, wherever they are.
template <class T, class Operations>
verdict ends_despite(int crashes, std::uint64_t memory_max, const char* property = "starvation-free") {
  program p(make_model<Operations>(3, 2), 3, 2, {.passages = 1, .wrong = {}});
  check_request request;
  request.properties = {property};
  request.crashes = crashes;
  request.limits.memory_max = memory_max;
  const check_result r = check(p, request);
  EXPECT_TRUE(r.complete) << r.why;
  testing::Test::RecordProperty("states", static_cast<int>(r.states));
  return r.properties.at(0).is;
}

}  // namespace kgate::lab
