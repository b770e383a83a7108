// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Hosts that lease slots of a simulated ensemble: for each a local gate, as an object that serves in order, and what
/// its lessor has lent there. Local gates are explored by themselves (tests/gate); here they are taken for right.

#include <utility>

#include "cluster/lab/ensemble.hpp"

namespace kgate::lab {

constexpr unsigned hosts_max = 2;
constexpr unsigned local_slots_max = 2;
constexpr unsigned local_waiters_max = 4;
constexpr std::uint8_t nobody_there = 7;
constexpr std::uint8_t the_lessor = 6;  ///< jobs are 0 and up

struct lent_entry {
  std::uint8_t slots = 0;  ///< as bits
  std::uint8_t fence = 0;
  std::uint8_t epoch = 0;
  friend constexpr bool operator==(const lent_entry&, const lent_entry&) = default;
};

struct local_gate {
  std::array<std::uint8_t, local_slots_max> holder{nobody_there, nobody_there};
  std::array<std::uint8_t, local_waiters_max> queue{nobody_there, nobody_there, nobody_there, nobody_there};
  std::array<lent_entry, local_slots_max> entry{};
  std::uint8_t size = 1;
  std::uint8_t epoch = 0;
  std::uint8_t valid = 0;
  std::uint8_t alive = 0;    ///< its lessor
  std::uint8_t died = 0;     ///< its first lessor has
  std::uint8_t session = 0;  ///< of the lessor
  std::uint8_t closed = 0;
  std::uint8_t ended = 0;             ///< jobs that make no passage any more, as bits
  std::uint8_t taken = nobody_there;  ///< the local slot that the lessor requested and has not seen
  std::uint8_t passed = 0;  ///< how many jobs may still get in before the lessor that queues, plus one; 0: it does not
  friend constexpr bool operator==(const local_gate&, const local_gate&) = default;

  bool all_ended(int jobs) const { return ended == (1 << jobs) - 1; }
  void end(std::uint8_t job) { ended |= static_cast<std::uint8_t>(1U << job); }
  unsigned waiting() const {
    unsigned n = 0;
    while (n < local_waiters_max && queue[n] != nobody_there) ++n;
    return n;
  }
  std::uint8_t slot_of(std::uint8_t who) const {
    for (std::uint8_t i = 0; i < local_slots_max; ++i)
      if (holder[i] == who) return i;
    return nobody_there;
  }
  bool lends_an_unused_slot() const {
    for (unsigned i = 0; i < local_slots_max; ++i)
      if (holder[i] == nobody_there && entry[i].fence != 0) return true;
    return false;
  }
  /// How many jobs wait.
  int wanted() const {
    int n = 0;
    for (unsigned i = 0; i < waiting(); ++i) n += queue[i] != the_lessor ? 1 : 0;
    return n;
  }
  /// False if one was let in that should not have been.
  bool enter(std::uint8_t who) {
    queue[waiting()] = who;
    if (who == the_lessor) passed = static_cast<std::uint8_t>(waiting());
    return serve();
  }
  bool leave(unsigned i) {
    holder[i] = nobody_there;
    return serve();
  }
  bool advance() { return serve(); }
  void forget(std::uint8_t who) {
    for (unsigned i = 0; i < waiting(); ++i)
      if (queue[i] == who) {
        for (unsigned j = i; j + 1 < local_waiters_max; ++j) queue[j] = queue[j + 1];
        queue[local_waiters_max - 1] = nobody_there;
      }
    for (unsigned i = 0; i < local_slots_max; ++i)
      if (holder[i] == who) holder[i] = nobody_there;
    serve();
  }
  unsigned inside() const {
    unsigned n = 0;
    for (const std::uint8_t who : holder) n += who != nobody_there ? 1 : 0;
    return n;
  }
  /// As the lessor does before it looks (L7): the gate has `slots` again, and the lessor no slot beyond them. False as
  /// above.
  bool put_right(std::uint8_t slots) {
    size = slots;
    if (taken == nobody_there || taken < slots) return serve();
    holder[std::exchange(taken, nobody_there)] = nobody_there;
    return enter(the_lessor);
  }

 private:
  bool serve() {
    bool bounded = true;
    for (unsigned i = 0; i < size; ++i) {
      if (holder[i] != nobody_there || queue[0] == nobody_there || inside() >= size) continue;
      const std::uint8_t who = queue[0];
      for (unsigned j = 0; j + 1 < local_waiters_max; ++j) queue[j] = queue[j + 1];
      queue[local_waiters_max - 1] = nobody_there;
      holder[i] = who;
      if (who == the_lessor) {
        taken = static_cast<std::uint8_t>(i);
        passed = 0;
      } else if (passed > 0) {
        bounded = passed > 1;
        --passed;
      }
    }
    return bounded;
  }
};

/// An ensemble and the hosts that use it.
struct host_world : ensemble {
  std::array<local_gate, hosts_max> host{};
  friend constexpr bool operator==(const host_world&, const host_world&) = default;

  /// The time of the session is over. Its host learns that no later than the ensemble.
  void expire(unsigned session) {
    for (local_gate& one : host)
      if (one.session == session) one.valid = 0;
    ensemble::expire(session);
  }
};

inline std::string to_string(const host_world& w) {
  std::string text = to_string(static_cast<const ensemble&>(w));
  for (const local_gate& one : w.host) {
    text += " |";
    for (unsigned i = 0; i < one.size; ++i) {
      text += " " + (one.holder[i] == nobody_there ? "-" : std::to_string(one.holder[i]));
      if (one.entry[i].fence != 0)
        text += ":" + std::to_string(one.entry[i].slots) + "#" + std::to_string(one.entry[i].fence) + "e" +
                std::to_string(one.entry[i].epoch);
    }
    text += " q";
    for (unsigned i = 0; i < one.waiting(); ++i) text += " " + std::to_string(one.queue[i]);
    text += " e" + std::to_string(one.epoch) + (one.valid != 0 ? " valid" : "") + (one.alive != 0 ? "" : " dead");
  }
  return text;
}

}  // namespace kgate::lab
