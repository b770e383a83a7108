// SPDX-License-Identifier: Apache-2.0
// Proposition 3.1 of Afek et al. for the bounded timestamp system, every register access a step of its own: over all runs of two
// processes, and over long random runs of three and four.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "kgate/algorithms/afek94_bounded_timestamps.hpp"
#include "lab/checker/program.hpp"
#include "lab/checker/walker.hpp"

namespace kgate::lab {
namespace {

/// A passage is a Label, then two Scans whose results are written where the test can see them.
template <class M, class Timestamps = afek94::bounded_timestamps<M>>
class label_scan_scan {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  label_scan_scan(typename M::Memory& memory, int N, int)
      : timestamps_(memory, N), Out(static_cast<std::size_t>(N), [&](std::size_t i) {
          return typename M::template Var<std::uint8_t>(memory, {.name = "Out", .home = pid(static_cast<int>(i))}, 0);
        }) {}

  void acquire(Process& p, Private&) { timestamps_.label(p); }
  void release(Process& p, Private&) {
    for (const int time : {1, 2}) {
      const afek94::process_set earlier = timestamps_.scan(p, time);
      Out[p.id()].write(p["out"], static_cast<std::uint8_t>(earlier));
      p.live(time);
    }
  }

 private:
  Timestamps timestamps_;
  fixed_array<typename M::template Var<std::uint8_t>> Out;
};

/// What has happened, as moments: those of the first and last steps of each process's latest Label and latest two Scans. The moments
/// of the first and last step lie within the call, so what precedes here precedes in every reading.
class proposition {
 public:
  static constexpr int processes_max = 4;

  explicit proposition(int n) : n_(n) {}

  /// A step of p was made. Empty if nothing is violated, else the part of the proposition that is.
  std::string see(int p, const step_record& r) {
    record& me = of_[static_cast<std::size_t>(p)];
    const std::uint8_t now = latest() + 1;
    if (r.before == region::remainder) me = {.label_begin = now};
    if (r.before != region::critical && r.after == region::critical) me.label_end = now;
    if (r.before == region::critical || (r.before == region::exit && me.scan_begin == 0)) me.scan_begin = now;
    std::string wrong;
    if (r.label == "out") {
      wrong = judge(p, static_cast<unsigned>(std::stoi(*r.written)));
      me.scanned_begin = me.scan_begin;
      me.scanned = now;
      me.earlier = static_cast<std::uint8_t>(std::stoi(*r.written));
      if (wrong.empty()) wrong = judge_sets();
      me.scan_begin = 0;
    }
    if (r.after == region::remainder) me.scan_begin = 0;
    forget_distances();
    return wrong;
  }
  std::string bytes() const { return std::string(reinterpret_cast<const char*>(of_.data()), sizeof of_); }

 private:
  struct record {
    std::uint8_t label_begin = 0, label_end = 0;  ///< of the latest Label; label_end 0: it goes on
    std::uint8_t scan_begin = 0;                  ///< of the Scan that goes on
    std::uint8_t scanned_begin = 0, scanned = 0;  ///< of the latest complete one since the Label
    std::uint8_t earlier = 0;                     ///< its result
  };

  const record& at(int i) const { return of_[static_cast<std::size_t>(i)]; }
  std::uint8_t latest() const {
    std::uint8_t most = 0;
    for (const record& r : of_)
      for (const std::uint8_t t : {r.label_begin, r.label_end, r.scan_begin, r.scanned_begin, r.scanned})
        most = std::max(most, t);
    return most;
  }
  /// Only the order of the moments matters: they are numbered anew, so that equal situations are equal.
  void forget_distances() {
    std::vector<std::uint8_t*> all;
    for (record& r : of_)
      for (std::uint8_t* t : {&r.label_begin, &r.label_end, &r.scan_begin, &r.scanned_begin, &r.scanned})
        if (*t != 0) all.push_back(t);
    std::vector<std::uint8_t> order;
    for (const std::uint8_t* t : all) order.push_back(*t);
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    for (std::uint8_t* t : all)
      *t = static_cast<std::uint8_t>(std::lower_bound(order.begin(), order.end(), *t) - order.begin() + 1);
  }

  /// Parts 1, 2 and 3, for the Scan of p that has just ended.
  std::string judge(int p, unsigned earlier) const {
    const record& me = at(p);
    for (int j = 0; j < n_; ++j) {
      if (j == p) continue;
      const record& other = at(j);
      const bool before_me = (earlier >> j & 1) != 0;
      const bool labelled = other.label_end != 0 && other.label_end < me.scan_begin;
      if (labelled && me.label_end < other.label_begin && before_me) return "part 1, of the caller";
      if (labelled && other.label_end < me.label_begin && !before_me) return "part 1, of the other";
      if (me.scanned != 0 && (me.earlier >> j & 1) == 0 && before_me) return "part 2";
      if (other.scanned == 0 || me.label_end >= other.label_begin || other.scanned >= me.scan_begin) continue;
      for (int k = 0; k < n_; ++k)
        if (k != p && k != j && (other.earlier >> k & 1) == 0 && (earlier >> k & 1) != 0) return "part 3";
    }
    return "";
  }
  /// Parts 4 and 5, for every set C of processes that have scanned since their Labels.
  std::string judge_sets() const {
    for (unsigned C = 1; C < 1u << n_; ++C) {
      bool scanned = true;
      std::uint8_t begins_last = 0, ends_last = 0, scans_first = 255;
      for (int i = 0; i < n_; ++i) {
        if ((C >> i & 1) == 0) continue;
        scanned &= at(i).scanned != 0;
        begins_last = std::max(begins_last, at(i).label_begin);
        ends_last = std::max(ends_last, at(i).label_end);
        scans_first = std::min(scans_first, at(i).scanned_begin);
      }
      if (!scanned) continue;
      bool some_last = false, some_first = false;
      for (int i = 0; i < n_; ++i) {
        if ((C >> i & 1) == 0) continue;
        const unsigned others = C & ~(1u << i);
        some_last |= at(i).label_end > begins_last && (at(i).earlier & others) == others;
        some_first |= (at(i).earlier & others) == 0;
      }
      if (!some_last) return "part 4";
      if (scans_first > ends_last && !some_first) return "part 5";
    }
    return "";
  }

  int n_;
  std::array<record, processes_max> of_{};
};

TEST(Proposition31, HoldsOverAllRunsOfTwoProcesses) {
  program p(make_model<label_scan_scan<checker_machine>>(2, 2), 2, 2, {});
  struct situation {
    walker::position at;
    proposition seen;
  };
  const auto key = [](const situation& s) {
    std::string text = s.seen.bytes();
    for (const code c : s.at.values) text.append(reinterpret_cast<const char*>(&c), sizeof c);
    for (const local_id l : s.at.locals) text.append(reinterpret_cast<const char*>(&l), sizeof l);
    return text;
  };
  walker run(p);
  std::vector<situation> open{{run.here(), proposition(2)}};
  std::unordered_set<std::string> known{key(open[0])};
  while (!open.empty()) {
    const situation from = open.back();
    open.pop_back();
    for (int i = 0; i < 2; ++i) {
      run.go(from.at);
      situation to = from;
      ASSERT_EQ(to.seen.see(i, run.step(i)), "");
      to.at = run.here();
      if (known.insert(key(to)).second) open.push_back(std::move(to));
    }
  }
  RecordProperty("situations", static_cast<int>(known.size()));
  EXPECT_GT(known.size(), 100000u);
}

/// What a random run with long and short turns, so that there are both crowds and stragglers, finds violated.
template <class Program>
std::string random_run(int n, unsigned seed, int steps) {
  program p(make_model<Program>(n, n), n, n, {});
  walker run(p);
  proposition seen(n);
  std::mt19937 random(seed);
  int who = 0;
  for (int i = 0; i < steps; ++i) {
    if (random() % (seed % 2 == 0 ? 2 : 8) == 0) who = static_cast<int>(random() % static_cast<unsigned>(n));
    if (const std::string wrong = seen.see(who, run.step(who)); !wrong.empty()) return wrong;
  }
  return "";
}
TEST(Proposition31, HoldsOnRandomRunsOfThreeAndFour) {
  for (const int n : {3, 4})
    for (unsigned seed = 1; seed <= 4; ++seed)
      EXPECT_EQ(random_run<label_scan_scan<checker_machine>>(n, seed, 10000), "") << "n " << n << " seed " << seed;
}

template <class M>
using printed_label = label_scan_scan<M, afek94::unbounded_timestamps<M, afek94::as_printed>>;
TEST(Proposition31, FailsForThePrintedTestOfLabel) {
  EXPECT_NE(random_run<printed_label<checker_machine>>(2, 1, 1000), "");
}

}  // namespace
}  // namespace kgate::lab
