// SPDX-License-Identifier: Apache-2.0
#include "lab/models/ticket_rules.hpp"

#include <map>

#include "kgate/algorithms/choi11.hpp"

namespace kgate::lab {

namespace {

/// Tickets choose a slot, and slots hold the round. A process compares rounds with its own, and Exit with its ticket
/// and 2k more: two rounds. Four are far enough.
ticket_rule choi(int N, int k, choi11::reading how) {
  const auto slots = static_cast<std::uint64_t>(choi11::blocks(N, k, how)) * static_cast<std::uint64_t>(k);
  return {.variables = {"Entry", "Exit"}, .no_tickets = {}, .window = 4 * slots, .array_size = slots, .rounds = {"A"}};
}

}  // namespace

std::optional<ticket_rule> ticket_rule_of(std::string_view id, int N, int k) {
  constexpr std::uint64_t infinity = ~std::uint64_t{0};
  // W has E above its count. A ticket is E and the count when it was drawn, so at most N from E.
  const ticket_rule word{
      .variables = {"W"}, .no_tickets = {}, .window = static_cast<std::uint64_t>(N) + 1, .low_bits = 32};
  const std::map<std::string_view, ticket_rule> all{
      {"danek10-bakery", {{"Ticket"}, {}, true, 3}},
      {"danek10-kfcfs", {{"Ticket", "Want"}, {infinity}, false, 3}},
      {"danek10-fife", {{"Ticket", "Want", "Capture"}, {infinity}, false, 3}},
      {"afek94-fife", {{"Label"}, {}, false, 3}},
      {"afek94-as-printed", {{"Label"}, {}, false, 3}},
      {"bakery", {{"number"}, {}, true, 3}},
      {"ticket", {{"next_ticket", "now_serving"}, {}, false, 3}},
      {"kgate", word},
      {"choi11", choi(N, k, {})},
      {"choi11-linear", choi(N, k, {.linear = true})},
      {"choi11-compact", choi(N, k, {.blocks_min = 2, .window = 1})},
      {"choi11-amortized", choi(N, k, {.amortized = true})},
  };
  const auto found = all.find(id);
  if (found == all.end()) return std::nullopt;
  return found->second;
}

}  // namespace kgate::lab
