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
///              Q     (e, c, f, a, l) only if b > 0: l loose permits, which anybody may take; a processes in line done
///                              spinning; f: whether a withdrawal has stopped letting loose; c permits let loose in the
///                              epoch e                                                           initially all 0
///              F               only if b > 0: the ticket that ends such a stop                   initially 0
/// Invariants   K1  |inside| + |admitted and not inside| + free + l = k: W alone decides who is admitted, whoever stalls or dies
///              K2  a drawn ticket t that has not entered is waiting iff it is in [E, E - S), else admitted
///              K3  who sleeps on G[t] wrote (t, waiting) there before it looked at W; who moved E past t did so before it looked
///                  at G[t]: one of the two sees the other. Who needs the word for t + R first wakes who sleeps there for t
///              K4  a place given up is (t, abandoned) until somebody moves it to (t, idle): that process, and no other, passes
///                  its permit on
///              K5  an epoch lets at most c_max permits loose, and none in the epoch e while the first in line carries a stamp
///                  of e - m or before. A stamp is the epoch its process saw before it drew its ticket, so whoever is in line
///                  is passed by at most m * c_max <= b permits let loose meanwhile and by the l that were loose when it drew
/// Doorway      up to the ticket. A process that finds no permit free and nobody awake in line hands the ticket back and hovers a
///              bounded while before it draws for good: meanwhile it is not in line, and whoever comes may take what gets free
/// Deviations   none. Limits: tickets wrap. A process that stalls between two of its statements while the others draw exactly
///              2^ticket_bits tickets may mistake its place for a new one.
/// Memory model sequential consistency; K3 needs it
/// Evidence     tests/semaphore: model_test (all promises at N=3 k=1,2 and N=4 k=2,3, tickets wrapping, giving up, b = 2, mutants,
///              remote references; K3 with the kernel's way to sleep, also with fewer places than processes), overtaking_test (K5
///              counted exactly under hostile schedules), stress_test, waiting_test and misuse_test on real threads

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kgate/algorithms/kgate_layout.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/waiting/waiting.hpp"

namespace kgate {

/// The states of a place in line.
enum class place : unsigned char {
  idle,       ///< nobody sleeps here: the process is on its way, or inside, or gone
  waiting,    ///< its process sleeps, or is about to
  due,        ///< the same, and the next permit is for it: it was nudged in vain, or did not want to be passed
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
  static_assert(b == 0 || (b >= 2 && b <= 40000), "at most b overtakings: 0, or from 2 to 40000");

  /// What W held when the tickets were drawn, and how many were.
  struct Private {
    word old = 0;
    word w = 1;
    word stamp = 0;        ///< the epoch before that (K5)
    bool counted = false;  ///< among the sleepers of Q
    int given_up = 0;      ///< how often it gave up its place in this passage
    /// The last of the tickets: when it is admitted, all are.
    word t() const { return L::wrapped(static_cast<word>(L::next_ticket(old) + w - 1)); }
  };

  /// N: how many places in line have a wake-up word of their own. More may wait; those beyond look at W from time to time.
  /// `first` is the first ticket: tests start near the wrap.
  ticket_gate(typename M::Memory& memory, int N, int k, word first = 0)
      : R(std::bit_ceil(static_cast<std::size_t>(std::max(N, 2)))),
        W(memory, {.name = "W"}, L::make(L::wrapped(first), static_cast<word>(k))),
        G(R, [&](std::size_t i) { return CellVar(memory, {.name = "G", .instance = static_cast<int>(i)}, cell{0}); }),
        Q(memory, quota::make(first, 0)) {}

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
    const word before = look_before(p);
    if (somebody_asleep(before)) [[unlikely]]
      return enter_past_sleepers(p, mine, w);
    const word old = draw_tickets(p, w);
    if (!L::had_free(old, w)) [[unlikely]]
      return enter_drawn(p, mine, before, old, w);
    p.doorway_end();
    return true;
  }
  /// enter() in steps, for callers that keep the usual case short. First: Q as it was before the tickets were drawn. If somebody
  /// sleeps, enter_past_sleepers does it all.
  word look_before([[maybe_unused]] Process& p) {
    if constexpr (b > 0) return Q.v.read(p["0q"]);
    return 0;
  }
  static bool somebody_asleep([[maybe_unused]] word before) {
    if constexpr (b > 0) return quota::somebody_asleep(before);
    return false;
  }
  /// Second: W as it was. Inside if w permits were free, else enter_drawn() next.
  word draw_tickets(Process& p, word w) { return W.fetch_add(p["1"], w); }
  /// Third. A ticket that does not admit at once is handed back, if nobody else is in line, and the process hovers first.
  bool enter_drawn(Process& p, Private& mine, word before, word old, word w) {
    mine.w = w;
    mine.old = old;
    mine.stamp = quota::epoch_of(before);
    noted<M>(p, event::arrival, mine.t());
    if (w == 1 && L::in_line(old) == 0 && W.compare_and_swap(p["1u"], static_cast<word>(old + 1), old)) {
      noted<M>(p, event::no_arrival);
      return enter_past_sleepers(p, mine, 1);
    }
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
    mine.stamp = quota::epoch_of(look_before(p));
    mine.old = W.fetch_add(p["1v"], w);
    p.doorway_end();
    if (L::had_free(mine.old, w)) return true;
    noted<M>(p, event::arrival, mine.t());
    return false;
  }

  /// As enter, but draws only if there is a place with a wake-up word, so that it can be given up. Never inside at once
  /// unless w permits are free.
  enum class draw : unsigned char { inside, in_line, no_place };
  draw enter_if_place(Process& p, Private& mine, word w) {
    for (;;) {
      const word before = look_before(p);
      if constexpr (b > 0) {
        if (w == 1 && quota::loose(before) > 0 && take_loose(p)) return draw::inside;
      }
      const word seen = W.read(p["1r"]);
      if (L::C(seen) + w > L::bias + R) return draw::no_place;
      if (!W.compare_and_swap(p["1"], seen, static_cast<word>(seen + w))) continue;
      p.doorway_end();
      mine.stamp = quota::epoch_of(before);
      mine.old = seen;
      mine.w = w;
      if (L::had_free(seen, w)) return draw::inside;
      noted<M>(p, event::arrival, mine.t());
      return draw::in_line;
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
      const word q = Q.v.rmw(p["2a"], quota::with_one_asleep);
      mine.stamp = quota::short_stamp(q, mine.stamp);
      mine.counted = quota::with_one_asleep(q) != q;
      const bool inside = stand_in_line(p, mine, impatient);
      if (mine.counted) Q.v.fetch_add(p["7a"], static_cast<word>(word{0} - quota::one_asleep));
      return inside;
    } else {
      return stand_in_line(p, mine, impatient);
    }
  }

 private:
  static auto admits(word t) {
    return [t](word v) { return !L::waits(v, t); };
  }
  static auto standing_of(word t) {
    return [t](word v) {
      return standing{t, static_cast<std::size_t>(L::ahead(v, t)), static_cast<std::size_t>(L::in_line(v))};
    };
  }
  /// W, seen now or after a while of spinning for ticket t.
  word watch_line(Process& p, word t) { return watch<M>(p["2"], W, admits(t), standing_of(t)); }
  template <class Impatient>
  bool stand_in_line(Process& p, Private& mine, Impatient& impatient) {
    const word t = mine.t();
    CellVar& own = at(t);
    if (b == 0 && linger<M>(p["2l"], W, admits(t), standing_of(t))) return true;
    place as = b > 0 && !may_be_passed<M>(p, t) ? place::due : place::waiting;
    for (bool marked = false;;) {
      p.live(t, mine.given_up, mine.stamp, mine.counted, as, marked);
      if (const word seen = watch_line(p, t); !L::waits(seen, t)) {
        if (!marked) return true;
        break;
      } else if (L::ahead(seen, t) >= R) {
        nap<M>(p);
        continue;
      }
      if (!put(p, t, as, mine.stamp)) continue;
      marked = true;
      if (!L::waits(W.read(p["5"]), t)) break;  // K3
      if constexpr (b > 0) {
        if (quota::loose(Q.v.read(p["5q"])) > 0) hand_back_loose(p);
      }
      if (impatient()) return !give_up(p, mine);
      rest(p, own, t, mark(t, as, mine.stamp));
      if constexpr (b > 0) {
        if (own.compare_and_swap(p["7"], mark(t, place::nudged, mine.stamp), mark(t, place::idle))) {
          if (!be_ready(p, t)) return true;
          as = place::due;
        }
      }
    }
    // If nobody has granted it yet, nobody need.
    own.compare_and_swap(p["7"], mark(t, as, mine.stamp), mark(t, place::idle));
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
    const word q = Q.v.read(p["23q"]);
    if (!quota::somebody_asleep(q)) [[likely]]
      return false;
    return let_loose(p, q);
  }

  /// Hands n permits back, first of all to those in line.
  void hand_back(Process& p, word n) {
    const word old = put_back(p, n);
    if (L::C(old) > L::bias) [[unlikely]]
      admit(p, old, n);
  }
  /// The two halves of hand_back, for callers that look at W's old value: admit() must follow if somebody was in line.
  word put_back(Process& p, word n) {
    noted<M>(p, event::leaving);
    return W.fetch_add(p["8"], L::handing_back(n));
  }

  /// After W went from `old` to n more admitted: wakes those, and passes on what was given up.
  [[gnu::noinline]] void admit(Process& p, word old, word n) {
    for (;;) {
      word passed = 0;
      const word count = std::min(n, L::in_line(old));
      for (word i = 0; i < count; ++i)
        passed = static_cast<word>(passed + grant(p, L::wrapped(static_cast<word>(L::E(old) + i))));
      if (passed == 0) break;
      n = passed;
      noted<M>(p, event::leaving);
      old = W.fetch_add(p["11"], L::handing_back(n));
    }
    if constexpr (b > 0) {
      if (const word q = Q.v.read(p["12"]); quota::loose(q) > 0) make_use_of_loose(p, q);
    }
  }

  /// After W went from `old` to one more free, with others inside and nobody in line: every step of theirs takes W away from us
  /// and every step of ours from them. As long as many of them pass in the time of a few pauses, all get on faster if we keep
  /// away for so long.
  void keep_away(Process& p, word old) {
    if constexpr (requires { p.keep_away(old); }) {
      const word e = L::E(old);
      if (p.keep_away(e)) p.kept_away(e, L::wrapped(static_cast<word>(L::E(W.read(p["14w"])) - e - 1)));
    }
  }

  /// Takes n permits out of use, free ones first. Those inside stay; until as many have left, nobody is admitted: so none is let
  /// loose before all who have drawn a ticket by then are admitted. One at a time.
  void withdraw(Process& p, word n) {
    if constexpr (b > 0) {
      const word old = Q.v.rmw(p["13q"], [n](word q) { return quota::without_loose(q, n); });
      n = static_cast<word>(n - std::min(quota::loose(old), n));
      if (n == 0) return;
    }
    const word old = W.fetch_add(p["13"], static_cast<word>(word{0} - L::handing_back(n)));
    if constexpr (b > 0) {
      Q.until.write(p["13f"], L::next_ticket(old));
      Q.v.rmw(p["13s"], quota::with_next_stop);
    }
  }

  /// Both words of the moment, for those who watch.
  word look(Process& p) { return W.read(p["W"]); }
  word loose(Process& p) {
    if constexpr (b > 0) return quota::loose(Q.v.read(p["Q"]));
    return 0;
  }
  /// True if a process sleeps or is about to on ticket t.
  bool sleeps(Process& p, word t) {
    const cell c = at(t).read(p["G"]);
    return is(c, t, state(c)) && sleeping(c);
  }
  /// Whether somebody stands in line who has not given up.
  bool somebody_in_line(Process& p) {
    const word seen = look(p);
    for (word i = 0; i < L::in_line(seen); ++i) {
      const word t = L::wrapped(static_cast<word>(L::E(seen) + i));
      if (!is(at(t).read(p["G"]), t, place::abandoned)) return true;
    }
    return false;
  }
  /// Ends the sleep of ticket t, so that its process looks around.
  void interrupt(Process& p, word t) {
    const cell c = at(t).read(p["14r"]);
    if ((is(c, t, place::waiting) || is(c, t, place::due)) && at(t).compare_and_swap(p["14"], c, mark(t, place::idle)))
      wake_up(p, t);
  }

 protected:
  void wake_up(Process& p, word u) {
    noted<M>(p, event::waking, u);
    wake<M>(p["10w"], at(u));
  }

  /// Q's fields, from the right: loose, asleep, stops, spent, epoch.
  struct quota {
    static constexpr int digits = std::numeric_limits<word>::digits;
    static constexpr bool wide = digits >= 64;
    static constexpr int loose_bits = wide ? 10 : 3, asleep_bits = wide ? 12 : 3, stops_bits = wide ? 6 : 2;
    static constexpr int spent_bits = wide ? 12 : 3;
    static constexpr int asleep_at = loose_bits, stops_at = asleep_at + asleep_bits, spent_at = stops_at + stops_bits;
    static constexpr int epoch_at = spent_at + spent_bits;
    static constexpr word mask(int bits) { return static_cast<word>((word{1} << bits) - 1); }
    static constexpr word one_asleep = static_cast<word>(word{1} << asleep_at);
    static constexpr word one_spent = static_cast<word>(word{1} << spent_at);
    static constexpr word asleep_mask = static_cast<word>(mask(asleep_bits) << asleep_at);

    /// m: for how many epochs one in line may be passed; and how many permits are let loose in each (K5).
    static constexpr int epochs = std::clamp(b, 2, 16);
    static constexpr word spent_max = static_cast<word>(std::max(1, b / epochs * 15 / 16));
    static_assert(spent_max <= mask(spent_bits));
    /// A place has room for so many bits of the epoch. Ages are below 2m while somebody is in line.
    static constexpr int stamp_bits = b > 0 ? std::bit_width(4U * epochs - 1) : 0;

    static constexpr word loose(word q) { return static_cast<word>(q & mask(loose_bits)); }
    static constexpr word stops(word q) { return static_cast<word>((q >> stops_at) & mask(stops_bits)); }
    static constexpr word spent(word q) { return static_cast<word>((q >> spent_at) & mask(spent_bits)); }
    /// Grows with every permit let loose; at the end of an epoch by more than one.
    static constexpr word let_loose_so_far(word q) { return static_cast<word>(q >> spent_at); }
    static constexpr word epoch_of(word q) { return static_cast<word>(q >> epoch_at); }
    static constexpr word age(word q, word stamp) {
      return static_cast<word>((epoch_of(q) - stamp) & mask(digits - epoch_at));
    }
    static constexpr bool somebody_asleep(word q) { return (q & asleep_mask) != 0; }
    static constexpr word make(word epoch, word spent) {
      return static_cast<word>(static_cast<word>(epoch << epoch_at) | static_cast<word>(spent << spent_at));
    }
    /// Beyond what the field can count, sleepers go uncounted: it only says that it is worth looking.
    static constexpr word with_one_asleep(word q) {
      return (q & asleep_mask) == asleep_mask ? q : static_cast<word>(q + one_asleep);
    }
    /// What of a stamp a place keeps: an old one is as good as one of m epochs ago.
    static constexpr word short_stamp(word q, word stamp) {
      const word kept = age(q, stamp) < epochs ? stamp : static_cast<word>(epoch_of(q) - epochs);
      return static_cast<word>(kept & mask(stamp_bits));
    }
    /// q with one more permit let loose, or q itself if that may not be while one with this stamp is first in line: K5.
    static constexpr word with_one_loose(word q, word stamp) {
      if (stopped(q) != stop::none || loose(q) == mask(loose_bits)) return q;
      const word next = spent(q) < spent_max
                            ? static_cast<word>(q + one_spent)
                            : static_cast<word>((q & (one_spent - 1)) | make(static_cast<word>(epoch_of(q) + 1), 1));
      if ((age(next, stamp) & mask(stamp_bits)) >= static_cast<word>(epochs)) return q;
      return static_cast<word>(next + 1);
    }
    /// The number of stops goes up in threes: not stopped, stopped and F not known yet, stopped until F. It goes on from stop to
    /// stop, so that one is not mistaken for another.
    enum class stop : unsigned char { none, withdrawing, until_F };
    static constexpr stop stopped(word q) { return static_cast<stop>(stops(q) % 3); }
    static constexpr word with_next_stop(word q) {
      constexpr word cycle = static_cast<word>(mask(stops_bits) / 3 * 3);
      const word next = static_cast<word>((stops(q) + 1) % cycle);
      return static_cast<word>((q & ~(mask(stops_bits) << stops_at)) | (next << stops_at));
    }
    /// q with n fewer loose; if these are not enough, with none, and letting loose is stopped.
    static constexpr word without_loose(word q, word n) {
      if (loose(q) >= n) return static_cast<word>(q - n);
      const word none = static_cast<word>(q - loose(q));
      return stopped(q) == stop::withdrawing ? none
             : stopped(q) == stop::none      ? with_next_stop(none)
                                             : with_next_stop(with_next_stop(none));
    }
  };
  struct no_quota {
    no_quota(typename M::Memory&, word) {}
  };
  struct quota_variable {
    quota_variable(typename M::Memory& memory, word initial)
        : v(memory, {.name = "Q"}, initial), until(memory, {.name = "F"}, 0) {}
    WordVar v, until;
  };

 private:
  /// How many may leave before a hovering process draws its ticket.
  static constexpr word passes_max = static_cast<word>(b > 0 ? b / 4 : std::min<word>(64, L::ticket_mask / 4));

 protected:
  CellVar& at(word t) { return G[static_cast<std::size_t>(t) & (R - 1)]; }
  /// A place in line from the right: its state, a stamp (K5), and what of the ticket is not known from where it is.
  static constexpr int tag_at = 3 + quota::stamp_bits;
  cell mark(word t, place s, word stamp = 0) const {
    return static_cast<cell>(static_cast<cell>(static_cast<cell>(t >> std::countr_zero(R)) << tag_at) |
                             static_cast<cell>(static_cast<cell>(stamp << 3) | static_cast<cell>(s)));
  }

 private:
  static place state(cell c) { return static_cast<place>(c & 7); }
  static cell with_state(cell c, place s) { return static_cast<cell>((c & ~cell{7}) | static_cast<cell>(s)); }
  static word stamp_of(cell c) { return static_cast<word>((c >> 3) & quota::mask(quota::stamp_bits)); }
  bool is(cell c, word t, place s) const { return c == mark(t, s, stamp_of(c)); }

  /// Writes (t, s) into the word of t. False: look at W again first. What an earlier ticket left there, admitted since and not seen
  /// yet by the leaver that admitted it, is seen to here: a sleeper is woken (K3), an abandoned place passed on (K4).
  bool put(Process& p, word t, place s, word stamp = 0) {
    CellVar& own = at(t);
    const cell c = own.read(p["3"]);
    const cell mine = mark(t, s, stamp);
    if (c == mine) return true;
    if (is(c, t, place::granted) && !L::waits(W.read(p["3g"]), t)) return false;
    const bool inherited = !is(c, t, state(c)) && (state(c) == place::abandoned || sleeping(c));
    if (inherited && still_in_line(p, t, c)) {
      nap<M>(p);
      return false;
    }
    if (inherited && sleeping(c)) {
      if (own.compare_and_swap(p["4g"], c, with_state(c, place::granted))) wake_up(p, L::wrapped(t + after(t, t, c)));
      return false;
    }
    if (!own.compare_and_swap(p["4"], c, mine)) return false;
    if (inherited) hand_back(p, 1);
    return true;
  }
  static bool sleeping(cell c) {
    return state(c) == place::waiting || state(c) == place::due || state(c) == place::nudged;
  }
  /// How many tickets after v the one is that left c in the word of t; as far as a place can tell.
  word after(word v, word t, cell c) const {
    const word tags = static_cast<word>(word{mark(L::ticket_mask, place::idle)} >> tag_at);
    const word known = static_cast<word>(L::ticket_mask & static_cast<word>(tags * R | (R - 1)));
    const word u = static_cast<word>(static_cast<word>(word{c} >> tag_at) * R + (t & (R - 1)));
    return static_cast<word>((u - v) & known);
  }
  /// Whether that ticket is still waiting. Only after withdraw() can it be: then tickets R apart may wait at once.
  bool still_in_line(Process& p, word t, cell c) {
    const word seen = W.read(p["3w"]);
    return after(L::E(seen), t, c) < L::in_line(seen);
  }

  /// Sleeps until its word changes; looks at W (and Q) all the same, rarely: a leaver may die before its grant.
  void rest(Process& p, CellVar& own, word t, cell mine) {
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
    noted<M>(p, event::admission, u);
    const cell c = g.read(p["9"]);
    if (is(c, u, state(c)) && sleeping(c)) {
      if (g.compare_and_swap(p["10"], c, with_state(c, place::granted))) wake_up(p, u);
      return 0;
    }
    if (!is(c, u, place::abandoned)) return 0;
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
    word seen = 0;
    if (take_any(p, seen)) return true;
    const word first = L::E(seen);
    spinner<M> spin(p);
    for (int gap = 1; spin.again(gap); gap = std::min(2 * gap, 32)) {  // every look takes the word away from its user
      if (take_any(p, seen)) return spin.won();
      if (L::in_line(seen) > 0 && (!somebody_asleep(look_before(p)) || !passing_pays(p, seen))) break;
      if (L::wrapped(static_cast<word>(L::E(seen) - first)) > passes_max) break;
    }
    return false;
  }
  /// Whether those who come now, with W as seen, may hope to pass the ones in line.
  bool passing_pays(Process& p, word seen) { return may_be_passed<M>(p, L::next_ticket(seen)); }
  /// Takes a permit if there is one, loose or free; `seen` is W as it was.
  bool take_any(Process& p, word& seen) {
    if constexpr (b > 0) {
      if (quota::loose(Q.v.read(p["31"])) > 0 && take_loose(p)) return true;
    }
    seen = W.read(p["32"]);
    return L::had_free(seen, 1) && W.compare_and_swap(p["33"], seen, static_cast<word>(seen + 1));
  }

  // What follows is for b > 0 only: permits let loose while the first in line sleeps.

  /// q is Q as it was: what is seen now counts for its epoch only.
  [[gnu::noinline]] bool let_loose(Process& p, word q) {
    const word seen = W.read(p["23"]);
    if (L::in_line(seen) == 0) return false;
    if (quota::stopped(q) != quota::stop::none) [[unlikely]] {
      end_stop(p, q, seen);
      return false;
    }
    const word u = L::E(seen);
    const cell c = at(u).read(p["24"]);
    if (!is(c, u, place::waiting) && !is(c, u, place::nudged)) return false;
    const auto one_more = [q, stamp = stamp_of(c)](word now) {
      return quota::epoch_of(now) == quota::epoch_of(q) ? quota::with_one_loose(now, stamp) : now;
    };
    const word old = Q.v.rmw(p["25"], one_more);
    if (one_more(old) == old) return false;
    make_use_of_loose(p, one_more(old));
    return true;
  }
  /// All who had drawn a ticket when permits were withdrawn are admitted: permits may be let loose again.
  void end_stop(Process& p, word q, word seen) {
    if (quota::stopped(q) != quota::stop::until_F) return;
    const word since = L::wrapped(static_cast<word>(L::E(seen) - Q.until.read(p["23f"])));
    if (since <= L::ticket_mask / 2) Q.v.compare_and_swap(p["23s"], q, quota::with_next_stop(q));
  }

  /// Nudged and running: now leavers hand over at once. True if there was nothing to be had for a while.
  bool be_ready(Process& p, word t) {
    noted<M>(p, event::nudged, quota::let_loose_so_far(hand_back_loose(p)));
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

  /// There are loose permits, as q says: sees to it that somebody awake knows.
  void make_use_of_loose(Process& p, word q) {
    const word seen = W.read(p["26"]);
    if (L::in_line(seen) == 0) return;
    const word u = L::E(seen);
    const cell c = at(u).read(p["27"]);
    if (is(c, u, place::waiting) && at(u).compare_and_swap(p["28"], c, with_state(c, place::nudged))) {
      noted<M>(p, event::nudging, quota::let_loose_so_far(q));
      wake_up(p, u);
      return;
    }
    if (!is(c, u, place::nudged)) hand_back_loose(p);
  }
  /// Turns a loose permit into the admission of the first in line. Q as it was.
  word hand_back_loose(Process& p) {
    const word old = Q.v.rmw(p["29"], [](word q) { return quota::loose(q) > 0 ? static_cast<word>(q - 1) : q; });
    if (quota::loose(old) > 0) hand_back(p, 1);
    return old;
  }
  void look_after_loose(Process& p) {
    if constexpr (b > 0) {
      if (const word q = Q.v.read(p["30"]); quota::loose(q) > 0) make_use_of_loose(p, q);
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
