// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A machine on which every step of every process waits for the scheduler: the way to run a schedule chosen by hand, by
/// a random walk or by an adversary, on sizes that no exhaustive search reaches. It finds and measures; it proves
/// nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lab/schedules/fiber.hpp"
#include "lab/schedules/memory.hpp"

namespace kgate::lab::schedules {

/// What a process will do when it is next scheduled.
enum class step_kind : unsigned char { start, read, write, rmw, cas, wait, leave };

struct machine {
  using Memory = memory;

  class Process {
   public:
    Process(process_id id, memory& shared) : id_(id), shared_(&shared) {}

    process_id id() const { return id_; }
    Process& operator[](const char* label) {
      label_ = label;
      return *this;
    }
    void doorway_end() { in_doorway_ = false; }
    nothing_private frame() { return {}; }
    template <class... T>
    void live(const T&...) {}
    void pause() {}

    region where() const { return where_; }
    bool in_doorway() const { return in_doorway_; }
    std::string_view label() const { return label_; }
    step_kind next() const { return next_; }
    /// False while the next step is a wait for something that has not happened.
    bool ready() const { return next_ != step_kind::wait || ready_(waits_for_); }
    /// Remote references so far in this passage, or of the whole last passage if it is in its remainder.
    int remote_references() const { return remote_; }
    int passages() const { return passages_; }

   private:
    friend struct machine;
    template <class Algorithm>
    friend class arena;

    void arrive(step_kind next) {
      next_ = next;
      fiber_->leave();
    }
    template <class Condition>
    void arrive_waiting(const Condition& holds) {
      waits_for_ = &holds;
      ready_ = [](const void* condition) { return (*static_cast<const Condition*>(condition))(); };
      arrive(step_kind::wait);
    }
    void pay(int remote) { remote_ += remote; }

    process_id id_;
    memory* shared_;
    fiber* fiber_ = nullptr;
    const char* label_ = "";
    step_kind next_ = step_kind::start;
    region where_ = region::remainder;
    bool in_doorway_ = false;
    int remote_ = 0;
    int passages_ = 0;
    const void* waits_for_ = nullptr;
    bool (*ready_)(const void*) = nullptr;
  };

  template <class T>
  class Var final : public cell {
   public:
    Var(memory& shared, variable what, T initial) : cell(what, shared.next_index()), value_(initial) {
      shared.add(*this);
    }

    std::uint64_t bits() const override {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value_, std::min(sizeof bits, sizeof value_));
      return bits;
    }
    T read(Process& p) {
      p.arrive(step_kind::read);
      return read_value(p);
    }
    void write(Process& p, T value) {
      p.arrive(step_kind::write);
      p.pay(p.shared_->write(*this, p.id()));
      value_ = value;
    }
    T fetch_add(Process& p, T delta) {
      return rmw(p, [&](T old) { return static_cast<T>(old + delta); });
    }
    bool test_and_set(Process& p) { return exchange(p, true); }
    T exchange(Process& p, T value) {
      return rmw(p, [&](T) { return value; });
    }
    bool compare_and_swap(Process& p, T expected, T desired) {
      p.arrive(step_kind::cas);
      if (value_ != expected) {
        p.pay(p.shared_->failed_cas(*this, p.id()));
        return false;
      }
      p.pay(p.shared_->write(*this, p.id()));
      value_ = desired;
      return true;
    }
    template <class F>
    T rmw(Process& p, F&& f) {
      p.arrive(step_kind::rmw);
      p.pay(p.shared_->write(*this, p.id()));
      const T old = value_;
      value_ = f(T{old});
      return old;
    }
    template <class Predicate>
    void await(Process& p, Predicate&& until) {
      await_value(p, until);
    }
    template <class Predicate>
    T await_value(Process& p, Predicate&& until) {
      const auto holds = [&] { return until(T{value_}); };
      for (;;) {
        p.arrive_waiting(holds);
        const T seen = read_value(p);
        if (until(T{seen})) return seen;
      }
    }

   private:
    friend struct machine;

    T read_value(Process& p) {
      p.pay(p.shared_->read(*this, p.id()));
      return value_;
    }

    T value_;
  };

  /// A look at all the variables is one step here.
  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) {
    const auto holds = [&] {
      for (std::size_t i = 0; i < count; ++i)
        if (until(i, at(i).value_)) return true;
      return false;
    };
    for (;;) {
      p.arrive_waiting(holds);
      for (std::size_t i = 0; i < count; ++i)
        if (until(i, at(i).read_value(p))) return i;
    }
  }
};

static_assert(Machine<machine>);

/// N processes that go through one instance of an algorithm again and again, one step at a time.
class any_arena {
 public:
  any_arena(const any_arena&) = delete;
  any_arena& operator=(const any_arena&) = delete;
  virtual ~any_arena() = default;

  int size() const { return static_cast<int>(processes_.size()); }
  const machine::Process& operator[](int i) const { return processes_[static_cast<std::size_t>(i)]; }
  const memory& shared() const { return shared_; }
  /// Process i takes its next step.
  void step(int i) { fibers_[static_cast<std::size_t>(i)]->resume(); }
  /// The number of processes in their critical section.
  int inside() const {
    int count = 0;
    for (const machine::Process& p : processes_) count += p.where() == region::critical;
    return count;
  }

 protected:
  any_arena(int N, cost_model rules) : shared_(N, rules) {
    processes_.reserve(static_cast<std::size_t>(N));
    for (int i = 0; i < N; ++i) processes_.emplace_back(pid(i), shared_);
  }

  memory shared_;
  std::vector<machine::Process> processes_;
  std::vector<std::unique_ptr<fiber>> fibers_;
};

template <class Algorithm>
class arena final : public any_arena {
 public:
  arena(int N, int k, cost_model rules = {}) : any_arena(N, rules), algorithm_(shared_, N, k) {
    for (machine::Process& p : processes_) {
      fibers_.push_back(std::make_unique<fiber>([this, &p](fiber&) { live(p); }));
      p.fiber_ = fibers_.back().get();
      fibers_.back()->resume();
    }
  }
  ~arena() override { fibers_.clear(); }  // unwound while the algorithm they stand in is there

 private:
  [[noreturn]] void live(machine::Process& p) {
    for (;;) {
      p.label_ = "";
      p.arrive(step_kind::start);
      p.where_ = region::entry;
      p.in_doorway_ = true;
      p.remote_ = 0;
      typename Algorithm::Private mine{};
      algorithm_.acquire(p, mine);
      p.where_ = region::critical;
      p.label_ = "";
      p.arrive(step_kind::leave);
      p.where_ = region::exit;
      algorithm_.release(p, mine);
      p.where_ = region::remainder;
      ++p.passages_;
    }
  }

  Algorithm algorithm_;
};

}  // namespace kgate::lab::schedules
