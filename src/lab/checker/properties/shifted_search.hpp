// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Decides progress, and the order of entering, of algorithms whose tickets grow for ever, without a limit on passages.
///
/// Only the order of tickets matters to such algorithms, and which are neighbours: they compare tickets and take one
/// more than the largest they have read. So a state is reduced: of the tickets in it, in variables and in what
/// processes have observed in their passage, the least becomes 0, and where two neighbours are more than `window` apart
/// the upper ones are shifted down until they are `window` apart. Then there are finitely many states. Where tickets
/// choose entries of an array, all that is done by multiples of its size, and what counts its rounds moves along.
///
/// Condition: a process does the same, label by label, whether tickets are `window` or more apart. Where it does not
/// the reduction is refused: every search follows random runs of the text itself beside the reduced ones and compares
/// every access, and the tests compare all runs of a few passages (tests/checker/shifted_search_test.cpp). A window
/// that is too small is noticed by both.
///
/// It is a search of its own, of simple data: where tickets are bounded it must agree with check().

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

struct ticket_rule {
  std::vector<std::string_view> variables;  ///< those that hold tickets, without number and home
  std::vector<std::uint64_t> no_tickets;    ///< values of theirs that are none
  bool zero_stays = false;                  ///< the text counts from 0 itself, so 0 is always among the tickets
  std::uint64_t window = 3;
  int low_bits = 0;  ///< of the variables, below the ticket; they stay as they are
  /// Tickets choose entries of an array of so many: they are shifted by multiples of it.
  std::uint64_t array_size = 1;
  std::vector<std::string_view> rounds{};  ///< variables that count how often all entries were used
};

/// Properties of which states say everything whose tickets are reduced.
bool can_be_shifted(std::string_view property);

struct shifted_request {
  program_name of;
  std::vector<std::string> properties;  ///< those of which can_be_shifted() holds
  int crashes = 0;
  ticket_rule rule;
  run_limits limits;
  std::uint64_t seed = 1;  ///< of the audits: of the text, and of the reduction
};

/// Explores the reduced states and decides, and audits the text as check() does. The model is used up. Throws
/// text_error if the text breaks a rule of the machine concept.
check_result check_shifted(std::unique_ptr<model> m, const shifted_request& request);

/// Compares the text with its reduction in all runs of `passages` passages of each process: empty, or what differs.
std::string compare_with_reduced(std::unique_ptr<model> m, int N, int k, const ticket_rule& rule, int passages);

}  // namespace kgate::lab
