// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Uses of the queues in their room that the checker explores: waiters that give up, permits taken out of use
/// meanwhile, a semaphore that is destroyed right after its last acquire, and another one made at its address.

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kgate/algorithms/bounded_barging.hpp"
#include "lab_gates.hpp"
#include "room_machine.hpp"

namespace kgate::lab {

/// A state that must not be reached was reached: ends the exploration.
struct broken : std::runtime_error {
  explicit broken(const std::string& what) : std::runtime_error("broken: " + what) {}
};
/// Whether the checker met a run that is.
inline bool is_broken(const check_result& seen) {
  return seen.breaks_rules && seen.why.find("broken: ") != std::string::npos;
}

template <class M>
using small_queue = ticket_queue<M, small_words>;
using fifo_in_room = in_room<small_queue<room_machine>>;

/// With names in the word: a waiter takes one when it is admitted.
template <class Queue>
struct with_names : in_room<Queue> {
  using in_room<Queue>::in_room;
  void begin() { room_machine::current = &this->room_; }
};
template <class Queue>
using named_in_room = named<with_names<Queue>>;

/// Q needs more room.
using middle_words = ticket_word<std::uint32_t, 4>;
template <class M, int b>
using small_barging = bounded_barging<M, b, middle_words>;
using middle_named_words = ticket_word<std::uint32_t, 4, 3>;
/// On a machine that lets only every second sleeper be passed, as the native one does where it does not pay.
struct reluctant_machine : room_machine {
  static bool may_be_passed(Process&, std::uint64_t ticket) { return ticket % 2 == 0; }
};

/// A coin: a variable whose reads may return either side, like a safe register that is for ever being written.
class coin {
 public:
  explicit coin(checker_machine::Memory& memory) : side_(memory, {.name = "coin"}, 0) {
    shared_variable& v = memory.at(memory.size() - 1);
    v.unstable = 0;
    for (const std::uint8_t side : {heads, tails}) v.domain.push_back(v.values.intern(to_bytes(side)));
  }
  bool toss(checker_machine::Process& p) { return side_.read(p["coin"]) == tails; }

 private:
  static constexpr std::uint8_t heads = 1, tails = 2;
  checker_machine::Var<std::uint8_t> side_;
};

/// Once in a passage, at any moment; and then it sticks to it.
template <class Private>
bool wants_to_give_up(checker_machine::Process& p, const Private& mine, coin& toss) {
  using giving_up = decltype(mine.gives_up);
  return mine.gives_up == giving_up::not_yet || (mine.gives_up == giving_up::no && toss.toss(p));
}

/// A process may give up once in a passage, at any moment, and then queues again: all of them, or the first so many;
/// the last process asks for Weight permits.
template <class Queue, int Weight = 1, int Impatient = line_value<4>::waiters_max>
class impatient_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Private;
  using typename base::Process;
  impatient_in_room(checker_machine::Memory& memory, int N, int k)
      : base(memory, N, k), last_(N - 1), k_(k), coin_(memory) {}
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    const auto expired = [&] { return p.id().value < Impatient && wants_to_give_up(p, mine, coin_); };
    while (!this->queue_.enter(p, mine, weight(p)) && !this->queue_.wait(p, mine, expired)) {
    }
    p.live();
  }
  void release(Process& p, Private&) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    this->queue_.release(p, weight(p), static_cast<typename Queue::word>(k_));
  }

 private:
  typename Queue::word weight(Process& p) const { return p.id().value == last_ ? Weight : 1; }
  int last_, k_;
  coin coin_;
};

/// Process 0 takes permits out of use and puts them back; the others come and go, and may give up. One that came after
/// they were taken out and is inside must be alone (T2, one permit is left). To be checked with one more k, for process
/// 0.
template <class Queue, bool Impatient>
class resized_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Private;
  using typename base::Process;
  resized_in_room(checker_machine::Memory& memory, int N, int k)
      : base(memory, N, k - 1),
        removed_(static_cast<word>(k - 2)),
        coin_(memory),
        ghost_(memory, {.name = "ghost"}, 0) {}
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value == 0) {
      this->queue_.remove_permits(p, removed_);
      ghost_.rmw(p["ghost"], [](std::uint8_t g) { return static_cast<std::uint8_t>(g | fewer); });
      p.live();
      return;
    }
    const bool late = (ghost_.read(p["late"]) & fewer) != 0;
    queue_up(p, mine);
    const std::uint8_t before = ghost_.rmw(p["in"], [late](std::uint8_t g) { return entered(g, late); });
    if ((before & fewer) != 0 && ((before & alone) != 0 || (late && (before & count) != 0)))
      throw broken("admitted while others than k have not left");
    p.live();
  }
  void release(Process& p, Private&) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    if (p.id().value == 0) {
      ghost_.rmw(p["more"], [](std::uint8_t g) { return static_cast<std::uint8_t>(g & ~(fewer | alone)); });
      this->queue_.add_permits(p, removed_);
    } else {
      ghost_.rmw(p["out"], [](std::uint8_t g) { return static_cast<std::uint8_t>((g & ~alone) - 1); });
      this->queue_.release(p, 1, Queue::layout::permits_max);
    }
  }

 private:
  using word = typename Queue::word;
  /// In a frame of its own, so that whether it came late is not forgotten.
  void queue_up(Process& p, Private& mine) {
    [[maybe_unused]] auto frame = p.frame();
    const auto expired = [&] { return Impatient && wants_to_give_up(p, mine, coin_); };
    while (!this->queue_.enter(p, mine, 1) && !this->queue_.wait(p, mine, expired)) {
    }
  }
  static constexpr std::uint8_t fewer = 0x80, alone = 0x40, count = 0x0f;
  static std::uint8_t entered(std::uint8_t g, bool late) {
    return static_cast<std::uint8_t>((g + 1) | (late && (g & fewer) != 0 ? alone : 0));
  }
  word removed_;
  coin coin_;
  checker_machine::Var<std::uint8_t> ghost_;
};

/// A word that can be destroyed. A run in which a process touches it then is broken.
template <class T>
class mortal_word {
 public:
  using Process = checker_machine::Process;
  mortal_word(checker_machine::Memory& memory, variable description, T initial) : all_(memory, description, initial) {}
  T read(Process& p) {
    return step(p, [](T v) { return v; });
  }
  T fetch_add(Process& p, T delta) {
    return step(p, [delta](T v) { return static_cast<T>(v + delta); });
  }
  bool compare_and_swap(Process& p, T expected, T desired) {
    return step(p, [=](T v) { return v == expected ? desired : v; }) == expected;
  }
  template <class F>
  T rmw(Process& p, F f) {
    return step(p, f);
  }
  void destroy(Process& p) { all_.write(p["destroy"], dead); }
  void create(Process& p, T initial) { all_.write(p["create"], initial); }

 private:
  static constexpr std::uint32_t dead = ~std::uint32_t{0};
  template <class F>
  T step(Process& p, F f) {
    const std::uint32_t old =
        all_.rmw(p, [f](std::uint32_t v) { return v == dead ? v : std::uint32_t{f(static_cast<T>(v))}; });
    if (old == dead)
      throw broken("a step of process " + std::to_string(p.id().value) + " touches a destroyed semaphore");
    return static_cast<T>(old);
  }
  checker_machine::Var<std::uint32_t> all_;
};
struct mortal_machine : room_machine {
  template <class T>
  using Var = std::conditional_t<std::is_same_v<T, std::uint16_t>, mortal_word<T>, checker_machine::Var<T>>;
};
struct mortal_queue : small_queue<mortal_machine> {
  using small_queue<mortal_machine>::small_queue;
  void destroy(Process& p) { this->W.destroy(p); }
  void create(Process& p, int k) {
    this->W.create(p, small_words::make(small_words::ticket_mask, static_cast<word>(k)));
  }
};

/// Process 0 is inside when it begins (the queue is made with no permit free) and leaves. The others, if they come
/// after that, acquire; each but the last leaves again; the last destroys the semaphore right after its acquire. Those
/// that come too early pass by. To be checked with k = N.
template <class Queue>
class destroyed_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Process;
  struct Private : base::Private {
    bool passes_by = false;
  };
  destroyed_in_room(checker_machine::Memory& memory, int N, int /*k*/)
      : base(memory, N, 0),
        acquirers_(N - 1),
        begun_(memory, {.name = "begun"}, false),
        acquired_(memory, {.name = "acquired"}, 0) {}
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value == 0)
      begun_.write(p["begin"], true);
    else if (mine.passes_by = !begun_.read(p["begun?"]); !mine.passes_by)
      this->queue_.acquire(p, mine);
    p.live(mine.passes_by);
  }
  void release(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    if (mine.passes_by) return;
    if (p.id().value != 0 && acquired_.fetch_add(p["last?"], 1) == acquirers_ - 1)
      this->queue_.destroy(p);
    else
      this->queue_.release(p, 1, 1);
  }

 private:
  int acquirers_;
  checker_machine::Var<bool> begun_;
  checker_machine::Var<int> acquired_;
};

/// Process 0 is inside when it begins and hands over to process 1, which destroys the semaphore and makes another one
/// at its address, of which it holds the one permit; the others acquire that one. Those that come too early pass by. To
/// be checked with k = N.
template <class Queue>
class reused_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Process;
  struct Private : base::Private {
    bool passes_by = false;
  };
  reused_in_room(checker_machine::Memory& memory, int N, int /*k*/)
      : base(memory, N, 0), stage_(memory, {.name = "stage"}, 0), inside_(memory, {.name = "inside"}, 0) {}
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    const int me = p.id().value;
    if (me == 0) {
      stage_.write(p["begin"], 1);
    } else if (mine.passes_by = stage_.read(p["stage"]) < std::min(me, 2); !mine.passes_by) {
      this->queue_.acquire(p, mine);
      if (me == 1) {
        this->queue_.destroy(p);
        this->queue_.create(p, 0);
        stage_.write(p["made"], 2);
      }
      if (inside_.fetch_add(p["in"], 1) != 0) throw broken("two inside at k = 1");
    }
    p.live(mine.passes_by);
  }
  void release(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    if (mine.passes_by) return;
    if (p.id().value != 0) inside_.fetch_add(p["out"], -1);
    this->queue_.release(p, 1, 1);
  }

 private:
  checker_machine::Var<int> stage_, inside_;
};

/// Process 0 has two permits when it begins, one of which it takes out of use: so those that queue up are behind one
/// that is inside. It hands back one after the other. The others, if they come after that, acquire; process 1 may give
/// up, and then passes by. To be checked with k = N.
template <class Queue>
class one_gives_up_in_room : public in_room<Queue> {
 public:
  using base = in_room<Queue>;
  using typename base::Process;
  struct Private : base::Private {
    bool passes_by = false;
  };
  one_gives_up_in_room(checker_machine::Memory& memory, int N, int /*k*/)
      : base(memory, N, 0), coin_(memory), begun_(memory, {.name = "begun"}, false) {}
  void acquire(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    if (p.id().value == 0) {
      this->queue_.remove_permits(p, 1);
      begun_.write(p["begin"], true);
    } else if (mine.passes_by = !begun_.read(p["begun?"]); !mine.passes_by) {
      const auto expired = [&] { return p.id().value == 1 && wants_to_give_up(p, mine, coin_); };
      mine.passes_by = !this->queue_.enter(p, mine, 1) && !this->queue_.wait(p, mine, expired);
    }
    p.live(mine.passes_by);
  }
  void release(Process& p, Private& mine) {
    room_machine::current = &this->room_;
    [[maybe_unused]] auto frame = p.frame();
    if (mine.passes_by) return;
    this->queue_.release(p, 1, 2);
    if (p.id().value == 0) this->queue_.release(p, 1, 2);
  }

 private:
  coin coin_;
  checker_machine::Var<bool> begun_;
};

/// Wrong: a leaver looks at W once more.
struct staring_queue : mortal_queue {
  using mortal_queue::mortal_queue;
  using mortal_queue::release;
  bool release(Process& p, word n, word k) {
    const bool good = mortal_queue::release(p, n, k);
    this->W.read(p["stare"]);
    return good;
  }
};

/// Wrong: one that comes to serve the queue looks at W before it knows that a waiter is registered (R3).
struct trusting_machine : mortal_machine {
  template <class Algorithm>
  static void serve(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken, typename Algorithm::word most) {
    algorithm.read(p);
    algorithm.serve(p, b, taken, most);
  }
};
struct trusting_queue : small_queue<trusting_machine> {
  using small_queue<trusting_machine>::small_queue;
  void destroy(Process& p) { this->W.destroy(p); }
};

/// Wrong: one that admits several takes one of them out of the queue (R5).
struct stingy_machine : room_machine {
  template <class Algorithm>
  static void serve(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken, typename Algorithm::word) {
    algorithm.serve(p, b, taken, 1);
  }
};
using stingy_queue = small_queue<stingy_machine>;

/// Wrong: one that opens the lock does not serve those that came meanwhile (R2).
struct deaf_machine : room_machine {
  template <class Algorithm>
  static void serve_all(Process&, Bucket&, Algorithm&, Taken&) {}
};
using deaf_queue = small_queue<deaf_machine>;

/// Wrong: one that gives up leaves the queue, and its ticket to none (T4).
struct careless_bucket_machine : room_machine {
  struct Bucket : room_machine::Bucket {
    using room_machine::Bucket::Bucket;
    template <class Algorithm>
    bool leave_to_successor(Process& p, Algorithm&, Waiter& me) {
      this->remove(p, me);
      return true;
    }
  };
  template <class Algorithm>
  static Bucket& bucket_of(Process&, Algorithm&) {
    return static_cast<Bucket&>(*room_machine::current);
  }
};
using careless_queue = small_queue<careless_bucket_machine>;

}  // namespace kgate::lab
