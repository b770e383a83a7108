// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The gate between processes as an algorithm over a machine: the text of gate_protocol.hpp, with a variable for each
/// of its cells.
///
/// Source       this project; what ships is that text over a mapped file (src/gate/cells.hpp)
/// Promises     k-exclusion, FIFO from the moment a process is queued, starvation freedom with at most k-1 crashes at
///              any step; any number of deaths, which the others can find out about, lose nothing. The remote
///              references of a wait are unbounded here, where the kernel is one variable for all.
///              Primitives: compare-and-swap. Space: 2N + k + 5 words.
/// Variables    as in gate_protocol.hpp; kernel: which process has the lock behind each member's number (initially i
///              has i's), the members' bells, and which sleep
/// Invariants   G1-G10 and G12 of gate_protocol.hpp
/// Deviations   none. Numbers of operations and passages grow: exploring needs a limit on passages. The bells are in
///              one
///              variable with the kernel's part, so that a sleeper can wait for both; N is at most 6 for that reason.
/// Memory model sequential consistency
/// Evidence     tests/gate/lab (scripts of all operations with deaths, exhaustively; mutants)

#include <array>
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
         std::to_string(w.free()) + (w.waiting() ? " waiting" : "") + (w.closed() ? " closed" : "") + " #" +
         std::to_string(w.seq());
}
inline std::string to_string(state s) {
  static constexpr const char* names[] = {"out", "waits", "in", "acts", "calls"};
  return std::string(names[static_cast<int>(s.where())]) + " w" + std::to_string(s.weight()) + " #" +
         std::to_string(s.passage());
}
inline std::string to_string(limit k) {
  return std::to_string(k.slots()) + (k.paused() ? " paused #" : " #") + std::to_string(k.seq());
}
inline std::string to_string(overtaken o) { return std::to_string(o.count()) + " #" + std::to_string(o.seq()); }
inline std::string to_string(call_count n) {
  return std::to_string(n.calls()) + ", " + std::to_string(n.pending()) + " pending";
}
inline std::string to_string(slot_owner s) {
  return s.taken() ? "member " + std::to_string(s.member()) : std::string("free");
}

inline std::string to_string(link l) {
  const auto name = [](unsigned i) { return i == no_member ? std::string("-") : std::to_string(i); };
  return name(l.before()) + " " + name(l.behind()) + " #" + std::to_string(l.seq());
}

/// What a member sleeps on. `sleeps` is the kernel's part: it is in the system call, and only a wake-up ends that.
struct bell {
  bool rung = false, asleep = false, listens = false, sleeps = false;

  constexpr unsigned packed() const {
    return unsigned{rung} | unsigned{asleep} << 1 | unsigned{listens} << 2 | unsigned{sleeps} << 3;
  }
  static constexpr bell of(unsigned bits) {
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
  }
};

/// Processes, as bits; the last is one that is no more.
struct process_mask {
  unsigned bits = 0;
  constexpr void add(unsigned process) { bits |= 1U << process; }
};

/// What the kernel knows, and the members' bells: which holds the lock behind each number (four bits each, 15 if none
/// does), each bell (four bits), which processes are dead, and which members are going to end inside (gate_doze.hpp).
struct kernel_part {
  std::uint64_t bits = 0;

  static constexpr unsigned nobody = 15;
  static constexpr unsigned members_max = 6;
  static constexpr kernel_part first(unsigned members, unsigned held) {
    kernel_part all{};
    for (unsigned i = 0; i < members_max; ++i) all = all.with(i, i < members && i < held ? i : nobody);
    return all;
  }
  constexpr unsigned holder(unsigned i) const { return static_cast<unsigned>(bits >> (4 * i) & 15); }
  constexpr kernel_part with(unsigned i, unsigned holder) const {
    return {(bits & ~(std::uint64_t{15} << (4 * i))) | std::uint64_t{holder} << (4 * i)};
  }
  constexpr bell bell_of(unsigned i) const { return bell::of(static_cast<unsigned>(bits >> (24 + 4 * i) & 15)); }
  constexpr kernel_part with(unsigned i, bell b) const {
    return {(bits & ~(std::uint64_t{15} << (24 + 4 * i))) | std::uint64_t{b.packed()} << (24 + 4 * i)};
  }
  /// What the kernel makes of it when process p dies.
  constexpr kernel_part without(unsigned p) const {
    kernel_part left = *this;
    for (unsigned i = 0; i < members_max; ++i)
      if (left.holder(i) == p) left = left.with(i, nobody);
    left.bits |= std::uint64_t{1} << (48 + p);
    return left;
  }
  constexpr bool ends(unsigned i) const { return (bits >> (56 + i) & 1) != 0; }
  constexpr kernel_part with_end(unsigned i, bool ends) const {
    return {(bits & ~(std::uint64_t{1} << (56 + i))) | std::uint64_t{ends} << (56 + i)};
  }
  constexpr bool any_dead(process_mask among) const {
    return (among.bits >> nobody & 1) != 0 || (among.bits & (bits >> 48)) != 0;
  }
  friend constexpr bool operator==(kernel_part, kernel_part) = default;
};
inline std::string to_string(kernel_part k) {
  std::string text;
  for (unsigned i = 0; i < 4; ++i) {
    const bell b = k.bell_of(i);
    text += k.holder(i) == kernel_part::nobody ? std::string("-") : std::to_string(k.holder(i));
    text += std::string(b.rung ? "r" : "") + (b.asleep ? "a" : "") + (b.listens ? "l" : "") + (b.sleeps ? "s" : "");
    text += ' ';
  }
  return text;
}

/// Where a gate begins: with none, or as the first members leave it that entered or were queued one after the other.
/// Member 0 is inside with all permits, the others wait for `weights` of them.
struct arrival {
  std::array<int, kernel_part::members_max> weights{};
  unsigned members = 0;

  word after(int k) const {
    word w = word{}.next(op::none, 0, k, false);
    if (members > 0) w = w.next(op::enter, 0, 0, false);
    for (unsigned i = 1; i < members; ++i) w = w.next(op::enqueue, i, 0, true);
    return w;
  }
  state state_of(unsigned i) const {
    if (i >= members) return {};
    return state{}.with_weight(weights[i]).at(i == 0 ? kind::in : kind::waits);
  }
  /// The seq of the operation that queued member i.
  static std::uint32_t seq_of(unsigned i) { return i + 2; }
  link link_of(unsigned i) const {
    if (i == 0 || i >= members) return {};
    const bool last = i + 1 == members;
    return link::of(i == 1 ? no_member : i - 1, last ? no_member : i + 1, seq_of(last ? i : i + 1));
  }
  link queue() const { return members < 2 ? link{} : link::of(1, members - 1, seq_of(members - 1)); }
};

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
  machine_cells(Memory& memory, unsigned members, int k_max, int k, unsigned held, unsigned overtakings_max = 0,
                unsigned calls_max = 0, const arrival& first = {})
      : overtakings(overtakings_max),
        calls_most(calls_max),
        W(memory, {.name = "W"}, first.after(k)),
        K(memory, {.name = "K"}, limit::of(k, 0)),
        kernel(memory, {.name = "kernel"}, kernel_part::first(members, held)),
        states(members,
               [&](std::size_t i) {
                 return Var<state>(memory, {.name = "state", .instance = static_cast<int>(i)},
                                   first.state_of(static_cast<unsigned>(i)));
               }),
        links(members,
              [&](std::size_t i) {
                return Var<link>(memory, {.name = "L", .instance = static_cast<int>(i)},
                                 first.link_of(static_cast<unsigned>(i)));
              }),
        Q(memory, {.name = "Q"}, first.queue()),
        slots(static_cast<std::size_t>(k_max),
              [&](std::size_t j) {
                return Var<slot_owner>(memory, {.name = "slot", .instance = static_cast<int>(j)}, slot_owner{});
              }),
        passed(memory, {.name = "passed"}, overtaken{}),
        calls(memory, {.name = "C"}, call_count{}),
        woken(memory, {.name = "woken"}, 0) {}

  const unsigned overtakings;  ///< b
  const unsigned calls_most;   ///< T
  Var<word> W;
  Var<limit> K;
  Var<kernel_part> kernel;
  fixed_array<Var<state>> states;
  fixed_array<Var<link>> links;
  Var<link> Q;
  fixed_array<Var<slot_owner>> slots;
  Var<overtaken> passed;
  Var<call_count> calls;
  Var<std::uint32_t> woken;
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
  static constexpr int tries_max = 2;
  bool update_word(detail::gates::word& expected, detail::gates::word desired) {
    const detail::gates::word was =
        s_.W.rmw(p_["W?="], [expected, desired](detail::gates::word w) { return w == expected ? desired : w; });
    const bool done = was == expected;
    expected = was;
    return done;
  }
  static void back_off(int) {}
  state state_of(unsigned i) { return s_.states[i].read(p_["state"]); }
  bool cas_state(unsigned i, state expected, state desired) {
    return s_.states[i].compare_and_swap(p_["state?"], expected, desired);
  }
  void set_state(unsigned i, state s) { s_.states[i].write(p_["state:="], s); }
  link queue() { return s_.Q.read(p_["Q"]); }
  bool cas_queue(link expected, link desired) { return s_.Q.compare_and_swap(p_["Q:="], expected, desired); }
  link link_of(unsigned i) { return s_.links[i].read(p_["L"]); }
  bool cas_link(unsigned i, link expected, link desired) {
    return s_.links[i].compare_and_swap(p_["L:="], expected, desired);
  }
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
  call_count calls() { return s_.calls.read(p_["C"]); }
  bool cas_calls(call_count expected, call_count desired) {
    return s_.calls.compare_and_swap(p_["C:="], expected, desired);
  }
  call_count add_call() {
    const call_count before =
        s_.calls.rmw(p_["C+1"], [](call_count n) { return call_count{n.bits + call_count::one}; });
    return {before.bits + call_count::one};
  }
  unsigned calls_most() const { return s_.calls_most; }
  bool looks_at_calls(state out) const { return s_.calls_most > 0 && (s_.overtakings == 0 || out.passage() % 2 == 0); }
  unsigned members() const { return static_cast<unsigned>(s_.states.size()); }
  bool alive(unsigned i) {
    return kernel_step("alive", unchanged, [i](kernel_part all) { return all.holder(i) != kernel_part::nobody; });
  }
  bool grantable(unsigned i) { return alive(i); }
  void healed(unsigned) {}

  using watch_set = process_mask;
  /// The process that is member i now.
  void watch(process_mask& set, unsigned i) {
    set.add(kernel_step("watch", unchanged, [i](kernel_part all) { return all.holder(i); }));
  }
  bool is_asleep(unsigned i) {
    return kernel_step("asleep", unchanged, [i](kernel_part all) { return all.bell_of(i).asleep; });
  }
  std::uint32_t woken() { return s_.woken.read(p_["woken"]); }
  void set_woken(std::uint32_t seq) { s_.woken.write(p_["woken:="], seq); }
  void alert(unsigned i) {
    if (kernel_step("listens", unchanged, [i](kernel_part all) { return all.bell_of(i).listens; })) ring(i);
  }
  void ring(unsigned i) {
    const bool asleep = kernel_step(
        "ring",
        [i](kernel_part all) {
          bell b = all.bell_of(i);
          b.rung = true;
          return all.with(i, b);
        },
        [i](kernel_part all) { return all.bell_of(i).asleep; });
    if (!asleep) return;
    kernel_step(
        "futex wake",
        [i](kernel_part all) {
          bell b = all.bell_of(i);
          b.sleeps = false;
          return all.with(i, b);
        },
        nothing);
  }
  void listen(unsigned i) {
    kernel_step(
        "listen", [i](kernel_part all) { return all.with(i, bell{.listens = true}); }, nothing);
  }
  bool fall_asleep(unsigned i) {
    return kernel_step(
        "fall asleep",
        [i](kernel_part all) {
          bell b = all.bell_of(i);
          b.asleep = !b.rung;
          return all.with(i, b);
        },
        [i](kernel_part all) { return !all.bell_of(i).rung; });
  }
  /// What the system call does: it sleeps only if it was not rung.
  bool sleep(unsigned i, process_mask watched) {
    if (gives_up) return false;
    const bool sleeps = kernel_step(
        "futex wait",
        [i](kernel_part all) {
          bell b = all.bell_of(i);
          b.sleeps = !b.rung;
          return all.with(i, b);
        },
        [i](kernel_part all) { return !all.bell_of(i).rung; });
    if (!sleeps) return true;
    s_.kernel.await(p_["sleep"],
                    [i, watched](kernel_part all) { return !all.bell_of(i).sleeps || all.any_dead(watched); });
    return true;
  }
  bool gives_up = false;  ///< instead of sleeping

  bool lock(unsigned i) {
    return kernel_step(
        "lock",
        [i, me = self()](kernel_part all) {
          return all.holder(i) == kernel_part::nobody ? all.with(i, me).with(i, bell{}).with_end(i, false) : all;
        },
        [i](kernel_part all) { return all.holder(i) == kernel_part::nobody; });
  }
  void unlock(unsigned i) {
    kernel_step(
        "unlock", [i](kernel_part all) { return all.with(i, kernel_part::nobody); }, nothing);
  }

  /// No participant scribbles here.
  struct retries {
    void again() const {}
  };

  /// `location` tells the calls in the protocol's text apart, which are one call here.
  template <class... T>
  void live(int location, const T&... values) {
    if (depth_ == 0)
      p_.live(location, values..., context_);
    else
      p_.live(location, values...);
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

 protected:
  static constexpr auto unchanged = [](kernel_part all) { return all; };
  static constexpr auto nothing = [](kernel_part) { return false; };
  /// One step of which only part of what it finds is observed, on a machine that can tell.
  template <class F, class Part>
  auto kernel_step(const char* label, F&& f, Part&& part) {
    if constexpr (requires { s_.kernel.rmw_seeing(p_, f, part); })
      return s_.kernel.rmw_seeing(p_[label], f, part);
    else
      return part(s_.kernel.rmw(p_[label], f));
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

/// What the catalogue lists: passages of one permit each, by the long way. Calls are not counted (T = 0 in G12), which
/// would multiply the states; the scripts of tests/gate/lab explore that, and the short paths.
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
    const std::uint32_t number = gate.call(i, mine);
    p.live(mine.bits, number);
    const outcome result = gate.request(i, mine, number, became);
    p.doorway_end();
    private_variables.mine = mine.at(kind::in);
    if (result == outcome::queued) gate.wait(i);
    p.live(private_variables.mine.bits);
  }

  void release(Process& p, Private& private_variables) {
    using namespace detail::gates;
    const std::uint64_t context = private_variables.mine.bits;
    cells_of<M, std::uint64_t> c(cells_, p, context);
    protocol<cells_of<M, std::uint64_t>> gate(c);
    word became{};
    gate.leave(static_cast<unsigned>(p.id().value), private_variables.mine, became);
    p.live(became.bits);
    if (became.waiting()) gate.hand_over(became);
  }

 private:
  detail::gates::machine_cells<M> cells_;
};

}  // namespace kgate
