// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bounded waiting with O(N) shared values: a supervisor moves buckets of waiting processes towards the critical
/// section, and is then done without.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, lemma 4.4 (the buckets) under lemma 4.3 (flbb79_supervisor.hpp):
///              theorem 4.3.
/// Promises     l-exclusion, (k,l)-deadlock freedom, bounded waiting for enabling (C4'), with at most k-1 crashes. The
///              catalogue's row has k = l; tests/algorithms/flbb79/distributed_test explores others. Exit: one step.
///              Remote references unbounded. Primitives: read-modify-write of one large variable, so for the laboratory
///              only. Space: O(N) values for fixed k and l.
/// Variables    v (shared)
///                buf, main, gate  colours of the first three buckets, of l+3 colours    initially 0, 1, 2
///                bufcount         processes in buf                                      initially 0
///                move             asks one process of main to go to gate                initially false
///                cscount          processes inside                                      initially 0
///                enb[c]           how many of bucket c may enter                        initially 0
///                elig[c]          class of the processes of bucket c                    initially helper
///              x (supervisor)
///                queue, count[c], maincount, gatecount, and where it is in its program
/// Invariants   B1  a process in its trying region holds the colour of buf, main, gate or a bucket of the queue
///              B2  count[c] + enb[c] processes hold the colour c of a bucket of the queue; at most max(1, k-1)
///              B3  cscount + the sum of enb <= l
/// Deviations   D1  gate takes main whole if maincount <= k-1; printed `<`, with which k-1 sleepers in main stop the
///                  supervisor (`printed_test`, docs/errata.md).
///              D2  `i := 1` before the search for the first bucket not fully enabled; lost in the print.
///              D3  the supervisor's program is a state machine with a step for each LOCK ... UNLOCK.
///              D4  c1 counts a bucket of the queue as max(1, k-1): for k = 1 a bucket holds one process, not none.
///              D5  cscount and enb are shared and gatecount is the supervisor's: the print does not say.
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79 (buckets; model; printed test, printed order)

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/algorithms/flbb79_supervisor.hpp"

namespace kgate::flbb79 {

inline constexpr int buckets_max = permits_max + 3;

struct bucket_value {
  std::uint8_t buf = 0, main = 1, gate = 2;
  std::uint8_t bufcount = 0;
  bool move = false;
  std::uint8_t cscount = 0;
  std::array<std::uint8_t, buckets_max> enb{};
  std::array<eligibility, buckets_max> elig{};

  friend bool operator==(const bucket_value&, const bucket_value&) = default;
};

inline std::string to_string(const bucket_value& v) {
  std::string text = "buf " + std::to_string(v.buf) + "*" + std::to_string(v.bufcount) + " main " +
                     std::to_string(v.main) + " gate " + std::to_string(v.gate) + (v.move ? " move" : "") + " cs " +
                     std::to_string(v.cscount) + " enb";
  for (const std::uint8_t enabled : v.enb) text += " " + std::to_string(enabled);
  return text;
}

struct bucket_worker {
  region where = region::remainder;
  std::uint8_t c = 0;
};

/// Where the supervisor is: what its next step does.
enum class bucket_step : std::uint8_t { drop_empty, fill_main, fill_gate, await_move, fill_queue, enable };

struct bucket_supervisor {
  bucket_step at = bucket_step::drop_empty;
  std::uint8_t length = 0;  ///< of the queue
  std::uint8_t maincount = 0;
  std::uint8_t gatecount = 0;
  std::array<std::uint8_t, permits_max> queue{};  ///< colours, first to last
  std::array<std::uint8_t, permits_max> count{};  ///< of the bucket at each position of the queue

  friend bool operator==(const bucket_supervisor&, const bucket_supervisor&) = default;
};

struct corrected_test {
  static constexpr bool whole_main_below = false;
};
struct printed_test {
  static constexpr bool whole_main_below = true;
};

template <class Reading = corrected_test>
class bucket_system {
 public:
  using Value = bucket_value;
  using Worker = bucket_worker;
  using Supervisor = bucket_supervisor;
  static constexpr int processes_max = 255;

  /// For l permits and fewer than k failures.
  bucket_system(int N, int l, int k) : N_(N), l_(l), k_(k) {}

  Value first_value() const {
    Value v;
    std::fill_n(v.elig.begin(), l_ + 3, eligibility::helper);
    return v;
  }
  Supervisor first_supervisor() const { return {}; }
  static region where(const Worker& w) { return w.where; }
  int c1() const { return l_ * std::max(1, k_ - 1) + 2 * k_ - 2; }

  void work(Value& v, Worker& w) const {
    switch (w.where) {
      case region::remainder:
        w = {region::entry, v.buf};
        ++v.bufcount;
        break;
      case region::entry:
        if (v.enb[w.c] != 0) {
          --v.enb[w.c];
          ++v.cscount;  // B3
          w = {region::critical, 0};
        } else if (v.move && w.c == v.main) {
          v.move = false;
          w.c = v.gate;
        }
        break;
      case region::critical:
      case region::exit:
        --v.cscount;
        w = {region::remainder, 0};
        break;
    }
  }

  eligibility elig(const Value& v, const Worker& w) const {
    return w.where == region::entry ? v.elig[w.c] : eligibility::drone;
  }

  int active(const Value& v, const Supervisor& x) const {
    // While buf is being counted, main is empty and maincount not yet the number of anything.
    int trying = v.bufcount + x.gatecount + (x.at == bucket_step::fill_main ? 0 : x.maincount);
    for (std::size_t i = 0; i < x.length; ++i) trying += x.count[i] + v.enb[x.queue[i]];
    return trying;
  }

  int transno(const Value& v, const Supervisor& x) const {
    switch (x.at) {
      case bucket_step::drop_empty: {
        int empty = 0;
        for (std::size_t i = 0; i < x.length; ++i)
          if (x.count[i] + v.enb[x.queue[i]] == 0) empty |= 1 << i;
        return empty;
      }
      case bucket_step::fill_main:
        return v.bufcount != x.maincount;
      case bucket_step::fill_gate:
        return 0;
      case bucket_step::await_move:
        return v.move;
      case bucket_step::fill_queue:
        return v.gate;
      case bucket_step::enable:
        return v.cscount + enabled(v, x) < l_ && waiting(x) > 0;
    }
    return 0;
  }

  Supervisor newstate(Supervisor x, int t) const {
    switch (x.at) {
      case bucket_step::drop_empty:
        drop(x, t);
        x.at = x.maincount == 0 ? bucket_step::fill_main : after_main(x);
        break;
      case bucket_step::fill_main:
        if (t != 0)
          ++x.maincount;
        else
          x.at = after_main(x);
        break;
      case bucket_step::fill_gate:
        if (!takes_whole_main(x)) {
          x.at = bucket_step::await_move;
          break;
        }
        x.gatecount = x.maincount;
        x.maincount = 0;
        x.at = after_gate(x);
        break;
      case bucket_step::await_move:
        if (t != 0) break;
        --x.maincount;
        x.gatecount = 1;
        x.at = after_gate(x);
        break;
      case bucket_step::fill_queue:
        x.queue[x.length] = static_cast<std::uint8_t>(t);
        x.count[x.length] = x.gatecount;
        ++x.length;
        x.gatecount = 0;
        x.at = bucket_step::enable;
        break;
      case bucket_step::enable:
        if (t != 0) --x.count[first_waiting(x)];
        x.at = bucket_step::drop_empty;
        break;
    }
    return x;
  }

  Value newval(Value v, const Supervisor& x) const {
    switch (x.at) {
      case bucket_step::drop_empty:
      case bucket_step::await_move:
        break;
      case bucket_step::fill_main:
        if (v.bufcount != x.maincount) break;
        v.main = v.buf;
        v.buf = newcolor(v, x);
        v.bufcount = 0;
        break;
      case bucket_step::fill_gate:
        if (takes_whole_main(x)) {
          v.gate = v.main;
          v.main = newcolor(v, x);
        } else {
          v.move = true;
        }
        break;
      case bucket_step::fill_queue:
        v.enb[v.gate] = 0;
        v.elig[v.gate] = eligibility::quitter;
        v.gate = newcolor(v, x);
        break;
      case bucket_step::enable:
        if (transno(v, x) != 0) {
          const std::uint8_t c = x.queue[first_waiting(x)];
          v.elig[c] = eligibility::drone;
          ++v.enb[c];  // B3
        }
        break;
    }
    return v;
  }

  void code(bit_coder& coder, Supervisor& x) const {
    auto at = static_cast<std::uint8_t>(x.at);
    coder.number(at, static_cast<int>(bucket_step::enable));
    x.at = static_cast<bucket_step>(at);
    coder.number(x.length, l_);
    coder.number(x.maincount, N_);
    coder.number(x.gatecount, std::max(1, k_ - 1));
    for (std::size_t i = 0; i < static_cast<std::size_t>(l_); ++i) {
      coder.number(x.queue[i], l_ + 2);
      coder.number(x.count[i], std::max(1, k_ - 1));
    }
  }

 private:
  bool takes_whole_main(const Supervisor& x) const {
    return Reading::whole_main_below ? x.maincount < k_ - 1 : x.maincount <= k_ - 1;
  }
  bucket_step after_main(const Supervisor& x) const {
    return x.gatecount == 0 ? bucket_step::fill_gate : after_gate(x);
  }
  bucket_step after_gate(const Supervisor& x) const {
    return x.length < l_ ? bucket_step::fill_queue : bucket_step::enable;
  }
  static int enabled(const Value& v, const Supervisor& x) {
    int total = 0;
    for (std::size_t i = 0; i < x.length; ++i) total += v.enb[x.queue[i]];
    return total;
  }
  static int waiting(const Supervisor& x) {
    int total = 0;
    for (std::size_t i = 0; i < x.length; ++i) total += x.count[i];
    return total;
  }
  static std::size_t first_waiting(const Supervisor& x) {
    std::size_t i = 0;
    while (x.count[i] == 0) ++i;
    return i;
  }
  static void drop(Supervisor& x, int empty) {
    std::uint8_t kept = 0;
    for (std::uint8_t i = 0; i < x.length; ++i) {
      if ((empty >> i & 1) != 0) continue;
      x.queue[kept] = x.queue[i];
      x.count[kept] = x.count[i];
      ++kept;
    }
    for (std::uint8_t i = kept; i < x.length; ++i) x.queue[i] = x.count[i] = 0;
    x.length = kept;
  }
  /// An unused colour, made ready for use.
  std::uint8_t newcolor(Value& v, const Supervisor& x) const {
    for (std::uint8_t c = 0; c < l_ + 3; ++c) {
      if (c == v.buf || c == v.main || c == v.gate) continue;
      if (std::find(x.queue.begin(), x.queue.begin() + x.length, c) != x.queue.begin() + x.length) continue;
      v.enb[c] = 0;
      v.elig[c] = eligibility::helper;
      return c;
    }
    KGATE_EXPECTS(false, "l+3 colours are enough for the buckets");
    return 0;
  }

  int N_;
  int l_;
  int k_;
};

/// flbb79-bounded
template <class M>
using bounded = supervised<M, bucket_system<>>;

/// flbb79-bounded-printed-order and flbb79-bounded-printed-test
template <class M>
using bounded_printed_order = supervised<M, bucket_system<>, printed_order>;
template <class M>
using bounded_printed_test = supervised<M, bucket_system<printed_test>>;

}  // namespace kgate::flbb79
