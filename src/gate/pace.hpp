// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For how long members of a gate doze before they watch a process, and how often one that stands for them looks for
/// those that have died.

#include <algorithm>
#include <cstdint>

namespace kgate::detail::gates {

/// Among members that are all granted soon, and so watch no process, a death inside is noticed after so long at most,
/// on a machine that has time for those that look.
inline constexpr std::int64_t noticed_ns = 25'000'000;
/// The same where no process has a clock yet.
inline constexpr std::int64_t noticed_without_clock_ns = 35'000'000;

/// How long a waiter sleeps before it finds out what it depends on, and watches them: most are granted before. A
/// process whose last waits were shorter than that sleeps for longer, since a timer that is never the processor's next
/// one costs much less; and as long as the gate moves it sleeps on, since watching costs more than a passage.
constexpr std::int64_t dozing_ns(unsigned members, unsigned short_waits) {
  constexpr unsigned short_waits_many = 8;
  const std::int64_t least = short_waits >= short_waits_many ? 8'000'000 : 2'000'000;
  return std::min<std::int64_t>(least + 25'000 * std::int64_t{members}, 24'000'000);
}
inline constexpr std::int64_t dozing_most_ns = 250'000'000;

/// Where every member is granted before it watches, one of those that wait looks for dead holders so often.
inline constexpr std::int64_t healing_ns = 4'000'000;

/// After so many short waits in a row a process has a clock that ends its dozes, and sets no timers; but not among so
/// many that have clocks of their own that all ticks together would cost more than timers.
inline constexpr unsigned short_waits_for_clock = 16;
inline constexpr unsigned clocks_most = 256;
inline constexpr std::int64_t clock_tick_least_ns = 8'000'000, clock_tick_most_ns = 15'000'000;

/// How many clocks a gate has, if each process had as many members as this one: so many that take part, so many of
/// them its own.
constexpr unsigned clocks(unsigned members, unsigned own) { return std::max(members / std::max(own, 1U), 1U); }
constexpr std::int64_t clock_tick_ns(unsigned members, unsigned own) {
  return std::clamp<std::int64_t>(250'000 * std::int64_t{clocks(members, own)}, clock_tick_least_ns,
                                  clock_tick_most_ns);
}
/// How long a doze lasts at least that a clock ends, to the tick.
constexpr std::int64_t clocked_doze_ns(unsigned members) {
  return std::clamp<std::int64_t>(500'000 * std::int64_t{members}, clock_tick_least_ns, dozing_most_ns);
}

}  // namespace kgate::detail::gates
