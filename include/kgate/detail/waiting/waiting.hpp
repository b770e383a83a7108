// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a machine may provide beyond detail/machine.hpp, and what an algorithm gets on a machine that does not provide
/// it.
///
///  - watch: reads of a variable for a while. Elsewhere one read.
///  - yield_in_queue: reads for a while longer, which leave the processor to others in between. Elsewhere none.
///  - spinner: how many looks are worth it when a process looks by hand.
///  - Caller: a process for the short parts of an operation. Elsewhere the process itself.
///  - give_way: a short delay after a collision. Elsewhere none.
///  - backoff_after_release: a delay beside others that pass. Elsewhere none.
///  - may_be_passed: whether a sleeper had better let others pass it until it runs. Elsewhere yes.
///  - notes: something worth counting happened. Elsewhere ignored.
///  - apart: the process for a part that is seldom needed and not inlined. Elsewhere the process itself.
///  - rmw_from: a read-modify-write of a variable that most likely has a known value. Elsewhere rmw.
///  - will_change: says that a variable that is read now will be written soon. Elsewhere nothing.

#include <cstddef>
#include <cstdint>

#include "kgate/detail/machine.hpp"

namespace kgate {

/// Where a process stands: with which ticket, how many are to be admitted before it, and how many wait in all.
struct standing {
  std::uint64_t ticket;
  std::size_t ahead;
  std::size_t queued;
};

/// What a process is to the usual, short part of an operation: the process itself, or where a machine has one, a
/// smaller Caller that is passed by value, so that no stack is needed. process_of() is the process to go on with.
template <class M>
struct caller_type {
  using type = typename M::Process&;
};
template <class M>
requires requires { typename M::Caller; }
struct caller_type<M> {
  using type = typename M::Caller;
};
template <class M>
using caller_of = typename caller_type<M>::type;
template <class M>
decltype(auto) process_of(caller_of<M> caller, [[maybe_unused]] const void* key) {
  if constexpr (requires { typename M::Caller; })
    return typename M::Process(caller, key);
  else
    return (caller);
}

/// What can be counted. Those with a ticket concern the process that holds it; the last two say how many permits were
/// released for barging so far.
enum class event : unsigned char {
  arrival,          ///< is queued with this ticket
  no_arrival,       ///< handed it back, and is not queued
  wait,             ///< goes to sleep
  overtaking,       ///< got in past those queued
  admission,        ///< admitted this ticket
  waking_to_barge,  ///< wakes the first waiter, which may be passed until it runs
  woken_to_barge,   ///< was woken so, and runs
};

/// The last value seen of v: one for which done holds, or one seen when the process had looked long enough.
template <class M, class V, class Done, class Stands>
auto watch(typename M::Process& p, V& v, Done&& done, [[maybe_unused]] Stands&& stands) {
  if constexpr (requires { M::watch(p, v, done, stands); })
    return M::watch(p, v, done, stands);
  else
    return v.read(p);
}

/// Whether done came to hold for v before the process had looked long enough.
template <class M, class V, class Done, class Stands>
bool yield_in_queue([[maybe_unused]] typename M::Process& p, [[maybe_unused]] V& v, [[maybe_unused]] Done&& done,
                    [[maybe_unused]] Stands&& stands) {
  if constexpr (requires { M::yield_in_queue(p, v, done, stands); })
    return M::yield_in_queue(p, v, done, stands);
  else
    return false;
}

/// Rounds of spinning: while (spin.again()) look; spin.won() if it was worth it. On a machine that does not spin there
/// is but the first look.
template <class M>
class spinner {
 public:
  explicit spinner(typename M::Process&) {}
  bool again(int /*pauses*/ = 1) { return false; }
  bool won() { return true; }
};
template <class M>
requires requires { typename M::Spinner; }
class spinner<M> : public M::Spinner {
 public:
  using M::Spinner::Spinner;
};

/// Keeps out of the way of others for so many pauses, on a machine whose processes can be in each other's way.
template <class P>
void give_way([[maybe_unused]] P& p, [[maybe_unused]] int pauses) {
  if constexpr (requires { p.give_way(pauses); }) p.give_way(pauses);
}

/// On a machine where a process is a value this is a copy, so that a compiler need not keep the process in memory.
template <class P>
decltype(auto) apart(P& p) {
  if constexpr (requires { p.apart(); })
    return p.apart();
  else
    return (p);
}

template <class V, class P, class T, class F>
auto rmw_from(V& v, P& p, [[maybe_unused]] T likely, F&& f) {
  if constexpr (requires { v.rmw_from(p, likely, f); })
    return v.rmw_from(p, likely, f);
  else
    return v.rmw(p, f);
}

template <class V>
void will_change([[maybe_unused]] V& v) {
  if constexpr (requires { v.will_change(); }) v.will_change();
}

template <class M>
bool may_be_passed([[maybe_unused]] typename M::Process& p, [[maybe_unused]] std::uint64_t ticket) {
  if constexpr (requires { M::may_be_passed(p, ticket); })
    return M::may_be_passed(p, ticket);
  else
    return true;
}

template <class M, class P>
void noted([[maybe_unused]] P& p, [[maybe_unused]] event e, [[maybe_unused]] std::uint64_t number = 0) {
  if constexpr (requires { M::note(p, e, number); }) M::note(p, e, number);
}

}  // namespace kgate
