// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The gate protocol under chosen schedules: each step of its variables (Cells, algorithms/gate_protocol.hpp) gives control back to the test,
/// which decides who goes on and who dies. The protocol's own text runs, not a model of it.
///
/// Each process is a fiber; a run is one sequence of decisions. Not exhaustive over states: all schedules with at most a given
/// number of preemptions and deaths are run, from the start each time.

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kgate/algorithms/gate_protocol.hpp"

namespace kgate::explored {

using namespace gate_detail;

class world;

/// The protocol's variables, in memory of the test; every access is a step.
class cells {
 public:
  cells(world& w, int k, unsigned members)
      : world_(w), members_(members), states_(members), orders_(members), alive_(members, true), slots_(8) {
    word_ = gate_detail::word{}.next(op::none, 0, k, false);
    size_ = limit::of(k, 0);
  }
  gate_detail::word word();
  bool cas_word(gate_detail::word expected, gate_detail::word desired);
  state state_of(unsigned i);
  bool cas_state(unsigned i, state expected, state desired);
  void set_state(unsigned i, state s);
  std::uint64_t order_of(unsigned i);
  void set_order(unsigned i, std::uint64_t order);
  limit size();
  bool cas_size(limit expected, limit desired);
  overtaken passed();
  bool cas_passed(overtaken expected, overtaken desired);
  unsigned overtakings() const { return overtakings_; }
  void set_overtakings(unsigned b) { overtakings_ = b; }
  slot_owner slot(int j);
  bool cas_slot(int j, slot_owner expected, slot_owner desired);
  unsigned members() const { return members_; }
  bool alive(unsigned i);
  bool grantable(unsigned i) { return alive(i); }
  void wake(unsigned) {}
  void nudge(unsigned) {}
  void healed() {}
  template <class... T>
  void live(const T&...) const {}
  template <class F>
  decltype(auto) call(F&& f) {
    return f();
  }

  /// Broken on purpose, to see that the exploration notices.
  enum class fault { none, nobody_helps, living_seem_dead };
  void break_it(fault which) { fault_ = which; }

  /// What the invariants say, looked at by the test: not steps.
  void die(unsigned i) { alive_[i] = false; }
  void take_over(unsigned i) { alive_[i] = true; }
  bool is_alive(unsigned i) const { return alive_[i]; }
  int permits_inside() const;
  bool sound() const;
  /// The size, counting the effect of W's operation as applied.
  int k() const { return size_.lacks(word_) ? states_[word_.subject()].weight() : size_.slots(); }
  gate_detail::word peek() const { return word_; }
  state peek_state(unsigned i) const;

 private:
  fault fault_ = fault::none;
  world& world_;
  unsigned members_;
  unsigned overtakings_ = 0;
  overtaken passed_;
  gate_detail::word word_;
  limit size_;
  std::vector<state> states_;
  std::vector<std::uint64_t> orders_;
  std::vector<bool> alive_;
  std::vector<slot_owner> slots_;
};

/// Processes that take turns.
class world {
 public:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  world(int k, unsigned members) : memory(*this, k, members) {}
  /// A further process; its number.
  unsigned add(std::function<void()> body) {
    fibers_.push_back(std::make_unique_for_overwrite<fiber>());
    fibers_.back()->body = std::move(body);
    return static_cast<unsigned>(fibers_.size() - 1);
  }
  /// One step of process i. False if it has finished.
  bool step(unsigned i) {
    fiber& f = *fibers_[i];
    if (f.finished) return false;
    current_ = i;
    if (!f.started) {
      f.started = true;
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.data();
      f.context.uc_stack.ss_size = f.stack.size();
      f.context.uc_link = &main_;
      const auto self = reinterpret_cast<std::uintptr_t>(this);
      makecontext(&f.context, reinterpret_cast<void (*)()>(&world::trampoline), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
    }
    swapcontext(&main_, &f.context);
    return !f.finished;
  }
  bool finished(unsigned i) const { return fibers_[i]->finished; }
  /// Called before every access of a variable.
  void yield() { swapcontext(&fibers_[current_]->context, &main_); }

  cells memory;

 private:
  struct fiber {
    std::function<void()> body;
    ucontext_t context{};
    std::array<char, stack_bytes> stack;
    bool started = false;
    bool finished = false;
  };
  static void trampoline(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<world*>(static_cast<std::uintptr_t>(high) << 32 | low);
    fiber& mine = *self->fibers_[self->current_];
    mine.body();
    mine.finished = true;
  }

  std::vector<std::unique_ptr<fiber>> fibers_;
  ucontext_t main_{};
  unsigned current_ = 0;
};

inline gate_detail::word cells::word() {
  world_.yield();
  return word_;
}
inline bool cells::cas_word(gate_detail::word expected, gate_detail::word desired) {
  world_.yield();
  if (word_ != expected) return false;
  word_ = desired;
  return true;
}
inline state cells::state_of(unsigned i) {
  world_.yield();
  return states_[i];
}
inline bool cells::cas_state(unsigned i, state expected, state desired) {
  world_.yield();
  if (states_[i] != expected || fault_ == fault::nobody_helps) return false;
  states_[i] = desired;
  return true;
}
inline void cells::set_state(unsigned i, state s) {
  world_.yield();
  states_[i] = s;
}
inline std::uint64_t cells::order_of(unsigned i) {
  world_.yield();
  return orders_[i];
}
inline void cells::set_order(unsigned i, std::uint64_t order) {
  world_.yield();
  orders_[i] = order;
}
inline limit cells::size() {
  world_.yield();
  return size_;
}
inline bool cells::cas_size(limit expected, limit desired) {
  world_.yield();
  if (size_.bits != expected.bits) return false;
  size_ = desired;
  return true;
}
inline overtaken cells::passed() {
  world_.yield();
  return passed_;
}
inline bool cells::cas_passed(overtaken expected, overtaken desired) {
  world_.yield();
  if (passed_.bits != expected.bits) return false;
  passed_ = desired;
  return true;
}
inline slot_owner cells::slot(int j) {
  world_.yield();
  return slots_[static_cast<std::size_t>(j)];
}
inline bool cells::cas_slot(int j, slot_owner expected, slot_owner desired) {
  world_.yield();
  slot_owner& there = slots_[static_cast<std::size_t>(j)];
  if (there.bits != expected.bits) return false;
  there = desired;
  return true;
}
inline bool cells::alive(unsigned i) {
  world_.yield();
  return alive_[i] && fault_ != fault::living_seem_dead;
}
inline state cells::peek_state(unsigned i) const {
  return word_.subject() == i ? effect(word_.operation(), states_[i]) : states_[i];
}
inline int cells::permits_inside() const {
  int inside = 0;
  for (unsigned i = 0; i < members_; ++i)
    if (peek_state(i).where() == kind::in) inside += peek_state(i).weight();
  return inside;
}
inline bool cells::sound() const {
  bool waiting = false;
  for (unsigned i = 0; i < members_; ++i) waiting |= peek_state(i).where() == kind::waits;
  return word_.free() + permits_inside() == k() && word_.waiting() == waiting;
}

}  // namespace kgate::explored
