// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Proposition 3.1 of Afek et al. as a variable that rides along: each process notes there when it calls Label or Scan
/// and when it gets its answer, and every answer is judged by what has been noted. An exploration of all runs then sees
/// all of its values, and the proposition holds iff none of them says that a part of it is violated.
///
/// Notes are steps of their own, before the first and after the last step of a call. Among all runs are those in which
/// no process moves between a note and the step beside it, so the calls are not taken to be longer than they are.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kgate/algorithms/afek94_bounded_timestamps.hpp"
#include "kgate/algorithms/afek94_timestamps.hpp"
#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// What has been noted. The proposition only asks whether one call had ended when another began, so begins between
/// which nothing ended are one moment, and so are ends between which nothing began: odd moments are begins, even ones
/// ends.
class noted_calls {
 public:
  static constexpr int processes_max = 4;

  void label_begins(int p) {
    const std::uint8_t now = moment(1);
    of(p) = {.label_begin = now};
    renumber();
  }
  void label_ends(int p) {
    of(p).label_end = moment(0);
    renumber();
  }
  void scan_begins(int p) {
    of(p).scan_begin = moment(1);
    renumber();
  }
  void scan_ends(int p, int n, unsigned earlier) {
    judge(p, n, earlier);
    record& me = of(p);
    me.scanned = moment(0);
    me.scanned_begin = std::exchange(me.scan_begin, std::uint8_t{0});
    me.earlier = static_cast<std::uint8_t>(earlier);
    judge_sets(n);
    renumber();
  }
  /// The part of the proposition that was violated, 0 if none was.
  int violated() const { return violated_; }

  friend std::string to_string(const noted_calls& calls) { return "part " + std::to_string(calls.violated_); }

 private:
  struct record {
    std::uint8_t label_begin = 0, label_end = 0;  ///< of the latest Label; label_end 0: it goes on
    std::uint8_t scan_begin = 0;                  ///< of the Scan that goes on
    std::uint8_t scanned_begin = 0, scanned = 0;  ///< of the latest complete one since the Label
    std::uint8_t earlier = 0;                     ///< its result
  };

  record& of(int p) { return of_[static_cast<std::size_t>(p)]; }
  const record& at(int i) const { return of_[static_cast<std::size_t>(i)]; }
  std::vector<std::uint8_t*> moments() {
    std::vector<std::uint8_t*> all;
    for (record& r : of_)
      for (std::uint8_t* t : {&r.label_begin, &r.label_end, &r.scan_begin, &r.scanned_begin, &r.scanned})
        if (*t != 0) all.push_back(t);
    return all;
  }
  /// Now, as an odd or even number.
  std::uint8_t moment(int parity) {
    int latest = 0;
    for (const std::uint8_t* t : moments()) latest = std::max<int>(latest, *t);
    return static_cast<std::uint8_t>(latest == 0 ? 2 - parity : latest + (latest % 2 == parity ? 0 : 1));
  }
  /// What was forgotten leaves gaps; equal situations are to be equal.
  void renumber() {
    std::vector<std::uint8_t*> all = moments();
    std::sort(all.begin(), all.end(), [](const std::uint8_t* a, const std::uint8_t* b) { return *a < *b; });
    int given = 0;
    for (std::uint8_t* t : all) {
      if (given == 0) {
        given = 2 - *t % 2;
      } else if (given % 2 != *t % 2) {
        ++given;
      }
      *t = static_cast<std::uint8_t>(given);
    }
  }
  void wrong(int part) {
    if (violated_ == 0) violated_ = static_cast<std::uint8_t>(part);
  }

  /// Parts 1, 2 and 3, for the Scan of p that has just ended.
  void judge(int p, int n, unsigned earlier) {
    const record& me = at(p);
    for (int j = 0; j < n; ++j) {
      if (j == p) continue;
      const record& other = at(j);
      const bool before_me = (earlier >> j & 1) != 0;
      const bool labelled = other.label_end != 0 && other.label_end < me.scan_begin;
      if (labelled && me.label_end < other.label_begin && before_me) wrong(1);
      if (labelled && other.label_end < me.label_begin && !before_me) wrong(1);
      if (me.scanned != 0 && (me.earlier >> j & 1) == 0 && before_me) wrong(2);
      if (other.scanned == 0 || me.label_end >= other.label_begin || other.scanned >= me.scan_begin) continue;
      for (int k = 0; k < n; ++k)
        if (k != p && k != j && (other.earlier >> k & 1) == 0 && (earlier >> k & 1) != 0) wrong(3);
    }
  }
  /// Parts 4 and 5, for every set C of processes that have scanned since their Labels.
  void judge_sets(int n) {
    for (unsigned C = 1; C < 1u << n; ++C) {
      bool scanned = true;
      std::uint8_t begins_last = 0, ends_last = 0, scans_first = 255;
      for (int i = 0; i < n; ++i) {
        if ((C >> i & 1) == 0) continue;
        scanned &= at(i).scanned != 0;
        begins_last = std::max(begins_last, at(i).label_begin);
        ends_last = std::max(ends_last, at(i).label_end);
        scans_first = std::min(scans_first, at(i).scanned_begin);
      }
      if (!scanned) continue;
      bool some_last = false, some_first = false;
      for (int i = 0; i < n; ++i) {
        if ((C >> i & 1) == 0) continue;
        const unsigned others = C & ~(1u << i);
        some_last |= at(i).label_end > begins_last && (at(i).earlier & others) == others;
        some_first |= (at(i).earlier & others) == 0;
      }
      if (!some_last) wrong(4);
      if (scans_first > ends_last && !some_first) wrong(5);
    }
  }

  std::array<record, processes_max> of_{};
  std::uint8_t violated_ = 0;
};

/// What each process calls in one passage, a letter for a call: L for Label, S for Scan.
using call_mix = std::vector<std::string>;

/// Processes that call Label and Scan and note it. A passage is all of a process's calls.
template <class M, class Timestamps>
class noting_callers {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  noting_callers(typename M::Memory& memory, call_mix calls)
      : calls_(std::move(calls)),
        noted_(memory, {.name = "noted"}, noted_calls{}),
        timestamps_(memory, static_cast<int>(calls_.size())) {}

  void acquire(Process& p, Private&) {
    const int i = p.id().value, n = static_cast<int>(calls_.size());
    const std::string& mine = calls_[static_cast<std::size_t>(i)];
    for (std::size_t at = 0; at < mine.size(); ++at) {
      if (mine[at] == 'L') {
        note(p["Label begins"], at, [i](noted_calls& calls) { calls.label_begins(i); });
        timestamps_.label(p);
        note(p["Label ends"], at, [i](noted_calls& calls) { calls.label_ends(i); });
      } else {
        note(p["Scan begins"], at, [i](noted_calls& calls) { calls.scan_begins(i); });
        const afek94::process_set everyone = afek94::only(n) - 1;
        const auto earlier = static_cast<unsigned>(timestamps_.scan(p, everyone & ~afek94::only(i), at));
        note(p["Scan ends"], at, [i, n, earlier](noted_calls& calls) { calls.scan_ends(i, n, earlier); });
      }
    }
  }
  void release(Process&, Private&) {}

 private:
  template <class F>
  void note(Process& p, std::size_t at, F&& change) {
    noted_.rmw(p, [&](noted_calls calls) {
      if (calls.violated() == 0) change(calls);
      return calls;
    });
    p.live(at);
  }

  call_mix calls_;
  typename M::template Var<noted_calls> noted_;
  Timestamps timestamps_;
};

/// The variable `noted`.
inline constexpr int noted_variable = 0;

template <template <class> class Timestamps>
std::unique_ptr<model> noting_model(const call_mix& calls) {
  using Callers = noting_callers<checker_machine, Timestamps<checker_machine>>;
  auto m = std::make_unique<model>();
  auto callers = std::make_shared<Callers>(m->memory, calls);
  m->algorithm = callers;
  m->passage = [c = callers.get()](checker_machine::Process& p) { run_passage(*c, p); };
  return m;
}

/// The parts of the proposition that some value of `noted` says are violated, as in "1 4".
inline std::string violated_parts(const program& p) {
  std::string parts;
  for (int part = 1; part <= 5; ++part) {
    const value_table& values = p.variable(noted_variable).values;
    for (std::size_t c = 0; c < values.size(); ++c)
      if (from_bytes<noted_calls>(values.bytes(static_cast<code>(c))).violated() == part) {
        parts += (parts.empty() ? "" : " ") + std::to_string(part);
        break;
      }
  }
  return parts;
}

template <class M>
using bounded = afek94::bounded_timestamps<M>;
template <class M>
using unbounded = afek94::unbounded_timestamps<M>;
template <class M>
using printed = afek94::unbounded_timestamps<M, afek94::as_printed>;

struct noted_runs {
  std::string violated;
  bool complete = false;
  std::uint64_t states = 0;
  std::size_t notes = 0;  ///< values of `noted`
};

/// All runs in which each process makes its calls `passages` times, or without limit if that is 0.
template <template <class> class Timestamps>
noted_runs explore_calls(const call_mix& calls, int passages) {
  const int n = static_cast<int>(calls.size());
  program p(noting_model<Timestamps>(calls), n, n, {passages, {}});
  run_limits limits;
  limits.threads = 2;
  limits.memory_max = std::uint64_t{6} << 30;
  const exploration all = explore(p, {}, limits);
  return {violated_parts(p), all.complete, all.states, p.variable(noted_variable).values.size()};
}

}  // namespace kgate::lab
