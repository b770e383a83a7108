// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tickets, and a ring of slots in which a leaver, by O(log k) writes, lets in its partner and the k tickets before it.
///
/// Source       Choi 2011, section 2. One text for `choi11`, `choi11-amortized` (section 3.7.5) and the printed
///              version, which has errors and is kept for study: they differ in `reading` only. `choi11-compact` is
///              ours: the paper's space with a correct proof.
/// Promises     k-exclusion, starvation freedom with at most k-1 crashes, FIFE, bounded exit. O(log k) remote
///              references a passage on CC if a failed CAS disturbs none (smart cache); with the amortized size O(log
///              k) amortized on any CC; unbounded on DSM. Primitives: fetch-and-increment, CAS. Space: N + 2 words;
///              that is at most n + k + 1 in `choi11-compact`, as the paper has it, and 3k + 2 or more in `choi11`.
/// Variables    Entry    tickets drawn                                        initially 0
///              Exit     passages that left their critical section            initially 0
///              A[i][j]  the round up to which slot j of block i is let in    initially 1 in block 0, else 0
/// Invariants   En(t) means: some w in Wait-Set(j) has A[i][w] >= e, where [e,i,j] = parse(t)
///              I2   En(t)  =>  t < Exit + k                                  (k-exclusion)
///              I4   t < Exit  =>  En(t)
///              I5   Exit > u + ck  =>  the last slot of u's block has u's round or a later one
///              I6   a CAS that makes the second update of a slot fail raises the slot far enough
///              I11  En(t) and t' < t  =>  En(t')                             (FIFE)
/// Deviations   D1, D2  the wait sets: see choi11_sets.hpp. As printed a waiter can starve.
///              D3  N = k max(3, ceil(n/k)). The proof of I6 takes t' < Exit where O5 only gives t' < Exit + k, so it
///                  needs N >= 3k. As printed (N = 2k for k < n <= 2k) a waiter can starve when k >= 3.
///              D4  parse rounds down, as lemma 2 needs; as printed it rounds up.
///              D5  line 8 tests a < e before it reads Exit, which saves the read when the test fails.
///              D6  with n <= k none waits and nothing is written.
///              D1-D4 can be switched back (reading).
///              D7  choi11-compact keeps N = k max(2, ceil(n/k)) and tests Exit <= u + ck with c = 1 where the paper
///                  has c = 2. I5 needs ck >= k-1: the last ticket of u's block is at most u+k-1, and I4 applies. I6
///                  needs N >= (c+1)k: a CAS that spoils p's second update has read Exit after p's line 3, so
///                  t' - k < Exit <= u' + ck with u' <= u - N <= t' - N (docs/errata.md has the argument in full).
///              D8  choi11-wrapping (section 4, whose text the paper does not have): tickets modulo 4N, rounds modulo
///                  4. Right only while none is asleep between its line 1 and its last line for N - k exits of
///                  others; so line 8, which is about longer sleeps, tests no Exit. docs/errata.md has the argument,
///                  and what goes wrong without that bound, or with the test.
///              D9  choi11-linear: after Decker & Jayanti 2010, which the paper improves on. Its section 2.1 only says
///                  that each leaver enables a corresponding k processes in order; which k is Choi's: its partner and
///                  the k tickets before that, one by one. Their own text is not at hand; this one is Choi's with the
///                  smallest wait sets. O(k) remote references.
/// Memory model sequential consistency; all writes are read-modify-writes
/// Evidence     tests/algorithms/choi11: sets, properties, mutants, the printed errors, remote references;
///              tests/algorithms/native (stress)

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kgate/algorithms/choi11_sets.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::choi11 {

using ticket = std::uint64_t;

/// How the paper is read; the default is the reading that works on a smart cache.
struct reading {
  set_reading sets = {};
  int blocks_min = 3;       ///< D3; 1 as printed
  int window = 2;           ///< line 8 tests Exit <= u + window k; 2 as printed, 1 in the compact one (D7), 0: no test
  bool rounds_down = true;  ///< D4; false as printed
  bool updates_twice = true;  ///< lines 5 and 6; false: line 5 only
  bool ascending = true;      ///< line 4; false: descending
  bool amortized = false;     ///< N = kn / log k, for caches in which a failed CAS disturbs one spinning on the slot
  bool linear = false;        ///< D9: a waiter watches its own slot only, and a leaver writes all k + 1
  unsigned rounds = 0;        ///< D8: rounds are counted modulo this, and compared around the circle; 0: not
  unsigned first = 0;         ///< the first ticket; 0 but in tests of what happens where rounds wrap
};

/// The number of blocks of k slots, N/k.
constexpr int blocks(int n, int k, reading how) {
  const int log_k = std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(k))) - 1);
  const int share = how.amortized ? log_k : k;
  return std::max(how.blocks_min, (n + share - 1) / share);
}

template <class M, reading How = reading{}>
class algorithm {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  algorithm(typename M::Memory& memory, int processes, int inside_max)
      : n(processes),
        k(static_cast<ticket>(inside_max)),
        N(k * static_cast<ticket>(blocks(n, inside_max, How))),
        Entry(memory, {.name = "Entry"}, How.first),
        Exit(memory, {.name = "Exit"}, How.first),
        A(static_cast<std::size_t>(N), [&](std::size_t slot) {
          const ticket last = How.first + k - 1;  // let in at the start
          return Word(memory, {.name = "A", .instance = static_cast<int>(slot)},
                      wrapped_round(last / N + (slot <= last % N ? 1 : 0)));
        }) {}

  void acquire(Process& p, Private&) {
    if (nobody_waits()) return;  // D6
    [[maybe_unused]] auto frame = p.frame();
    const ticket t = next(Entry, p["1"]);
    p.doorway_end();
    p.live(t);
    const position at = parse(t);
    slot_set W;
    if constexpr (How.linear)
      W.add(at.j);
    else
      W = wait_set(at.j, static_cast<int>(k), How.sets);
    M::await_any(
        p["2"], W.size(), [&](std::size_t w) -> Word& { return A[at.i * k + static_cast<std::size_t>(W[w])]; },
        [&](std::size_t, ticket a) { return reached(a, at.e); });
  }

  void release(Process& p, Private&) {
    if (nobody_waits()) return;  // D6
    [[maybe_unused]] auto frame = p.frame();
    const ticket t = wrapped(next(Exit, p["3"]) + k);  // the paper's t'
    const ticket j = t % k;                            // the paper's j'
    const slot_set R = release_set(static_cast<int>(j), static_cast<int>(k), How.sets);
    const std::size_t members = How.linear ? k + 1 : R.size() + 1;  // and -1: the last slot of the block before
    for (std::size_t step = 0; step < members; ++step) {
      const std::size_t member = How.ascending ? step : members - 1 - step;  // 4
      const ticket u = How.linear    ? before(t, k - member)
                       : member == 0 ? before(t - j, 1)
                                     : t - j + static_cast<ticket>(R[member - 1]);
      p.live(t, step);
      update(p, u, "5.7", "5.8", "5.9");
      if constexpr (How.updates_twice) {
        p.live(t, step);
        update(p, u, "6.7", "6.8", "6.9");  // I6
      }
    }
  }

  bool has_invariant() const { return !nobody_waits() && How.rounds == 0 && How.first == 0; }
  /// I1 to I4, I11 and observation O4, which speak of shared variables and labels; the others, of private variables,
  /// are what these are proved with. Empty, or which one is false.
  template <class State>
  const char* broken_invariant(const State& s) const {
    const ticket entry = s.value(Entry), exit = s.value(Exit);
    const auto inside = static_cast<ticket>(s.count(region::critical));
    if (entry != exit + inside + static_cast<ticket>(s.count(region::entry))) return "I1 is false";
    if (inside > k) return "I3 is false";
    bool one_before = true;
    ticket all_enabled = 0;
    for (ticket t = 0; t < exit + k + 2 * N; ++t) {
      const bool now = is_enabled(s, t);
      if (now && t >= exit + k) return "I2 is false";
      if (!now && t < exit) return "I4 is false";
      if (now && !one_before) return "I11 is false";
      one_before = now;
      all_enabled += now ? 1 : 0;
    }
    return exit + inside > all_enabled ? "O4 is false" : "";
  }

 private:
  using Word = typename M::template Var<ticket>;
  struct position {
    ticket e;
    std::size_t i;
    int j;
  };

  void update(Process& p, ticket u, const char* line7, const char* line8, const char* line9) {
    [[maybe_unused]] auto frame = p.frame();
    const position at = parse(u);
    Word& slot = A[at.i * k + static_cast<std::size_t>(at.j)];
    const ticket a = slot.read(p[line7]);
    if (!reached(a, at.e) && is_recent(p[line8], u)) {  // D5
      p.live(a);
      slot.compare_and_swap(p[line9], a, at.e);
    }
  }

  /// Line 8: no process that has been asleep since long ago writes.
  bool is_recent(Process& p, ticket u) {
    if constexpr (How.window == 0) return true;
    const ticket until = u + ticket{How.window} * k;  // D7
    const ticket now = Exit.read(p);
    if constexpr (How.rounds == 0) return now <= until;
    return wrapped(until + tickets() - now) < tickets() / 2;
  }

  /// Numbers that wrap, where they do (D8).
  ticket tickets() const { return ticket{How.rounds} * N; }
  ticket wrapped(ticket t) const { return How.rounds == 0 ? t : t % tickets(); }
  static ticket wrapped_round(ticket e) { return How.rounds == 0 ? e : e % How.rounds; }
  ticket before(ticket t, ticket by) const { return How.rounds == 0 ? t - by : wrapped(t + tickets() - by); }
  static bool reached(ticket a, ticket e) {
    if constexpr (How.rounds == 0) return a >= e;
    return wrapped_round(a + How.rounds - e) < How.rounds / 2;
  }
  ticket next(Word& counter, Process& p) {
    if constexpr (How.rounds == 0) return counter.fetch_add(p, 1);
    return counter.rmw(p, [this](ticket t) { return wrapped(t + 1); });
  }

  position parse(ticket t) const {
    const ticket f = t % N;
    if constexpr (How.rounds_down)
      return {wrapped_round(t / N + 1), static_cast<std::size_t>(f / k), static_cast<int>(t % k)};
    else  // the printed ceilings reach one block too far; wrapped, so that they can be tried at all
      return {(t + N - 1) / N + 1, static_cast<std::size_t>((f + k - 1) / k % (N / k)), static_cast<int>(t % k)};
  }

  /// Whether the round of ticket t has come to one of the slots that it waits on.
  template <class State>
  bool is_enabled(const State& s, ticket t) const {
    const int j = static_cast<int>(t % k);
    slot_set W;
    if constexpr (How.linear)
      W.add(j);
    else
      W = wait_set(j, static_cast<int>(k));
    for (std::size_t w = 0; w < W.size(); ++w)
      if (s.value(A[t % N / k * k + static_cast<std::size_t>(W[w])]) >= t / N + 1) return true;
    return false;
  }

  bool nobody_waits() const { return static_cast<ticket>(n) <= k; }

  const int n;
  const ticket k;
  const ticket N;
  Word Entry;
  Word Exit;
  fixed_array<Word> A;
};

template <class M>
using corrected = algorithm<M>;

template <class M>
using amortized = algorithm<M, reading{.amortized = true}>;

/// The paper's space: what D3 adds is saved by a narrower test.
template <class M>
using compact = algorithm<M, reading{.blocks_min = 2, .window = 1}>;

/// Decker & Jayanti's way, reconstructed: see D9.
template <class M>
using linear = algorithm<M, reading{.linear = true}>;

/// All variables bounded, for sleeps that are: see D8.
template <class M>
using wrapping = algorithm<M, reading{.window = 0, .rounds = 4}>;

/// The two errors of the printed text together. Its ceilings and its pattern length are slips that the paper itself
/// contradicts (lemma 2, figure 3), so they are readings of their own.
template <class M>
using as_printed = algorithm<M, reading{.sets = {.waits_on_own_slot = false}, .blocks_min = 1}>;

/// One departure each.
template <class M>
using printed_waits = algorithm<M, reading{.sets = {.waits_on_own_slot = false}}>;
template <class M>
using printed_blocks = algorithm<M, reading{.blocks_min = 1}>;
template <class M>
using printed_rounding = algorithm<M, reading{.rounds_down = false}>;
template <class M>
using printed_patterns = algorithm<M, reading{.sets = {.full_length = false}}>;
template <class M>
using one_update = algorithm<M, reading{.updates_twice = false}>;
template <class M>
using descending = algorithm<M, reading{.ascending = false}>;

}  // namespace kgate::choi11
