// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A machine of the laboratory with a waiting room of one bucket, for the texts that kgate::semaphore runs. What they
/// do under the bucket's lock to the queue of waiters is one step each: no other may look.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "futex_word.hpp"
#include "kgate/algorithms/ticket_queue.hpp"

namespace kgate::lab {

/// The waiters in ticket order.
struct queue_item {
  std::uint32_t first, last;
  std::uint8_t who, weight, state, stamp;
  static constexpr std::uint8_t suspended = 0x80;  ///< added to the state
};
template <std::size_t Size>
struct line_value {
  static constexpr std::size_t waiters_max = Size;
  using one = queue_item;
  std::array<one, waiters_max> all{};  ///< the process and one; those behind the last are all zero
  std::uint32_t count = 0;             ///< how many are announced

  std::size_t size() const {
    std::size_t n = 0;
    while (n < waiters_max && all[n].who != 0) ++n;
    return n;
  }
  std::size_t index_of(int who) const {
    for (std::size_t i = 0; i < waiters_max; ++i)
      if (all[i].who == who + 1) return i;
    return waiters_max;
  }
  line_value without(std::size_t i) const {
    line_value next = *this;
    --next.count;
    for (; i + 1 < waiters_max; ++i) next.all[i] = next.all[i + 1];
    next.all[waiters_max - 1] = {};
    return next;
  }
};
template <std::size_t Size>
std::string to_string(const line_value<Size>& v) {
  std::string text;
  for (std::size_t i = 0; i < v.size(); ++i)
    text += (i == 0 ? "" : " ") + std::to_string(v.all[i].who - 1) + ":" + std::to_string(v.all[i].first) + ".." +
            std::to_string(v.all[i].last) + "/" + std::to_string(v.all[i].state);
  return "{" + text + "}";
}

/// @tparam Sleepable  a word that processes can sleep on
template <class Base, class Sleepable, std::size_t Size>
struct room_on : Base {
  using typename Base::Memory;
  using typename Base::Process;
  using line_value = lab::line_value<Size>;
  template <class T>
  using Var = typename Base::template Var<T>;
  struct Bucket;
  static inline thread_local Bucket* current = nullptr;

  /// A process's word. One that finds itself woken returns and does not look again, so its word is made ready for the
  /// next time in that step.
  struct Waiter {
    template <class Algorithm>
    Waiter(Process& p, Algorithm&) : who(p.id().value) {}
    explicit Waiter(int process) : who(process) {}
    std::uint32_t read(Process& p) {
      return word().rmw(p, [](std::uint32_t v) { return (v & detail::waiter_word::woken) != 0 ? 0U : v; });
    }
    std::uint32_t clear(Process& p, std::uint32_t bits) {
      return word().rmw(p, [bits](std::uint32_t v) { return v & ~bits; }) & ~bits;
    }
    void await_woken(Process& p) {
      for (;;) {
        const std::uint32_t seen = read(p);
        if ((seen & detail::waiter_word::woken) != 0) return;
        word().sleep(p, seen);
      }
    }
    Sleepable& word() { return current->words[static_cast<std::size_t>(who)]; }
    int who;
  };

  /// Which of them were taken out and are to be woken.
  struct Taken {
    std::uint16_t mask = 0;
    void add(const Waiter& w) { mask = static_cast<std::uint16_t>(mask | (1U << w.who)); }
    void wake_all(Process& p) {
      for (std::size_t i = 0; i < Size; ++i)
        if ((mask >> i & 1) != 0) {
          current->words[i].rmw(p["w1"], [](std::uint32_t v) { return v | detail::waiter_word::woken; });
          current->words[i].wake(p["w2"]);
        }
    }
  };
  struct Bucket {
    Bucket(Memory& memory, int N) : lock(memory, {.name = "lock"}, 0), line(memory, {.name = "line"}, {}) {
      for (int i = 0; i < N; ++i) words.emplace_back(memory, variable{.name = "word", .instance = i}, 0);
    }

    std::uint32_t announced(Process& p) {
      if constexpr (requires { line.rmw_seeing(p, unchanged, count_of); })
        return line.rmw_seeing(p, unchanged, count_of);
      else
        return line.read(p).count;
    }
    void announce(Process& p) { add(p, 1); }
    void announce_before_rmw(Process& p) { announce(p); }
    void retract(Process& p) { add(p, static_cast<std::uint32_t>(-1)); }

    template <class Algorithm>
    static typename Algorithm::entry entry_of(const queue_item& e) {
      using word = typename Algorithm::word;
      return {.first = static_cast<word>(e.first),
              .last = static_cast<word>(e.last),
              .weight = static_cast<word>(e.weight),
              .stamp = static_cast<word>(e.stamp),
              .state = static_cast<waiter_state>(e.state & ~queue_item::suspended),
              .suspended = (e.state & queue_item::suspended) != 0,
              .exists = e.who != 0};
    }
    template <class Algorithm>
    typename Algorithm::entry front(Process& p, Algorithm&) {
      return entry_of<Algorithm>(line.read(p).all[0]);
    }
    template <class Algorithm>
    void pop_front(Process& p, Algorithm&, const typename Algorithm::entry&, Taken& taken) {
      const line_value old = line.rmw(p, [](line_value v) { return v.without(0); });
      if (old.all[0].who != 0) taken.add(Waiter(old.all[0].who - 1));
    }
    template <class Algorithm>
    void drop_carried(Process& p, Algorithm&) {
      using L = typename Algorithm::layout;
      using word = typename Algorithm::word;
      line.rmw(p, [](line_value v) {
        queue_item& e = v.all[0];
        e.first = static_cast<std::uint32_t>(L::wrapped(static_cast<word>(e.last + 1 - e.weight)));
        return v;
      });
    }
    template <class Algorithm>
    void insert(Process& p, Algorithm&, Waiter& me, const typename Algorithm::entry& e) {
      using L = typename Algorithm::layout;
      using word = typename Algorithm::word;
      const int state = static_cast<int>(e.state) | (e.suspended ? queue_item::suspended : 0);
      const queue_item mine{static_cast<std::uint32_t>(e.first),   static_cast<std::uint32_t>(e.last),
                            static_cast<std::uint8_t>(me.who + 1), static_cast<std::uint8_t>(e.weight),
                            static_cast<std::uint8_t>(state),      static_cast<std::uint8_t>(e.stamp)};
      line.rmw(p, [mine](line_value v) {
        std::size_t i = v.size();
        for (; i > 0 && L::before(static_cast<word>(mine.last), static_cast<word>(v.all[i - 1].last)); --i)
          v.all[i] = v.all[i - 1];
        v.all[i] = mine;
        return v;
      });
    }
    template <class Algorithm>
    typename Algorithm::entry find(Process& p, Algorithm&, Waiter& me) {
      const line_value v = line.read(p);
      const std::size_t i = v.index_of(me.who);
      return i == line_value::waiters_max ? typename Algorithm::entry{} : entry_of<Algorithm>(v.all[i]);
    }
    void remove(Process& p, Waiter& me) {
      line.rmw(p, [who = me.who](line_value v) { return v.without(v.index_of(who)); });
    }
    /// The next ticket is that of the next waiter, which from now on stands for ours too; else nothing changes.
    template <class Algorithm>
    bool leave_to_successor(Process& p, Algorithm&, Waiter& me) {
      using L = typename Algorithm::layout;
      using word = typename Algorithm::word;
      const auto next = [who = me.who](line_value v) {
        const std::size_t i = v.index_of(who);
        const bool follows = i + 1 < v.size() && v.all[i + 1].first == L::wrapped(static_cast<word>(v.all[i].last + 1));
        if (!follows) return v;
        v.all[i + 1].first = v.all[i].first;
        return v.without(i);
      };
      const line_value old = line.rmw(p, next);
      return next(old).index_of(me.who) == line_value::waiters_max;
    }
    template <class Algorithm, class F>
    void for_each_backwards(Process& p, Algorithm&, F&& f) {
      const line_value v = line.read(p);
      for (std::size_t i = v.size(); i-- > 0;) {
        Waiter w(v.all[i].who - 1);
        if (!f(w, entry_of<Algorithm>(v.all[i]))) return;
      }
    }
    template <class Algorithm>
    void set_front_state(Process& p, Algorithm&, waiter_state s, std::uint32_t bits) {
      const line_value old = line.rmw(p, [s](line_value v) {
        v.all[0].state = static_cast<std::uint8_t>(s);
        return v;
      });
      Sleepable& word = words[static_cast<std::size_t>(old.all[0].who - 1)];
      word.rmw(p["n1"], [bits](std::uint32_t v) { return v | bits; });
      word.wake(p["n2"]);
    }
    void set_state(Process& p, Waiter& me, waiter_state s) {
      line.rmw(p, [s, who = me.who](line_value v) {
        const std::size_t i = v.index_of(who);
        if (i < line_value::waiters_max) v.all[i].state = static_cast<std::uint8_t>(s);
        return v;
      });
    }

    void add(Process& p, std::uint32_t n) {
      line.rmw(p, [n](line_value v) {
        v.count += n;
        return v;
      });
    }
    static line_value unchanged(line_value v) { return v; }
    static std::uint32_t count_of(line_value v) { return v.count; }

    Sleepable lock;
    Var<line_value> line;
    std::deque<Sleepable> words;
  };

  template <class Algorithm>
  static Bucket& bucket_of(Process&, Algorithm&) {
    return *current;
  }
  template <class Algorithm>
  static void serve(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken, typename Algorithm::word most) {
    algorithm.serve(p, b, taken, most);
  }
  template <class Algorithm>
  static void serve_all(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken) {
    algorithm.serve(p, b, taken);
  }
  static void sleep_for_lock(Process& p, Sleepable& lock, std::uint32_t while_it_is) { lock.sleep(p, while_it_is); }
  static void wake(Process& p, Sleepable& lock) { lock.wake(p); }
  static void sleep(Process& p, Waiter& me, std::uint32_t while_it_is) { me.word().sleep(p, while_it_is); }
};

/// The checker's machine, with the kernel's way to sleep.
using room_machine = room_on<checker_machine, futex_word, 4>;
static_assert(detail::RoomMachine<room_machine>);

/// A queue with its room; tickets start two before the wrap.
template <class Queue, class M = room_machine>
class in_room {
 public:
  using Process = typename Queue::Process;
  using Private = typename Queue::Private;
  using L = typename Queue::layout;
  in_room(typename M::Memory& memory, int N, int k)
      : room_(memory, N),
        queue_(memory, N, k, static_cast<typename L::word>(L::ticket_mask - 1), std::min(k, L::names_max)) {}

  void acquire(Process& p, Private& mine) {
    M::current = &room_;
    queue_.acquire(p, mine);
  }
  void release(Process& p, Private& mine) {
    M::current = &room_;
    queue_.release(p, mine);
  }

 protected:
  typename M::Bucket room_;
  Queue queue_;
};

}  // namespace kgate::lab
