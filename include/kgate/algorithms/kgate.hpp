// SPDX-License-Identifier: Apache-2.0
#pragma once

/// k-exclusion by one packed word: one read-modify-write to enter and one to leave when nobody waits, a first-come
/// first-enabled line with a wake-up word per place when somebody does.
///
/// Source       this project. The passive admission is that of Fischer, Lynch, Burns & Borodin 1979 (C6), the local grants are
///              in the spirit of Anderson & Moir 1997.
/// Promises     k-exclusion, starvation freedom with at most k-1 crashes at any step, bounded exit, FIFO enabling (b = 0) or
///              at most b overtakings of a waiting process (b > 0, C4' of the same paper). Waiting can be given up. A process
///              may take several permits at once: it stands in line for all of them and nobody passes it (head-of-line).
///              2 remote references a passage alone on CC. Primitives: fetch-and-add, compare-and-swap. Space: R + 2 words.
/// Variables    W     (E, C)    E: tickets below E are admitted. C: bias - S, where S = free permits less those asked for in
///                              vain; the next ticket is E - S                                    initially S = k
///              G[i]  (t, s)    the wake-up word of the tickets i, i + R, i + 2R ...              initially ticket i, idle
///              Q     (M, c, a, l) only if b > 0: l loose permits, which anybody may take; a processes in line done spinning;
///                              c permits let loose since the phase began, at ticket M            initially (E, 0, 0, 0)
/// Invariants   K1  |inside| + |admitted and not inside| + free + l = k: W alone decides who is admitted, whoever stalls or dies
///              K2  a drawn ticket t that has not entered is waiting iff it is in [E, E - S), else admitted
///              K3  who sleeps on G[t] wrote (t, waiting) there before it looked at W; who moved E past t did so before it looked
///                  at G[t]: one of the two sees the other
///              K4  a place given up is (t, abandoned) until somebody moves it to (t, idle): that process, and no other, passes
///                  its permit on
///              K5  a phase lets at most 3b/8 permits loose and ends when all who waited at its start are admitted
/// Doorway      up to the ticket. A process that finds no permit free and nobody awake in line hands the ticket back and hovers a
///              bounded while before it draws for good: meanwhile it is not in line, and whoever comes may take what gets free
/// Deviations   none. Limits: tickets wrap. A process that stalls between two of its statements while the others draw exactly
///              2^ticket_bits tickets may mistake its place for a new one.
/// Memory model sequential consistency; K3 needs it
/// Evidence     tests/semaphore: model_test (all promises at N=3 k=1,2 and N=4 k=2,3, tickets wrapping, giving up, b = 2, mutants,
///              remote references), stress_test and misuse_test on real threads

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kgate/core/fixed_array.hpp"
#include "kgate/core/machine.hpp"
#include "kgate/core/waiting.hpp"

namespace kgate {

/// How W, G and Q are packed. The tickets fill the word, so that they wrap by themselves.
template <class Word = std::uint64_t, class Cell = std::uint32_t, int CountBits = 24>
struct gate_layout {
  using word = Word;
  using cell = Cell;
  static constexpr int ticket_bits = std::numeric_limits<word>::digits - CountBits;
  static constexpr int tag_bits = std::numeric_limits<cell>::digits - 3;

  /// Whether a sleeper looks at W from time to time. Without it waiting is local in the strict sense, and a leaver that dies
  /// before its grant can leave a waiter asleep for ever: for study.
  static constexpr bool looks_around = true;

  static constexpr word one_ticket = static_cast<word>(word{1} << CountBits);
  static constexpr word count_mask = static_cast<word>(one_ticket - 1);
  static constexpr word bias = static_cast<word>(word{1} << (CountBits - 1));
  static constexpr word ticket_mask = static_cast<word>(static_cast<word>(~word{0}) >> CountBits);
  /// The most permits, and the most places in line.
  static constexpr word permits_max = static_cast<word>(bias - 1);

  static constexpr word wrapped(word t) { return static_cast<word>(t & ticket_mask); }
  static constexpr word E(word v) { return static_cast<word>(v >> CountBits); }
  static constexpr word C(word v) { return static_cast<word>(v & count_mask); }
  static constexpr word next_ticket(word v) { return wrapped(static_cast<word>(E(v) + C(v) - bias)); }
  static constexpr word make(word first, word k) {
    return static_cast<word>(first << CountBits) | static_cast<word>(bias - k);
  }
  /// What to add to W to hand back n permits: n more tickets admitted, n fewer outstanding.
  static constexpr word handing_back(word n) { return static_cast<word>(n * static_cast<word>(one_ticket - 1)); }
  /// Asked for in vain: how many tickets wait.
  static constexpr word in_line(word v) { return C(v) > bias ? static_cast<word>(C(v) - bias) : word{0}; }
  static constexpr word free(word v) { return C(v) < bias ? static_cast<word>(bias - C(v)) : word{0}; }
  /// Whether w permits are free: C + w <= bias, asked of one bit.
  static constexpr bool had_free(word v, word w) { return ((v + w - 1) & bias) == 0; }
  /// How many tickets are to be admitted before t is.
  static constexpr word ahead(word v, word t) { return wrapped(static_cast<word>(t - E(v))); }
  static constexpr bool waits(word v, word t) { return ahead(v, t) < in_line(v); }
};

/// The states of a place in line.
enum class place : unsigned char {
  idle,       ///< nobody sleeps here: the process is on its way, or inside, or gone
  waiting,    ///< its process sleeps, or is about to
  due,        ///< the same, and it was nudged before in vain: the next permit is for it
  granted,    ///< woken because it was admitted
  nudged,     ///< woken because there are loose permits, but not running yet
  abandoned,  ///< given up; whoever admits it passes the permit on
};

template <class M, int b = 0, class L = gate_layout<>>
class ticket_gate {
 public:
  using Process = typename M::Process;
  using layout = L;
  using word = typename L::word;
  using cell = typename L::cell;
  using WordVar = typename M::template Var<word>;
  using CellVar = typename M::template Var<cell>;
  static_assert(b >= 0 && b <= 40000);

  /// What W held when the tickets were drawn, and how many were.
  struct Private {
    word old = 0;
    word w = 1;
    int given_up = 0;  ///< how often it gave up its place in this passage
    /// The last of the tickets: when it is admitted, all are.
    word t() const { return L::wrapped(static_cast<word>(L::next_ticket(old) + w - 1)); }
  };

  /// N: how many places in line have a wake-up word of their own. More may wait; those beyond look at W from time to time.
  /// `first` is the first ticket: tests start near the wrap.
  ticket_gate(typename M::Memory& memory, int N, int k, word first = 0)
      : R(std::bit_ceil(static_cast<std::size_t>(std::max(N, 2)))),
        W(memory, {.name = "W"}, L::make(L::wrapped(first), static_cast<word>(k))),
        G(R, [&](std::size_t i) { return CellVar(memory, {.name = "G", .instance = static_cast<int>(i)}, cell{0}); }),
        Q(memory, quota::make(0, L::wrapped(first), 0, 0)) {}

  void acquire(Process& p, Private& mine) {
    if (!enter(p, mine, 1)) [[unlikely]]
      wait(p, mine);
    p.live();
  }
  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    leave(p, 1);
  }

  /// Draws w tickets. True: inside. False: wait() next.
  bool enter(Process& p, Private& mine, word w) {
    if (somebody_asleep(p)) [[unlikely]]
      return enter_past_sleepers(p, mine, w);
    noted<M>(p, event::arrival);
    const word old = draw_tickets(p, w);
    if (!L::had_free(old, w)) [[unlikely]]
      return enter_drawn(p, mine, old, w);
    p.doorway_end();
    return true;
  }
  /// enter() in steps, for callers that keep the usual case short. First: if somebody sleeps, enter_past_sleepers does it all.
  bool somebody_asleep([[maybe_unused]] Process& p) {
    if constexpr (b > 0) return quota::somebody_asleep(Q.v.read(p["0q"]));
    return false;
  }
  /// Second: W as it was. Inside if w permits were free, else enter_drawn() next.
  word draw_tickets(Process& p, word w) { return W.fetch_add(p["1"], w); }
  /// Third. A ticket that does not admit at once is handed back, if nobody else is in line, and the process hovers first.
  bool enter_drawn(Process& p, Private& mine, word old, word w) {
    mine.w = w;
    mine.old = old;
    if (w == 1 && L::in_line(old) == 0 && W.compare_and_swap(p["1u"], static_cast<word>(old + 1), old))
      return enter_past_sleepers(p, mine, 1);
    p.doorway_end();
    return false;
  }
  /// Looks for a permit before it draws a ticket.
  [[gnu::noinline]] bool enter_past_sleepers(Process& p, Private& mine, word w) {
    mine.w = w;
    if (w == 1 && hover(p)) {
      p.doorway_end();
      return true;
    }
    noted<M>(p, event::arrival);
    mine.old = W.fetch_add(p["1v"], w);
    p.doorway_end();
    return L::had_free(mine.old, w);
  }

  /// As enter, but draws only if there is a place with a wake-up word, so that it can be given up. Never inside at once
  /// unless w permits are free.
  enum class draw : unsigned char { inside, in_line, no_place };
  draw enter_if_place(Process& p, Private& mine, word w) {
    for (;;) {
      if constexpr (b > 0) {
        if (w == 1 && quota::loose(Q.v.read(p["0"])) > 0 && take_loose(p)) return draw::inside;
      }
      const word seen = W.read(p["1r"]);
      if (L::C(seen) + w > L::bias + R) return draw::no_place;
      if (!W.compare_and_swap(p["1"], seen, static_cast<word>(seen + w))) continue;
      p.doorway_end();
      mine.old = seen;
      mine.w = w;
      return L::had_free(seen, w) ? draw::inside : draw::in_line;
    }
  }

  /// Takes w permits if they are free now.
  bool try_enter(Process& p, word w) {
    for (;;) {
      const word seen = W.read(p["1r"]);
      if (!L::had_free(seen, w)) break;
      if (W.compare_and_swap(p["1"], seen, static_cast<word>(seen + w))) return true;
    }
    if constexpr (b > 0) return w == 1 && take_loose(p);
    return false;
  }

  void wait(Process& p, Private& mine) {
    wait(p, mine, [] { return false; });
  }
  /// In line until admitted: true. False: the process was impatient, and its places and permits are given up.
  template <class Impatient>
  bool wait(Process& p, Private& mine, Impatient&& impatient) {
    if constexpr (b > 0) {
      const word seen = watch_line(p, mine.t());
      if (!L::waits(seen, mine.t())) return true;
      Q.v.fetch_add(p["2a"], quota::one_asleep);
      const bool inside = stand_in_line(p, mine, impatient);
      Q.v.fetch_add(p["7a"], static_cast<word>(word{0} - quota::one_asleep));
      return inside;
    } else {
      return stand_in_line(p, mine, impatient);
    }
  }

 private:
  /// W, seen now or after a while of spinning for ticket t.
  word watch_line(Process& p, word t) {
    return watch<M>(
        p["2"], W, [t](word v) { return !L::waits(v, t); },
        [t](word v) {
          return standing{static_cast<std::size_t>(L::ahead(v, t)), static_cast<std::size_t>(L::in_line(v))};
        });
  }
  template <class Impatient>
  bool stand_in_line(Process& p, Private& mine, Impatient& impatient) {
    const word t = mine.t();
    CellVar& own = at(t);
    place as = place::waiting;
    for (;;) {
      p.live(t, mine.given_up, as);
      word seen = watch_line(p, t);
      if (!L::waits(seen, t)) return true;
      if (L::ahead(seen, t) >= R) {
        nap<M>(p);
        continue;
      }
      if (!put(p, t, as)) continue;
      seen = W.read(p["5"]);  // K3
      if (!L::waits(seen, t)) break;
      if constexpr (b > 0) {
        if (quota::loose(Q.v.read(p["5q"])) > 0) hand_back_loose(p);
      }
      if (impatient()) return !give_up(p, mine);
      rest(p, own, t, as);
      if constexpr (b > 0) {
        if (own.compare_and_swap(p["7"], mark(t, place::nudged), mark(t, place::idle))) {
          if (!be_ready(p, t)) return true;
          as = place::due;
        }
      }
    }
    if constexpr (b > 0) own.compare_and_swap(p["7"], mark(t, as), mark(t, place::idle));
    return true;
  }

 public:
  void leave(Process& p, word n) {
    if constexpr (b > 0) {
      if (n == 1 && let_loose(p)) return;
    }
    hand_back(p, n);
  }

  /// Instead of waiting for the first in line to wake up, leaves the permit to whoever comes first. The first in line is
  /// nudged, and admitted as soon as it runs.
  bool let_loose(Process& p) {
    if (!quota::somebody_asleep(Q.v.read(p["23q"]))) [[likely]]
      return false;
    const word seen = W.read(p["23"]);
    if (L::in_line(seen) == 0) return false;
    if (!drowsy(p["24"], L::E(seen))) return false;
    const word old = Q.v.rmw(p["25"], [seen](word q) { return quota::with_one_loose(q, seen); });
    if (quota::with_one_loose(old, seen) == old) return false;
    make_use_of_loose(p);
    return true;
  }

  /// Hands n permits back, first of all to those in line.
  void hand_back(Process& p, word n) {
    const word old = put_back(p, n);
    if (L::C(old) > L::bias) [[unlikely]]
      admit(p, old, n);
  }
  /// The two halves of hand_back, for callers that look at W's old value: admit() must follow if somebody was in line.
  word put_back(Process& p, word n) { return W.fetch_add(p["8"], L::handing_back(n)); }

  /// After W went from `old` to n more admitted: wakes those, and passes on what was given up.
  [[gnu::noinline]] void admit(Process& p, word old, word n) {
    for (;;) {
      word passed = 0;
      const word count = std::min(n, L::in_line(old));
      for (word i = 0; i < count; ++i)
        passed = static_cast<word>(passed + grant(p, L::wrapped(static_cast<word>(L::E(old) + i))));
      if (passed == 0) break;
      n = passed;
      old = W.fetch_add(p["11"], L::handing_back(n));
    }
    if constexpr (b > 0) {
      if (quota::loose(Q.v.read(p["12"])) > 0) make_use_of_loose(p);
    }
  }

  /// Takes n permits out of use, free ones first. Those inside stay; until as many have left, nobody is admitted.
  void withdraw(Process& p, word n) {
    if constexpr (b > 0) {
      const word seen = W.read(p["13r"]);
      const word old = Q.v.rmw(p["13q"], [seen, n](word q) {
        const word rest = static_cast<word>(quota::loose(q) - std::min(quota::loose(q), n));
        return quota::make(q, L::next_ticket(seen), quota::spent_max, rest);
      });
      n = static_cast<word>(n - std::min(quota::loose(old), n));
      if (n == 0) return;
    }
    W.fetch_add(p["13"], static_cast<word>(word{0} - L::handing_back(n)));
  }

  /// Both words of the moment, for those who watch.
  word look(Process& p) { return W.read(p["W"]); }
  word loose(Process& p) {
    if constexpr (b > 0) return quota::loose(Q.v.read(p["Q"]));
    return 0;
  }
  /// True if a process sleeps or is about to on ticket t.
  bool sleeps(Process& p, word t) { return drowsy(p, t) || at(t).read(p["G"]) == mark(t, place::due); }
  /// Ends the sleep of ticket t, so that its process looks around.
  void interrupt(Process& p, word t) {
    for (const place as : {place::waiting, place::due})
      if (at(t).compare_and_swap(p["14"], mark(t, as), mark(t, place::idle))) wake<M>(at(t));
  }

 private:
  /// Q's fields, from the right: loose, asleep, spent, begun.
  struct quota {
    static constexpr int digits = std::numeric_limits<word>::digits;
    static constexpr int bits = digits >= 64 ? 12 : digits / 5, spent_bits = digits >= 64 ? 14 : digits / 5;
    static constexpr word loose_mask = static_cast<word>((word{1} << bits) - 1);
    static constexpr word asleep_mask = static_cast<word>(loose_mask << bits);
    static constexpr word one_asleep = static_cast<word>(word{1} << bits);
    static constexpr word spent_max = static_cast<word>((word{1} << spent_bits) - 1);
    static constexpr int begun_at = 2 * bits + spent_bits;
    static constexpr word begun_mask = static_cast<word>(static_cast<word>(~word{0}) >> begun_at);
    /// How many permits a phase may let loose.
    static constexpr word phase = static_cast<word>(std::max(1, 3 * b / 8));
    static_assert(phase <= spent_max);

    static constexpr word loose(word q) { return static_cast<word>(q & loose_mask); }
    static constexpr word spent(word q) { return static_cast<word>((q >> (2 * bits)) & spent_max); }
    static constexpr word begun(word q) { return static_cast<word>(q >> begun_at); }
    static constexpr bool somebody_asleep(word q) { return (q & asleep_mask) != 0; }
    /// q with other values for all but the sleepers.
    static constexpr word make(word q, word begun, word spent, word loose) {
      return static_cast<word>(static_cast<word>(begun << begun_at) | static_cast<word>(spent << (2 * bits)) |
                               static_cast<word>(q & asleep_mask) | loose);
    }
    /// Q with one more permit let loose, or unchanged if the phase has none left: K5. `seen` is a value of W.
    static constexpr word with_one_loose(word q, word seen) {
      if (loose(q) == loose_mask) return q;
      if (spent(q) < phase) return make(q, begun(q), static_cast<word>(spent(q) + 1), static_cast<word>(loose(q) + 1));
      const word since = static_cast<word>((L::E(seen) - begun(q)) & begun_mask);
      if (since > begun_mask / 2) return q;
      return make(q, L::next_ticket(seen), 1, static_cast<word>(loose(q) + 1));
    }
  };
  struct no_quota {
    no_quota(typename M::Memory&, word) {}
  };
  struct quota_variable {
    quota_variable(typename M::Memory& memory, word initial) : v(memory, {.name = "Q"}, initial) {}
    WordVar v;
  };

  /// How many may leave before a hovering process draws its ticket.
  static constexpr word passes_max = static_cast<word>(b > 0 ? b / 4 : std::min<word>(64, L::ticket_mask / 4));

  CellVar& at(word t) { return G[static_cast<std::size_t>(t) & (R - 1)]; }
  cell mark(word t, place s) const {
    return static_cast<cell>(static_cast<cell>(static_cast<cell>(t >> std::countr_zero(R)) << 3) |
                             static_cast<cell>(s));
  }
  static place state(cell c) { return static_cast<place>(c & 7); }

  /// Writes (t, s) into the word of t. False: look at W again first. An abandoned place of an earlier ticket, admitted since
  /// and not yet passed on by the leaver that admitted it, is passed on here (K4).
  bool put(Process& p, word t, place s) {
    CellVar& own = at(t);
    const cell c = own.read(p["3"]);
    const cell mine = mark(t, s);
    if (c == mine) return true;
    const bool inherited = state(c) == place::abandoned && c != mark(t, place::abandoned);
    if (inherited && still_in_line(p, t, c)) {
      nap<M>(p);
      return false;
    }
    if (!own.compare_and_swap(p["4"], c, mine)) return false;
    if (inherited) hand_back(p, 1);
    return true;
  }
  /// Whether the ticket that left c in the word of t is still waiting. Only after withdraw() can it be: then tickets R apart
  /// may wait at once.
  bool still_in_line(Process& p, word t, cell c) {
    const word seen = W.read(p["3w"]);
    const word u = static_cast<word>(static_cast<word>(word{c} >> 3) * R + (t & (R - 1)));
    const word known = static_cast<word>(
        L::ticket_mask & static_cast<word>((word{mark(L::ticket_mask, place::idle)} >> 3) * R | (R - 1)));
    return static_cast<word>((u - L::E(seen)) & known) < L::in_line(seen);
  }

  /// Sleeps until its word changes; looks at W (and Q) all the same, rarely: a leaver may die before its grant.
  void rest(Process& p, CellVar& own, word t, place as) {
    const cell mine = mark(t, as);
    if constexpr (SleepingMachine<M>) {
      M::sleep(p["6"], own, mine);
    } else if constexpr (!L::looks_around) {
      own.await(p["6"], [mine](cell c) { return c != mine; });
    } else {
      const auto any = [&](std::size_t i) -> WordVar& {
        if constexpr (b > 0) return i == 0 ? own : i == 1 ? W : Q.v;
        return i == 0 ? own : W;
      };
      M::await_any(p["6"], b > 0 ? 3 : 2, any, [&](std::size_t i, word v) {
        return i == 0 ? v != mine : i == 1 ? !L::waits(v, t) : quota::loose(v) > 0;
      });
    }
  }

  /// Wakes the process with ticket u. 1 if the place was given up and this call is to pass its permit on, else 0. One look is
  /// enough: whoever changes its word after we moved E looks at W next (K3).
  word grant(Process& p, word u) {
    CellVar& g = at(u);
    const cell c = g.read(p["9"]);
    if (c == mark(u, place::waiting) || c == mark(u, place::nudged) || c == mark(u, place::due)) {
      noted_admission<M>(p, u);
      if (g.compare_and_swap(p["10"], c, mark(u, place::granted))) wake<M>(g);
      return 0;
    }
    if (c != mark(u, place::abandoned)) return 0;
    if (L::waits(W.read(p["9w"]), u)) return 0;
    return g.compare_and_swap(p["10"], c, mark(u, place::idle)) ? 1 : 0;
  }

  /// Gives the places up. False if all permits were there after all: the process is inside.
  [[gnu::noinline]] bool give_up(Process& p, Private& mine) {
    const word t = mine.t();
    ++mine.given_up;
    for (;;) {
      const word seen = W.read(p["15"]);
      if (!L::waits(seen, t)) return false;
      if (L::next_ticket(seen) != L::wrapped(static_cast<word>(t + 1))) break;
      const word undrawn =
          std::min(mine.w, static_cast<word>(L::ahead(seen, t) + 1));  // last in line: hand the tickets back
      if (!W.compare_and_swap(p["16"], seen, static_cast<word>(seen - undrawn))) continue;
      if (mine.w > undrawn) hand_back(p, static_cast<word>(mine.w - undrawn));
      look_after_loose(p);
      return true;
    }
    while (!put(p, t, place::abandoned)) {
      if (!L::waits(W.read(p["17"]), t)) return false;
    }
    if (!L::waits(W.read(p["18"]), t) && reclaim(p, t)) return false;
    for (word i = mine.w; i-- > 1;) give_up_one(p, L::wrapped(static_cast<word>(t - i)));
    look_after_loose(p);
    return true;
  }
  void give_up_one(Process& p, word u) {
    while (L::waits(W.read(p["19"]), u)) {
      if (!put(p, u, place::abandoned)) continue;
      if (L::waits(W.read(p["20"]), u) || !reclaim(p, u)) return;
      break;
    }
    hand_back(p, 1);
  }
  bool reclaim(Process& p, word u) {
    return at(u).compare_and_swap(p["21"], mark(u, place::abandoned), mark(u, place::idle));
  }

  /// Looks for a permit a while before it draws a ticket: a thread that runs can use one at once. Gives way when enough have
  /// left meanwhile, and where nobody may be overtaken, when somebody is in line.
  [[gnu::noinline]] bool hover(Process& p) {
    spinner<M> spin(p);
    word first = 0;
    bool looked = false;
    for (int gap = 1;; looked = true, gap = std::min(2 * gap, 32)) {  // every look takes the word away from its user
      if constexpr (b > 0) {
        if (quota::loose(Q.v.read(p["31"])) > 0 && take_loose(p)) return spin.won();
      }
      const word seen = W.read(p["32"]);
      if (!looked) first = L::E(seen);
      if (L::had_free(seen, 1)) {
        if (W.compare_and_swap(p["33"], seen, static_cast<word>(seen + 1))) return spin.won();
      } else if (L::in_line(seen) > 0 && !somebody_asleep(p)) {
        return false;
      }
      if (L::wrapped(static_cast<word>(L::E(seen) - first)) > passes_max || !spin.again(gap)) return false;
    }
  }

  // What follows is for b > 0 only: permits let loose while the first in line sleeps.

  /// Asleep, and not yet nudged in vain.
  bool drowsy(Process& p, word t) {
    const cell c = at(t).read(p["G"]);
    return c == mark(t, place::waiting) || c == mark(t, place::nudged);
  }

  /// Nudged and running: now leavers hand over at once. True if there was nothing to be had for a while.
  bool be_ready(Process& p, word t) {
    hand_back_loose(p);
    for (spinner<M> spin(p);;) {
      if (!L::waits(W.read(p["35"]), t)) {
        spin.won();
        return false;
      }
      if (!spin.again()) return true;
    }
  }

  bool take_loose(Process& p) {
    const word old = Q.v.rmw(p["22"], [](word q) { return quota::loose(q) > 0 ? static_cast<word>(q - 1) : q; });
    if (quota::loose(old) == 0) return false;
    noted<M>(p, event::overtaking);
    return true;
  }

  /// There are loose permits: sees to it that somebody awake knows.
  void make_use_of_loose(Process& p) {
    const word seen = W.read(p["26"]);
    if (L::in_line(seen) == 0) return;
    const word u = L::E(seen);
    const cell c = at(u).read(p["27"]);
    if (c == mark(u, place::waiting) && at(u).compare_and_swap(p["28"], c, mark(u, place::nudged))) {
      wake<M>(at(u));
      return;
    }
    if (c != mark(u, place::nudged)) hand_back_loose(p);
  }
  /// Turns a loose permit into the admission of the first in line.
  void hand_back_loose(Process& p) {
    const word old = Q.v.rmw(p["29"], [](word q) { return quota::loose(q) > 0 ? static_cast<word>(q - 1) : q; });
    if (quota::loose(old) > 0) hand_back(p, 1);
  }
  void look_after_loose(Process& p) {
    if constexpr (b > 0) {
      if (quota::loose(Q.v.read(p["30"])) > 0) make_use_of_loose(p);
    }
  }

  std::size_t R;
  WordVar W;
  fixed_array<CellVar> G;
  [[no_unique_address]] std::conditional_t<(b > 0), quota_variable, no_quota> Q;
};

/// What the catalogue lists: FIFO, with words that every machine can wait for.
template <class M>
using kgate_fifo = ticket_gate<M, 0, gate_layout<std::uint64_t, std::uint64_t>>;

}  // namespace kgate
