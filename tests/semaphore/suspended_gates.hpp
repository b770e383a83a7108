// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Uses of suspended waiters that the checker explores: each process stands for one, and for whatever goes on when it
/// is resumed; process 0 ends waits.

#include <cstdint>

#include "room_gates.hpp"

namespace kgate::lab {

/// In the word of a waiter that was resumed without its permits.
inline constexpr std::uint32_t withdrawn = 8;

/// Processes 1.. acquire if process 0 has begun, those with an odd number without waiting themselves. One that comes
/// too early, or whose wait is ended, passes by. No more than Permits are inside. To be checked with k = N.
/// @tparam Heavy  this process asks for two permits
template <class Queue, int Permits, int Heavy = -1>
class suspending_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Process;
  struct Private : base::Private {
    bool passes_by = false;
  };
  suspending_in_room(checker_machine::Memory& memory, int N, int /*k*/)
      : base(memory, N, Permits),
        ended_(memory, {.name = "ended"}, false),
        begun_(memory, {.name = "begun"}, false),
        inside_(memory, {.name = "inside"}, 0) {}

  void release(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    if (mine.passes_by) return;
    const int w = weight(p);
    inside_.fetch_add(p["out"], -w);
    this->queue_.release(p, static_cast<typename Queue::word>(w), Queue::layout::permits_max);
  }

 protected:
  using Waiter = room_machine::Waiter;

  static int weight(Process& p) { return p.id().value == Heavy ? 2 : 1; }

  /// @param expired  whether the wait of this process was ended
  template <class Expired>
  void acquire_one(Process& p, Private& mine, Expired expired) {
    if (!begun_.read(p["begun?"]))
      mine.passes_by = true;
    else if (p.id().value % 2 == 0)
      mine.passes_by = !this->queue_.enter(p, mine, static_cast<typename Queue::word>(weight(p))) &&
                       !this->queue_.wait(p, mine, expired);
    else
      mine.passes_by = !acquire_suspended(p, expired);
    if (!mine.passes_by && inside_.fetch_add(p["in"], weight(p)) > Permits - weight(p))
      throw broken("more inside than there are permits");
    p.live(mine.passes_by);
  }
  void interrupt_threads(Process& p) {
    for (std::size_t i = 2; i < this->room_.words.size(); i += 2) {
      this->room_.words[i].rmw(p["i1"], [](std::uint32_t v) { return v | detail::waiter_word::interrupted; });
      this->room_.words[i].wake(p["i2"]);
    }
  }
  static auto refusing(Process& p) {
    return [&p](Waiter& w) { w.word().rmw(p["refuse"], [](std::uint32_t v) { return v | withdrawn; }); };
  }
  void resume(Process& p, int whom, std::uint32_t bits) {
    auto& word = this->room_.words[static_cast<std::size_t>(whom)];
    const std::uint32_t old = word.rmw(p["r1"], [bits](std::uint32_t v) { return v | bits; });
    if ((old & detail::waiter_word::woken) != 0) throw broken("a waiter is resumed twice");
    word.wake(p["r2"]);
  }

  void begin(Process& p, Private& mine) {
    begun_.write(p["begin"], true);
    mine.passes_by = true;
  }

  checker_machine::Var<bool> ended_;  ///< whether process 0 has ended waits

 private:
  template <class Expired>
  bool acquire_suspended(Process& p, Expired expired) {
    using enrollment = typename Queue::enrollment;
    Waiter me(p.id().value);
    if (me.read(p["fresh"]) != 0) throw broken("a waiter is resumed once more after its wait");
    const enrollment now = this->queue_.enroll(p, me, static_cast<typename Queue::word>(weight(p)), expired);
    if (now == enrollment::expired) return !this->queue_.give_up_enrolled(p, me);
    if (now == enrollment::inside) return true;
    for (;;) {
      p.live();
      const std::uint32_t seen = me.read(p["resumed?"]);
      if ((seen & detail::waiter_word::woken) != 0) return (seen & withdrawn) == 0;
      me.word().sleep(p["suspended"], seen);
    }
  }

  checker_machine::Var<bool> begun_;
  checker_machine::Var<int> inside_;
};

/// No wait is ended but by a permit.
template <class Queue, int Permits>
class granted_in_room : public suspending_in_room<Queue, Permits> {
 public:
  using base = suspending_in_room<Queue, Permits>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value > 0) return this->acquire_one(p, mine, [] { return false; });
    this->begin(p, mine);
    p.live(mine.passes_by);
  }
};

/// Process 0 ends the wait of process 1 once, as a stop callback does: first it is known, then the waiter is withdrawn.
/// @tparam Late  wrong: the other way round (T5)
template <class Queue, int Permits, bool Late = false>
class cancelled_in_room : public suspending_in_room<Queue, Permits> {
 public:
  using base = suspending_in_room<Queue, Permits>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value > 0)
      return this->acquire_one(p, mine, [&] { return p.id().value == 1 && this->ended_.read(p["ended?"]); });
    this->begin(p, mine);
    if (!Late) this->ended_.write(p["end"], true);
    room_machine::Waiter whom(1);
    if (this->queue_.withdraw(p, whom)) this->resume(p, 1, withdrawn | detail::waiter_word::woken);
    if (Late) this->ended_.write(p["end"], true);
    p.live(mine.passes_by);
  }
};

/// Process 0 closes the queue, as basic_semaphore does. Wrong if it does not wake in the end those that it took out.
template <class Queue, int Permits, bool Wakes = true>
class closed_in_room : public suspending_in_room<Queue, Permits> {
 public:
  using base = suspending_in_room<Queue, Permits>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value > 0) return this->acquire_one(p, mine, [&] { return this->ended_.read(p["ended?"]); });
    this->begin(p, mine);
    if (!this->ended_.read(p["closed?"])) {
      this->ended_.write(p["end"], true);
      close(p);
      this->interrupt_threads(p);
    }
    p.live(mine.passes_by);
  }

 private:
  void close(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    room_machine::Taken taken;
    this->queue_.remove_permits(p, Permits, taken);
    this->queue_.withdraw_heavier(p, 0, base::refusing(p), taken);
    if (Wakes) taken.wake_all(p);
  }
};

/// Process 0 leaves one permit of two, as basic_semaphore's resize does: the limit goes back, then it is known, threads
/// that wait for two are interrupted, and at last those suspended are taken out and woken.
/// @tparam Late  wrong: it is known only after those were taken out
template <class Queue, int Heavy, bool Late = false>
class shrunk_in_room : public suspending_in_room<Queue, 2, Heavy> {
 public:
  using base = suspending_in_room<Queue, 2, Heavy>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value > 0)
      return this->acquire_one(p, mine, [&] { return p.id().value == Heavy && this->ended_.read(p["heavy?"]); });
    this->begin(p, mine);
    if (!this->ended_.read(p["fewer?"])) leave_one(p);
    p.live(mine.passes_by);
  }

 private:
  void leave_one(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    room_machine::Taken taken;
    this->queue_.remove_permits(p, 1, taken);
    if (!Late) end(p);
    this->queue_.withdraw_heavier(p, 1, base::refusing(p), taken);
    if (Late) end(p);
    taken.wake_all(p);
  }
  void end(Process& p) {
    this->ended_.write(p["end"], true);
    this->interrupt_threads(p);
  }
};

/// Wrong: whether the wait has ended is asked before the waiter is queued (T5).
template <class Queue, int Permits>
class hasty_in_room : public cancelled_in_room<Queue, Permits> {
 public:
  using base = cancelled_in_room<Queue, Permits>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    if (p.id().value == 0) return base::acquire(p, mine);
    room_machine::current = &this->room_;
    const bool ended = this->ended_.read(p["ended?"]);
    this->acquire_one(p, mine, [ended] { return ended; });
  }
};

/// Wrong: one that withdraws a waiter resumes it even if another took it out of the queue.
struct resuming_queue : small_queue<room_machine> {
  using small_queue<room_machine>::small_queue;
  template <class Waiter>
  bool withdraw(Process& p, Waiter& me) {
    small_queue<room_machine>::withdraw(p, me);
    return true;
  }
};
/// Wrong: of those that wait for too many only the last waiter is taken out, if it is one.
struct near_sighted_queue : small_queue<room_machine> {
  using small_queue<room_machine>::small_queue;
  template <class Note>
  void withdraw_heavier(Process& p, word most, Note&& note, room_machine::Taken& taken) {
    using protocol = detail::bucket_protocol<room_machine>;
    auto& b = room_machine::bucket_of(p, *this);
    protocol::lock(p, b);
    b.for_each_backwards(p["c1"], *this, [&](auto& w, const entry& at) {
      if (at.suspended && at.weight > most && this->give_up_locked(p, b, w, at, taken) == giving_up::done)
        note(w), taken.add(w);
      return false;
    });
    protocol::open_only(p, b, *this, taken);
  }
};
/// Wrong: a waiter is withdrawn although its process is about to give up by itself.
struct meddling_queue : small_queue<room_machine> {
  using small_queue<room_machine>::small_queue;
  template <class Waiter>
  bool withdraw(Process& p, Waiter& me) {
    return this->give_up_at_last(p, room_machine::bucket_of(p, *this), me, false);
  }
};

}  // namespace kgate::lab
