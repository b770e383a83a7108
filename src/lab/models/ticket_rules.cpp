// SPDX-License-Identifier: Apache-2.0
#include "lab/models/ticket_rules.hpp"

#include <map>

namespace kgate::lab {

const ticket_rule* ticket_rule_of(std::string_view id) {
  constexpr std::uint64_t infinity = ~std::uint64_t{0};
  static const std::map<std::string_view, ticket_rule> all{
      {"danek10-bakery", {{"Ticket"}, {}, true, 3}},
      {"danek10-kfcfs", {{"Ticket", "Want"}, {infinity}, false, 3}},
      {"danek10-fife", {{"Ticket", "Want", "Capture"}, {infinity}, false, 3}},
      {"afek94-fife", {{"Label"}, {}, false, 3}},
      {"afek94-as-printed", {{"Label"}, {}, false, 3}},
  };
  const auto found = all.find(id);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace kgate::lab
