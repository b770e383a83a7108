// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The machine concept on a simulated multiprocessor: the algorithms' texts, in virtual time.

#include <cstddef>
#include <type_traits>

#include "lab/multiprocessor/multiprocessor.hpp"

namespace kgate::lab {

struct timed_machine {
  using Memory = multiprocessor;

  class Process {
   public:
    Process(process_id id, multiprocessor& on) : id_(id), on_(&on) {}

    process_id id() const { return id_; }
    Process& operator[](const char*) { return *this; }
    void doorway_end() {}
    nothing_private frame() { return {}; }
    template <class... T>
    void live(const T&...) {}
    void pause() {}

    multiprocessor& on() { return *on_; }
    int number() const { return id_.value; }

   private:
    process_id id_;
    multiprocessor* on_;
  };

  template <class T>
  class Var {
   public:
    Var(multiprocessor& on, variable what, T initial) : value_(initial), at_(on.new_line(what.home)) {}
    Var(const Var&) = delete;
    Var& operator=(const Var&) = delete;

    T read(Process& p) {
      p.on().access(p.number(), at_, access_kind::read, false);
      return value_;
    }
    void write(Process& p, T value) {
      p.on().access(p.number(), at_, access_kind::write, false);
      set(p, value);
    }
    T fetch_add(Process& p, T delta) {
      return rmw(p, [&](T old) { return static_cast<T>(old + delta); });
    }
    bool test_and_set(Process& p) { return exchange(p, true); }
    T exchange(Process& p, T value) {
      return rmw(p, [&](T) { return value; });
    }
    bool compare_and_swap(Process& p, T expected, T desired) {
      p.on().at_its_time(p.number());
      const bool swaps = value_ == expected;
      p.on().access(p.number(), at_, swaps ? access_kind::write : access_kind::failed_swap, true);
      if (swaps) set(p, desired);
      return swaps;
    }
    template <class F>
    T rmw(Process& p, F&& f) {
      p.on().access(p.number(), at_, access_kind::write, true);
      const T old = value_;
      set(p, f(T{old}));
      return old;
    }
    template <class Predicate>
    void await(Process& p, Predicate&& until) {
      await_value(p, until);
    }
    template <class Predicate>
    T await_value(Process& p, Predicate&& until) {
      for (;;) {
        const T seen = read(p);
        if (until(T{seen})) return seen;
        p.on().wait_for(p.number(), at_);
        p.on().block(p.number());
      }
    }

   private:
    friend struct timed_machine;

    void set(Process& p, T value) {
      value_ = value;
      p.on().written(at_);
    }

    T value_;
    multiprocessor::line at_;
  };

  template <class T>
  class Data {
   public:
    Data(multiprocessor& on, variable what, T initial) : value_(initial), at_(on.data_line(what.home)) {}
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    T read(Process& p) {
      p.on().access(p.number(), at_, access_kind::read, false);
      return value_;
    }
    void write(Process& p, T value) {
      p.on().access(p.number(), at_, access_kind::write, false);
      value_ = value;
    }

   private:
    T value_;
    multiprocessor::line at_;
  };

  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) {
    for (;;) {
      // Notified of all before the first look: what is written between two looks must not be missed.
      for (std::size_t i = 0; i < count; ++i) p.on().wait_for(p.number(), at(i).at_);
      std::size_t found = count;
      for (std::size_t i = 0; i < count && found == count; ++i)
        if (until(i, at(i).read(p))) found = i;
      if (found == count) p.on().block(p.number());
      for (std::size_t i = 0; i < count; ++i) p.on().no_longer_waits_for(p.number(), at(i).at_);
      if (found != count) return found;
    }
  }
};

static_assert(Machine<timed_machine>);

}  // namespace kgate::lab
