// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A run that is followed step by step and watched for violations of several properties at once: what the walker does,
/// fast, with a monitor beside it.

#include <optional>
#include <string>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// Which properties a run is watched for.
struct watched_properties {
  bool k_exclusion = false, names = false, invariant = false, bounded_exit = false, local_waiting = false;
  bool k_fcfs = false, fife = false;
  bool deadlock = false, starvation = false;
  bool enabled_in_order = false, fifo = false, fifo_enabling = false, full = false, queuelike = false,
       group_deadlock = false;
  int overtakings_max = -1;  ///< of bounded-waiting; -1: not watched
  int passings_max = -1;     ///< of bounded-overtaking; -1: not watched
  int crashes = 0;

  bool judges_enabling() const { return fife || overtakings_max >= 0; }
  bool judges_full() const { return full || queuelike; }
  bool judges_arrivals() const { return fifo || fifo_enabling || queuelike; }

  /// Throws std::invalid_argument for a property that cannot be searched for.
  static watched_properties of(const std::vector<std::string>& ids, int crashes);
};

struct seen_violation {
  std::string property;
  int victim = -1;
  /// Of fife and bounded-waiting: the victim's own steps, of which those from `loop` on lead round for ever.
  std::vector<int> own_steps{};
  std::size_t loop = 0;
};

class watched_run {
 public:
  watched_run(program& p, const watched_properties& what);

  const local_state& local(int p) const { return program_.local(p, at_.locals[static_cast<std::size_t>(p)]); }
  bool can_move(int p) { return !local(p).done && !transition_of(at_, p, 0).blocked; }
  /// How many steps p has: more than one if it reads a safe register during a write.
  int choices(int p) const;
  /// It goes round a loop, or is blocked, and nothing changes as long as the others do nothing.
  bool waits_stuck(int p);

  /// Makes a possible step and tells what it violates. That nothing changes any more, for deadlock-free and
  /// starvation-free, is looked for behind every step, or only where a passage ends.
  std::optional<seen_violation> step(int entry, bool check_stalls_always);
  /// What is violated if all stop here but those that wait.
  std::optional<seen_violation> stalled();
  /// Those past their doorway that a process which started later has overtaken.
  process_set overtaken() const { return overtaken_; }

 private:
  using position = walker::position;

  code seen(const position& at, int p, int choice) const;
  transition transition_of(const position& at, int p, int choice) {
    return program_.step(p, at.locals[static_cast<std::size_t>(p)], seen(at, p, choice));
  }
  void move(position& at, int p, int choice);
  bool past_doorway(int p) const { return local(p).where == region::entry && local(p).waiting; }
  std::optional<seen_violation> entered(int q);
  std::optional<seen_violation> waits_elsewhere();
  std::optional<seen_violation> kept_out();
  /// The last step led from `before` here; what it shows of the properties that speak of being enabled.
  std::optional<seen_violation> about_enabling(int q, const position& before, bool changed);
  std::optional<seen_violation> overtakes(int q, const position& before);
  std::optional<seen_violation> passes(int q);
  std::optional<seen_violation> enabled_too_early(int q);
  std::optional<seen_violation> group_stalled();
  /// Its own steps, if they lead it round for ever.
  std::optional<seen_violation> waits_alone(int p, const std::string& property);

  program& program_;
  const watched_properties what_;
  position at_;
  std::vector<process_set> first_;             ///< [q]: past their doorway before q started, and still there
  process_set overtaken_ = 0;                  ///< by one that started later and got inside
  process_set too_often_ = 0;                  ///< overtaken more often than allowed by one process
  std::vector<std::vector<int>> overtakings_;  ///< [p][q]: of p by q
  std::vector<std::vector<int>> passings_;     ///< [p][q]: q got from its remainder to inside while p was in its entry
  std::vector<process_set> later_;  ///< [p]: were in their remainder while p is in its entry, not inside since
  int proofs_left_ = 4;             ///< looks at all that may follow, which are long
};

/// The run as a trace of the violation that its end shows.
trace trace_of(program& p, const program_name& of, std::vector<int> schedule, const seen_violation& seen);

}  // namespace kgate::lab
