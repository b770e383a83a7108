// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A random search for violations beyond the sizes that can be explored: it can find, not exclude.
///
/// The walks prefer what breaks algorithms. Stale writers: a process that is about to write is often put to sleep there
/// for a random and sometimes very long time. Split doorways: so is one in its doorway, or just past it. Each walk
/// draws how much of both it does, and how long a process goes on by itself.
///
/// What a finite run shows is seen when it happens. That a process can be kept out for ever (fife, bounded-waiting,
/// starvation-free, deadlock-free) is seen where it would go round a loop in which nothing changes: alone, if the
/// others may stop, or with all that wait if at most `crashes` may.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// The properties that can be searched for; bounded-waiting is written with its bound, as bounded-waiting:2.
std::span<const std::string_view> searched_properties();

/// Whether `id` is one of them, with its bound if it needs one.
bool can_be_searched(const std::string& id);

struct search_options {
  std::vector<std::string> properties;
  int crashes = 0;
  std::uint64_t walks = 1000;
  std::uint32_t seed = 1;
  int passages = 20;       ///< of all processes together, in one walk
  double seconds_max = 0;  ///< 0: none
  const std::atomic<bool>* interrupted = nullptr;
};

struct search_result {
  std::optional<trace> found;
  std::uint64_t walks = 0;  ///< made until then
  std::uint64_t steps = 0;
  double seconds = 0;
};

search_result search_schedules(program& p, const program_name& of, const search_options& options);

/// The same violation in fewer steps, as far as leaving steps out of the schedule leads.
trace shortened(const trace& t, program& p);

}  // namespace kgate::lab
