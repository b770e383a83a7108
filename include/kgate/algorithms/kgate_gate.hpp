// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The gate between processes as an algorithm over a machine: the text of gate_protocol.hpp, with a variable for each
/// of its cells.
///
/// Source       this project; what ships is that text over a mapped file (src/gate/cells.hpp)
/// Promises     k-exclusion, FIFO from the moment a process is queued, starvation freedom with at most k-1 crashes at
///              any step; any number of deaths, which the others can find out about, lose nothing. Waiting is by
///              looking again; the remote references of a wait are unbounded here, where a machine has nothing to sleep
///              on. Primitives: compare-and-swap. Space: 2N + k + 2 words.
/// Variables    as in gate_protocol.hpp; locks: which process has the lock behind each member's number   initially i
///              has i's
/// Invariants   G1-G8 of gate_protocol.hpp
/// Deviations   none. Numbers of operations and passages grow: exploring needs a limit on passages.
/// Memory model sequential consistency
/// Evidence     tests/gate/lab (scripts of all operations with deaths, exhaustively; mutants)

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kgate/algorithms/gate_protocol.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

namespace detail::gates {

inline std::string to_string(word w) {
  static constexpr const char* names[] = {"none", "enter", "enqueue", "grant", "leave", "abandon", "resize", "retired"};
  return std::string(names[static_cast<int>(w.operation())]) + " " + std::to_string(w.subject()) + " free " +
         std::to_string(w.free()) + (w.waiting() ? " waiting" : "") + " #" + std::to_string(w.seq());
}
inline std::string to_string(state s) {
  static constexpr const char* names[] = {"out", "waits", "in"};
  return std::string(names[static_cast<int>(s.where())]) + " w" + std::to_string(s.weight()) + " #" +
         std::to_string(s.passage());
}
inline std::string to_string(limit k) {
  return std::to_string(k.slots()) + (k.paused() ? " paused #" : " #") + std::to_string(k.seq());
}
inline std::string to_string(overtaken o) { return std::to_string(o.count()) + " #" + std::to_string(o.seq()); }
inline std::string to_string(slot_owner s) {
  return s.taken() ? "member " + std::to_string(s.member()) : std::string("free");
}

/// Who holds the lock behind each number: four bits each, 15 if nobody does.
struct lock_holders {
  std::uint64_t bits = 0;

  static constexpr unsigned nobody = 15;
  static constexpr lock_holders first(unsigned members, unsigned held) {
    lock_holders all{};
    for (unsigned i = 0; i < members; ++i) all = all.with(i, i < held ? i : nobody);
    return all;
  }
  constexpr unsigned holder(unsigned i) const { return static_cast<unsigned>(bits >> (4 * i) & 15); }
  constexpr lock_holders with(unsigned i, unsigned holder) const {
    return {(bits & ~(std::uint64_t{15} << (4 * i))) | std::uint64_t{holder} << (4 * i)};
  }
  /// What the kernel makes of them when process p dies.
  constexpr lock_holders without(unsigned p) const {
    lock_holders left = *this;
    for (unsigned i = 0; i < 16; ++i)
      if (left.holder(i) == p) left = left.with(i, nobody);
    return left;
  }
  friend constexpr bool operator==(lock_holders, lock_holders) = default;
};
inline std::string to_string(lock_holders locks) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i)
    text += locks.holder(i) == lock_holders::nobody ? std::string("-") : std::to_string(locks.holder(i));
  return text;
}

/// The cells of a gate as variables of a machine, shared by all processes.
template <class M>
class machine_cells {
 public:
  using Memory = typename M::Memory;
  using Process = typename M::Process;
  template <class T>
  using Var = typename M::template Var<T>;

  /// A gate of k slots, and never more than k_max, with `members` numbers, the first `held` of which belong to the
  /// processes of the same number.
  machine_cells(Memory& memory, unsigned members, int k_max, int k, unsigned held, unsigned overtakings_max = 0)
      : overtakings(overtakings_max),
        W(memory, {.name = "W"}, word{}.next(op::none, 0, k, false)),
        K(memory, {.name = "K"}, limit::of(k, 0)),
        locks(memory, {.name = "locks"}, lock_holders::first(members, held)),
        states(members,
               [&](std::size_t i) {
                 return Var<state>(memory, {.name = "state", .instance = static_cast<int>(i)}, state{});
               }),
        orders(members,
               [&](std::size_t i) {
                 return Var<std::uint64_t>(memory, {.name = "order", .instance = static_cast<int>(i)},
                                           std::uint64_t{0});
               }),
        slots(static_cast<std::size_t>(k_max),
              [&](std::size_t j) {
                return Var<slot_owner>(memory, {.name = "slot", .instance = static_cast<int>(j)}, slot_owner{});
              }),
        passed(memory, {.name = "passed"}, overtaken{}) {}

  const unsigned overtakings;  ///< b
  Var<word> W;
  Var<limit> K;
  Var<lock_holders> locks;
  fixed_array<Var<state>> states;
  fixed_array<Var<std::uint64_t>> orders;
  fixed_array<Var<slot_owner>> slots;
  Var<overtaken> passed;
};

/// What the protocol runs on: the cells as one process reaches them. `Context` is what the caller needs after an
/// operation besides its result; it is part of the local state throughout.
template <class M, class Context>
class cells_of {
 public:
  using Process = typename M::Process;

  cells_of(machine_cells<M>& cells, Process& p, const Context& context) : s_(cells), p_(p), context_(context) {}

  detail::gates::word word() { return s_.W.read(p_["W"]); }
  bool cas_word(detail::gates::word expected, detail::gates::word desired) {
    return s_.W.compare_and_swap(p_["W:="], expected, desired);
  }
  state state_of(unsigned i) { return s_.states[i].read(p_["state"]); }
  bool cas_state(unsigned i, state expected, state desired) {
    return s_.states[i].compare_and_swap(p_["state?"], expected, desired);
  }
  void set_state(unsigned i, state s) { s_.states[i].write(p_["state:="], s); }
  std::uint64_t order_of(unsigned i) { return s_.orders[i].read(p_["order"]); }
  void set_order(unsigned i, std::uint64_t order) { s_.orders[i].write(p_["order:="], order); }
  limit size() { return s_.K.read(p_["K"]); }
  bool cas_size(limit expected, limit desired) { return s_.K.compare_and_swap(p_["K:="], expected, desired); }
  slot_owner slot(int j) { return s_.slots[static_cast<std::size_t>(j)].read(p_["slot"]); }
  bool cas_slot(int j, slot_owner expected, slot_owner desired) {
    return s_.slots[static_cast<std::size_t>(j)].compare_and_swap(p_["slot:="], expected, desired);
  }
  overtaken passed() { return s_.passed.read(p_["passed"]); }
  bool cas_passed(overtaken expected, overtaken desired) {
    return s_.passed.compare_and_swap(p_["passed:="], expected, desired);
  }
  unsigned overtakings() const { return s_.overtakings; }
  unsigned members() const { return static_cast<unsigned>(s_.states.size()); }
  bool alive(unsigned i) {
    bool is = false;
    s_.locks.rmw(p_["alive"], [&](lock_holders all) {
      is = all.holder(i) != lock_holders::nobody;
      return all;
    });
    return is;
  }
  bool grantable(unsigned i) { return alive(i); }
  void wake(unsigned) {}
  void nudge(unsigned) {}
  void healed(unsigned) {}

  bool lock(unsigned i) {
    const lock_holders before = s_.locks.rmw(p_["lock"], [&, me = self()](lock_holders all) {
      return all.holder(i) == lock_holders::nobody ? all.with(i, me) : all;
    });
    return before.holder(i) == lock_holders::nobody;
  }
  void unlock(unsigned i) {
    s_.locks.rmw(p_["unlock"], [i](lock_holders all) { return all.with(i, lock_holders::nobody); });
  }

  /// `place` tells the calls in the protocol's text apart, which are one call here.
  template <class... T>
  void live(int place, const T&... values) {
    if (depth_ == 0)
      p_.live(place, values..., context_);
    else
      p_.live(place, values...);
  }
  template <class F>
  auto call(F&& f) {
    using result = decltype(f());
    if constexpr (std::is_void_v<result>) {
      [[maybe_unused]] auto frame = p_.frame();
      const depth deeper(depth_);
      f();
    } else {
      const result r = [&] {
        [[maybe_unused]] auto frame = p_.frame();
        const depth deeper(depth_);
        return f();
      }();
      remember(r);
      return r;
    }
  }

 private:
  struct depth {
    explicit depth(int& d) : d_(d) { ++d_; }
    depth(const depth&) = delete;
    depth& operator=(const depth&) = delete;
    ~depth() { --d_; }
    int& d_;
  };
  unsigned self() const { return static_cast<unsigned>(p_.id().value); }
  /// Makes the result of a call part of the local state, on a machine that has to know.
  template <class T>
  void remember(const T& r) {
    if constexpr (requires { p_.observed(0U); }) {
      static_assert(std::is_trivially_copyable_v<T>);
      const auto* bytes = reinterpret_cast<const unsigned char*>(&r);
      for (std::size_t i = 0; i < sizeof r; ++i) p_.observed(bytes[i]);
    }
  }

  machine_cells<M>& s_;
  Process& p_;
  const Context& context_;
  int depth_ = 0;
};

}  // namespace detail::gates

/// What the catalogue lists: passages of one permit each.
template <class M>
class kgate_gate {
 public:
  using Process = typename M::Process;
  struct Private {
    detail::gates::state mine{};
  };

  kgate_gate(typename M::Memory& memory, int N, int k)
      : cells_(memory, static_cast<unsigned>(N), k, k, static_cast<unsigned>(N)) {}

  void acquire(Process& p, Private& private_variables) {
    using namespace detail::gates;
    const auto i = static_cast<unsigned>(p.id().value);
    state mine = cells_.states[i].read(p["own"]).at(kind::out).with_weight(1);
    const std::uint64_t& context = mine.bits;
    cells_of<M, std::uint64_t> c(cells_, p, context);
    protocol<cells_of<M, std::uint64_t>> gate(c);
    word became{};
    const outcome result = gate.request(i, mine, true, became);
    p.doorway_end();
    private_variables.mine = mine.at(kind::in);
    if (result == outcome::queued) {
      do {
        c.live(21);
        gate.heal_predecessors(i);
        c.live(22);
      } while (c.state_of(i).where() == kind::waits);
    }
    p.live(private_variables.mine.bits);
  }

  void release(Process& p, Private& private_variables) {
    using namespace detail::gates;
    const std::uint64_t context = private_variables.mine.bits;
    cells_of<M, std::uint64_t> c(cells_, p, context);
    protocol<cells_of<M, std::uint64_t>> gate(c);
    word became{};
    gate.leave(static_cast<unsigned>(p.id().value), private_variables.mine, became);
    const bool waiting = became.waiting();
    p.live(waiting);
    if (waiting) gate.hand_over();
  }

 private:
  detail::gates::machine_cells<M> cells_;
};

}  // namespace kgate
