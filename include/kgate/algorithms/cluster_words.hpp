// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The words of cluster_recipe.hpp and cluster_lease.hpp: what an ensemble answers, how a request ends, and what a
/// lessor knows.

#include <cstdint>

namespace kgate::detail::cluster {

enum class answer : std::uint8_t { ok, no_node, exists, changed, unknown, expired };

template <class T>
struct answered {
  answer is = answer::unknown;
  T value{};
};

enum class event : std::uint8_t {
  changed,   ///< something that is watched
  granted,   ///< the same, and a waiter that is watched was granted its slots
  local,     ///< at the local gate of a lessor
  elapsed,   ///< nothing for a while
  given_up,  ///< the time is over, or a stop is requested
  expired    ///< the session
};

struct gate_size {
  std::int32_t slots = 0;
  std::int32_t version = 0;
  std::int32_t paused = 0;  ///< 1: none is to be let in for a while
  std::int32_t room = -1;   ///< 1: the one granted a slot last, under this version, found room (C7); -1: no guesses

  std::int32_t permits() const { return paused != 0 ? 0 : slots; }
  friend bool operator==(gate_size a, gate_size b) {
    return a.slots == b.slots && a.version == b.version && a.paused == b.paused;
  }
};

enum class outcome : std::uint8_t {
  done,       ///< inside, or out after a release
  given_up,   ///< out: the time was over, or a stop was requested
  too_heavy,  ///< out: the weight is above k
  removed,    ///< out: another removed the gate, or the waiter's node
  lost        ///< the session has expired, and with it all that it had
};

/// The distance from sequence number b to a. They wrap around, so only the distance tells which one is older.
constexpr std::int32_t distance(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

/// The slot of k that the sequence number names: waiters that follow each other name different ones.
constexpr std::int32_t named_slot(std::int32_t sequence, std::int32_t k) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sequence) % static_cast<std::uint32_t>(k));
}

/// What a lessor sees of its local gate.
struct local_view {
  int taken = -1;          ///< the slot that it requested and has by now
  int wanted = 0;          ///< how many slots jobs wait for
  bool idle = false;       ///< a slot that is lent has not been used for a while
  bool turn_over = false;  ///< it has had its slots for long enough, if others wait
  bool ending = false;     ///< it is to give back everything and end
};

/// A slot of the local gate, as its lessor knows it.
template <class SlotSet, class Token>
struct local_slot {
  enum kind_of : std::uint8_t { out, kept, lent };
  std::uint8_t is = out;
  SlotSet slots{};
  Token fence{};
};

template <class LocalSlots>
struct lease_books {
  LocalSlots at{};              ///< by local slot
  bool queued = false;          ///< a request of its own is in q
  bool slot_requested = false;  ///< it waits for a slot of the local gate
  bool closed = false;          ///< the gate between machines is gone
  bool watching = false;        ///< nothing that was read of the ensemble has changed since
  bool others_wait = false;     ///< another is the head of q, as it was read
  std::uint16_t owed = 0;       ///< how many slots are to be given back
  int slots = 0;                ///< of the gate between machines, as they were read

  int count(std::uint8_t kind) const {
    int n = 0;
    for (const auto& one : at) n += one.is == kind ? 1 : 0;
    return n;
  }
};

}  // namespace kgate::detail::cluster
