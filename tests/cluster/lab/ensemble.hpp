// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A ZooKeeper ensemble with one gate, as a value that the checker can explore: the gate's nodes, the watches, and what
/// each session has been asked for without an answer. A transaction is one function; whether it breaks a promise of the
/// recipe is decided when it is committed.
///
/// Servers are not modelled one by one. Failing over to another one is a connection lost with an unknown answer; a
/// stale read is a current one of a slower client (cluster_recipe.hpp, memory model).

#include <array>
#include <cstdint>
#include <string>

#include "kgate/algorithms/cluster_words.hpp"

namespace kgate::lab {

using detail::cluster::answer;

constexpr unsigned sessions_max = 3;
constexpr unsigned waiters_max = 4;
constexpr unsigned slots_max = 3;
constexpr std::uint8_t no_session = 3;

/// A sequence number of four bits, so that it wraps around within a run.
struct short_sequence {
  std::int8_t value = 0;

  static constexpr short_sequence wrapped(int number) { return {static_cast<std::int8_t>(((number + 8) & 15) - 8)}; }
  friend constexpr bool operator==(short_sequence, short_sequence) = default;
  friend constexpr bool operator<(short_sequence a, short_sequence b) { return a.value < b.value; }
};
constexpr int distance(short_sequence a, short_sequence b) { return short_sequence::wrapped(a.value - b.value).value; }
constexpr int named_slot(short_sequence sequence, int k) { return (sequence.value + 8) % k; }

/// A request of a session: its n-th.
struct request_name {
  std::uint8_t session = no_session;
  std::uint8_t number = 0;
  friend constexpr bool operator==(request_name, request_name) = default;
};

struct waiter_node {
  request_name request{};
  short_sequence sequence{};
  std::uint8_t watchers = 0;         ///< sessions, as bits
  std::uint8_t former_watchers = 0;  ///< those that have made another request since
  std::uint8_t granted = 0;          ///< sessions that were granted slots since it was created, if that is counted
  friend constexpr bool operator==(const waiter_node&, const waiter_node&) = default;
};

struct slot_node {
  request_name request{};
  std::uint8_t fence = 0;  ///< the number of the grant that created it
  friend constexpr bool operator==(const slot_node&, const slot_node&) = default;
};

/// A write, as it is sent.
struct write_request {
  enum kind_of : std::uint8_t { none, enqueue, grant, remove_waiter, free_slots, resize, pause, remove, make };
  std::uint8_t kind = none;
  std::uint8_t number = 0;    ///< enqueue, grant: of the request
  short_sequence sequence{};  ///< grant, remove_waiter: of the waiter
  std::uint8_t slots = 0;     ///< grant, free_slots: as bits; resize, make: k; pause: 1, or 0 to resume
  std::int8_t version = -1;   ///< grant: of the gate, -1 for any
  std::uint8_t gate = 0;      ///< its id, 0 for any
  friend constexpr bool operator==(const write_request&, const write_request&) = default;
};

/// What a request is answered with: an answer and a small value.
struct reply {
  answer is = answer::ok;
  std::uint32_t value = 0;
};

enum class broken : std::uint8_t {
  nothing,
  passed,
  beyond_k,
  herd,
  full,
  twice,
  not_below_k,
  while_paused,
  refused,
  local,
  unprepared
};

struct ensemble {
  std::uint8_t k = 1;   ///< 0: there is no gate
  std::uint8_t id = 1;  ///< of the gate, or of the last one
  std::uint8_t version = 0;
  std::uint8_t paused = 0;
  short_sequence next{6};
  std::uint8_t grants = 0;
  std::uint8_t fault = 0;          ///< `broken`
  std::uint8_t slot_watchers = 0;  ///< sessions, as bits; so are the next ones
  std::uint8_t size_watchers = 0;
  std::uint8_t queue_watchers = 0;  ///< of any change of the queue
  std::uint8_t dead_sessions = 0;   ///< of lessors (hosts.hpp): not ended yet
  std::uint8_t fired = 0;
  /// 1: each request has a listener of its own, as those of cluster_gate have: no watch outlives its request. Of what
  /// a session learns only what matters is kept then: events that come to a session between a reading that forgets
  /// earlier ones and the wait that sees them (C5; a wait outside of that is `unprepared`), and tokens that tell
  /// requests apart without counting them. 0: one listener for all requests of a session, as a lessor has it.
  std::uint8_t own_listeners = 0;
  std::uint8_t counts_grants = 0;  ///< 1: while a request waits no other session is granted slots twice
  std::uint8_t any_order = 0;      ///< 1: that a waiter is passed does not count
  std::uint8_t attentive = 0;      ///< sessions that have forgotten earlier events and not seen any since
  std::array<std::uint8_t, sessions_max> granted{};  ///< by session: the waiter whose watch fired by its grant, or 0
  std::uint8_t dismissed = 0;  ///< sessions whose waiter another one removed and that have not looked since
  std::array<waiter_node, waiters_max> queue{};  ///< in the order of creation
  std::array<slot_node, slots_max> slots{};
  std::array<write_request, sessions_max> pending{};  ///< sent by a session, its answer lost, not yet carried out
  friend constexpr bool operator==(const ensemble&, const ensemble&) = default;

  static constexpr std::uint8_t bit(unsigned session) { return static_cast<std::uint8_t>(1U << session); }

  unsigned waiting() const {
    unsigned n = 0;
    while (n < waiters_max && queue[n].request.session != no_session) ++n;
    return n;
  }
  unsigned held() const {
    unsigned n = 0;
    for (const slot_node& s : slots) n += s.request.session != no_session ? 1 : 0;
    return n;
  }
  std::uint8_t held_mask() const {
    unsigned mask = 0;
    for (unsigned i = 0; i < slots_max; ++i) mask |= slots[i].request.session != no_session ? 1U << i : 0;
    return static_cast<std::uint8_t>(mask);
  }
  /// The position in the queue of a waiter, waiters_max if it is not there.
  unsigned position_of(short_sequence sequence) const {
    for (unsigned i = 0; i < waiting(); ++i)
      if (queue[i].sequence == sequence) return i;
    return waiters_max;
  }
  bool owns_nothing(unsigned session) const {
    for (const waiter_node& w : queue)
      if (w.request.session == session) return false;
    for (const slot_node& s : slots)
      if (s.request.session == session) return false;
    return true;
  }

  void breaks(broken what) {
    if (fault == 0) fault = static_cast<std::uint8_t>(what);
  }

  bool removed() const { return k == 0; }
  /// Whether the gate is there, and not another one of its name.
  bool has(std::uint8_t gate) const { return !removed() && (gate == 0 || gate == id); }

  /// The session's events so far.
  void forget(unsigned session) {
    fired &= static_cast<std::uint8_t>(~bit(session));
    granted[session] = 0;
    if (own_listeners != 0) attentive |= bit(session);
  }
  /// The session has seen its events.
  void see_events(unsigned session) {
    if (own_listeners == 0) return;
    forget(session);
    attentive &= static_cast<std::uint8_t>(~bit(session));
  }
  bool may_wait(unsigned session) const { return own_listeners == 0 || (attentive & bit(session)) != 0; }
  static constexpr std::uint8_t packed(short_sequence sequence) {
    return static_cast<std::uint8_t>(sequence.value + 9);
  }

  reply commit(unsigned session, const write_request& w) {
    if (w.kind == write_request::make) return make_gate(w.slots);
    if (!has(w.gate)) return {answer::no_node};
    switch (w.kind) {
      case write_request::enqueue:
        return create_waiter(session, w.number);
      case write_request::grant:
        return grant(session, w);
      case write_request::remove_waiter:
        return remove_waiter(session, w.sequence);
      case write_request::free_slots:
        return free_slots(w.slots);
      case write_request::resize:
        k = w.slots;
        ++version;
        fire(size_watchers);
        return {};
      case write_request::pause:
        paused = w.slots;
        ++version;
        fire(size_watchers);
        return {};
      case write_request::remove:
        return remove_gate();
      default:
        return {};
    }
  }

  /// What the session asked for, its answer lost.
  void carry_out(unsigned session) {
    const write_request w = pending[session];
    pending[session] = {};
    commit(session, w);
  }

  /// All nodes and watches of the session go, and so does what it has asked for.
  void expire(unsigned session) {
    dismissed &= static_cast<std::uint8_t>(~bit(session));
    unwatch(session);
    pending[session] = {};
    for (unsigned i = waiting(); i-- > 0;)
      if (queue[i].request.session == session) erase(i);
    for (slot_node& s : slots)
      if (s.request.session == session) {
        s = {};
        fire(slot_watchers);
      }
  }

 private:
  std::uint8_t notified(std::uint8_t watchers) const {
    return own_listeners != 0 ? static_cast<std::uint8_t>(watchers & attentive) : watchers;
  }
  void fire(std::uint8_t& watchers) {
    fired |= notified(watchers);
    watchers = 0;
  }
  /// Events and watches of the session go.
  void unwatch(unsigned session) {
    forget(session);
    see_events(session);
    slot_watchers &= static_cast<std::uint8_t>(~bit(session));
    size_watchers &= static_cast<std::uint8_t>(~bit(session));
    queue_watchers &= static_cast<std::uint8_t>(~bit(session));
    for (waiter_node& w : queue) {
      w.watchers &= static_cast<std::uint8_t>(~bit(session));
      w.former_watchers &= static_cast<std::uint8_t>(~bit(session));
    }
  }
  void erase(unsigned position) {
    fire(queue[position].watchers);
    fire(queue[position].former_watchers);
    fire(queue_watchers);
    for (unsigned i = position; i + 1 < waiters_max; ++i) queue[i] = queue[i + 1];
    queue[waiters_max - 1] = {};
  }
  /// More than one waiter woken by one change. Sessions that do not wait may have old watches.
  bool wakes_many(int watchers) const {
    unsigned many = 0;
    for (unsigned i = 0; i < waiting(); ++i) many += (watchers & bit(queue[i].request.session)) != 0 ? 1 : 0;
    return many > 1;
  }

  reply create_waiter(unsigned session, std::uint8_t number) {
    const unsigned n = waiting();
    if (n == waiters_max) {
      breaks(broken::full);
      return {};
    }
    if (own_listeners != 0) unwatch(session);
    for (waiter_node& w : queue)
      if ((w.watchers & bit(session)) != 0) {
        w.watchers &= static_cast<std::uint8_t>(~bit(session));
        w.former_watchers |= bit(session);
      }
    queue[n] = {{static_cast<std::uint8_t>(session), number}, next};
    fire(queue_watchers);
    next = short_sequence::wrapped(next.value + 1);
    return {answer::ok, static_cast<std::uint32_t>(queue[n].sequence.value + 8)};
  }
  reply grant(unsigned session, const write_request& w) {
    const unsigned position = position_of(w.sequence);
    if (w.version >= 0 && w.version != version) return {answer::changed};
    for (unsigned i = 0; i < slots_max; ++i)
      if ((w.slots >> i & 1) != 0 && slots[i].request.session != no_session) return {answer::exists};
    if (position == waiters_max) return {answer::no_node};
    for (waiter_node& other : queue)
      if (counts_grants != 0 && other.request.session != no_session && other.request.session != session) {
        if ((other.granted & bit(session)) != 0) breaks(broken::twice);
        other.granted |= bit(session);
      }
    if (position != 0 && any_order == 0) breaks(broken::passed);
    const std::uint8_t fence = own_listeners != 0 ? static_cast<std::uint8_t>(1 + 2 * session + w.number) : ++grants;
    for (unsigned i = 0; i < slots_max; ++i)
      if ((w.slots >> i & 1) != 0) {
        slots[i] = {{static_cast<std::uint8_t>(session), w.number}, fence};
        if (i >= k) breaks(broken::not_below_k);
      }
    if (held() > k) breaks(broken::beyond_k);
    if (paused != 0) breaks(broken::while_paused);
    if (wakes_many(queue[position].watchers & static_cast<std::uint8_t>(~bit(session)))) breaks(broken::herd);
    fire(slot_watchers);
    const auto watched = static_cast<std::uint8_t>(queue[position].watchers | queue[position].former_watchers);
    for (unsigned s = 0; s < sessions_max; ++s)
      if ((notified(watched) & bit(s)) != 0) granted[s] = packed(w.sequence);
    erase(position);
    if (own_listeners != 0) unwatch(session);
    return {answer::ok, fence};
  }
  reply remove_waiter(unsigned session, short_sequence sequence) {
    const unsigned position = position_of(sequence);
    if (position == waiters_max) return {answer::no_node};
    if (queue[position].request.session != session) dismissed |= bit(queue[position].request.session);
    if (queue[position].request.session == session && own_listeners != 0) unwatch(session);
    erase(position);
    return {};
  }
  reply remove_gate() {
    while (waiting() > 0) erase(waiting() - 1);
    slots = {};
    fire(slot_watchers);
    fire(size_watchers);
    k = 0;
    return {};
  }
  /// Numbers and versions begin anew.
  reply make_gate(std::uint8_t slots_made) {
    if (!removed()) return {answer::exists};
    const ensemble fresh;
    k = slots_made;
    ++id;
    version = fresh.version;
    paused = fresh.paused;
    next = fresh.next;
    return {};
  }
  reply free_slots(std::uint8_t mask) {
    for (unsigned i = 0; i < slots_max; ++i)
      if ((mask >> i & 1) != 0 && slots[i].request.session == no_session) return {answer::no_node};
    for (unsigned i = 0; i < slots_max; ++i)
      if ((mask >> i & 1) != 0) slots[i] = {};
    if (wakes_many(slot_watchers)) breaks(broken::herd);
    fire(slot_watchers);
    return {};
  }
};

inline std::string to_string(const ensemble& e) {
  std::string text = "gate " + std::to_string(e.id) + " k " + std::to_string(e.k) + " q";
  for (unsigned i = 0; i < e.waiting(); ++i)
    text += " " + std::to_string(e.queue[i].request.session) + "-" + std::to_string(e.queue[i].request.number) + "_" +
            std::to_string(e.queue[i].sequence.value);
  text += " s";
  for (unsigned i = 0; i < slots_max; ++i)
    if (e.slots[i].request.session != no_session)
      text += " " + std::to_string(i) + ":" + std::to_string(e.slots[i].request.session) + "#" +
              std::to_string(e.slots[i].fence);
  text += " fired";
  for (unsigned p = 0; p < sessions_max; ++p)
    if ((e.fired >> p & 1) != 0) text += " " + std::to_string(p);
  for (unsigned p = 0; p < sessions_max; ++p)
    if (e.pending[p].kind != write_request::none)
      text += " pending " + std::to_string(p) + ":" + std::to_string(e.pending[p].kind);
  return text;
}

}  // namespace kgate::lab
