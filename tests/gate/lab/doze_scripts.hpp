// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Explorations of waiters that doze.

#include <cstdio>

#include "gate/lab/scripts.hpp"

namespace kgate::lab {
template <class Cells>
using shipped = detail::gates::protocol<Cells>;

template <template <class, class> class Dozing = detail::gates::dozing>
script_verdict explore(gate_scripts what, dozes how, int deaths = 0) {
  what.dozing = how;
  const script_verdict seen = explore_scripts<shipped, detail::gates::short_path, Dozing>(what, deaths);
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
  return seen;
}

inline gate_scripts each_of_two(const char* letters, int times = 1) {
  return {.processes = 2, .members = 2, .k = 1, .acts = times, .among = acts(letters)};
}
/// The same at a gate as programs make it: a newcomer may pass one that dozes, and calls are counted.
inline gate_scripts each_of_two_that_pass(const char* letters, int times = 1) {
  return {
      .processes = 2, .members = 2, .k = 1, .acts = times, .overtakings = 1, .calls_most = 2, .among = acts(letters)};
}
/// One inside, the other queued, and a third that is queued behind it or yet to come: each does one thing.
inline gate_scripts three(char letter, unsigned arrived, unsigned members = 3) {
  return {.processes = 3,
          .members = members,
          .k = 1,
          .each = std::vector<std::vector<gate_act>>(3, acts(std::string(1, letter))),
          .arrived = arrived};
}

/// One inside, the others queued, each of which does its thing and has ended when that is done: the last one is alone.
inline gate_scripts left_alone_after(const std::string& letters) {
  const auto count = static_cast<unsigned>(letters.size());
  gate_scripts what{.processes = static_cast<int>(count), .members = count, .k = 1, .arrived = count};
  for (const char letter : letters) what.each.push_back(acts(std::string(1, letter)));
  return what;
}

}  // namespace kgate::lab
