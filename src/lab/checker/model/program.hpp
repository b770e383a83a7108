// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The processes of a model as automata, discovered on demand: local states, and what each does on each observed value.

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/checker/model/machine.hpp"
#include "lab/checker/model/permutation.hpp"

namespace kgate::lab {

/// The number of a local state of one process. 0 is the remainder before the first passage.
using local_id = std::uint32_t;

struct local_state {
  operation op = operation::none;
  int variable = -1;  ///< what the next access touches; -1: a step of its own that touches nothing
  std::string label;  ///< the paper's label of the next access
  region where = region::remainder;
  bool waiting = false;  ///< in its entry, past the doorway
  int name = -1;         ///< the name held inside, -1 if none
  int ways = 1;          ///< in how many ways the next access may end, a free choice
  bool done = false;     ///< all passages made: never moves again
  int passage = 0;
  local_id parent = 0;  ///< the local state this one was first reached from, by observing `seen`
  code seen = 0;
  bool starts_passage = false;
  int accesses = 0;        ///< made in the passage, on the way by which this state was first reached
  std::uint64_t hash = 0;  ///< checker_machine::pending::hash
};

/// What a process in some local state does when it observes some value.
struct transition {
  bool blocked = false;
  bool writes = false;
  code written = 0;
  local_id next = 0;
};

struct program_options {
  int passages = 0;  ///< how often each process goes through; 0: without limit
  mutations wrong;
  int first_more = 0;  ///< how many passages more process 0 makes, if they are limited
  /// More than 0: local states are all that was observed in the passage, whatever the text says it forgets. A passage
  /// stops after so many accesses.
  int remember_accesses = 0;
  int deaths_max = 0;  ///< how many processes may die in a run, if the model says what a death does
  /// Where runs of the text report of themselves, the first when the program is made.
  std::shared_ptr<run_monitor> monitor = std::make_shared<run_monitor>();

  int passages_of(int p) const { return passages + (p == 0 ? first_more : 0); }
};

class program {
 public:
  program(std::unique_ptr<model> m, int N, int k, program_options options);

  int N() const { return N_; }
  int k() const { return k_; }
  const program_options& options() const { return options_; }
  int variables() const { return model_->memory.size(); }
  const shared_variable& variable(int v) const { return model_->memory.at(v); }

  const local_state& local(int p, local_id s) const { return automata_[p].states[s]; }
  local_id locals(int p) const { return static_cast<local_id>(automata_[p].states.size()); }

  /// Memoised. Safe to call from several threads; the references local() returns are stable.
  transition step(int p, local_id s, code seen);

  /// Calls f(state, seen, transition) for all steps of p known so far. Not while another thread explores.
  template <class F>
  void for_each_step(int p, F&& f) const {
    for (const auto& [key, t] : automata_[p].steps) f(static_cast<local_id>(key >> 32), static_cast<code>(key), t);
  }

  /// What process p does after exactly these observations since the start of its passage, without any merging by
  /// `live`: the audit compares it with step().
  struct outcome {
    bool finished = false;
    checker_machine::effect last;
    checker_machine::pending next;
    std::string label;  ///< where it stands
  };
  outcome run(int p, const std::vector<code>& history, std::vector<checker_machine::made>* accesses = nullptr,
              const checker_machine::calling& calls = {}) const;
  /// Throws text_error if p does otherwise when predicates and functions are called so; the first that matters is
  /// named.
  void require_pure(int p, const std::vector<code>& history, const checker_machine::calling& calls) const;
  /// What p observed since the start of its passage, on the way by which it first came to s.
  std::vector<code> history(int p, local_id s) const;

  /// Whether processes may die: then each has a local state from which it never moves again.
  bool mortal() const { return model_->deaths.has_value() && options_.deaths_max > 0; }
  static constexpr local_id dead = 1;
  int death_variable() const { return model_->deaths->variable; }
  /// The value that the death of p makes of this one. Safe to call from several threads.
  code after_death(int p, code value);

  bool has_invariant() const { return static_cast<bool>(model_->invariant); }
  /// Values are not added meanwhile, so that the state may be read while other threads explore.
  std::string broken_invariant(const state_view& s) const;
  /// The labels that it has named. Not while another thread explores.
  const std::set<std::string, std::less<>>& labels_in_invariant() const { return model_->labels_named; }

  /// Where p has observed most without forgetting: the accesses that lead there, and its label.
  std::pair<int, std::string> longest_memory(int p) const;

  /// Whether a passage was stopped because it had made options().remember_accesses.
  bool stopped_early() const { return stopped_early_; }

  /// The local state in which p has made the observations that led its peer `q` to `s`, with processes renamed: where p
  /// stands if q stands at s. `rename(v, c)` gives the variable and the code that correspond to code c of variable v.
  local_id mirror(int q, local_id s, int p, const std::function<code(int variable, code seen)>& rename);

  /// The code that value c of variable v has in variable `target` after renaming process i to `to(i)`.
  code renamed_code(int v, code c, int target, const permutation& to);

 private:
  struct automaton {
    // A deque-like growth would do; chunks keep references stable while other threads read.
    class chunked {
     public:
      local_state& operator[](local_id i) const { return chunks_[i >> bits][i & ((std::size_t{1} << bits) - 1)]; }
      std::size_t size() const { return size_; }
      void push_back(local_state s);

     private:
      static constexpr unsigned bits = 10;
      static constexpr std::size_t chunks_max = 1 << 14;
      std::unique_ptr<std::unique_ptr<local_state[]>[]> chunks_ { new std::unique_ptr<local_state[]>[ chunks_max ] };
      std::size_t size_ = 0;
    };
    chunked states;
    std::unordered_map<std::string, local_id> by_key;
    std::unordered_map<std::uint64_t, transition> steps;
  };

  // These expect the mutex to be held (the constructor needs none).
  outcome run(int p, const std::vector<code>& history, const checker_machine::run_options& how) const;
  /// As run(), twice and under different circumstances. Throws text_error if that matters.
  outcome run_twice(int p, const std::vector<code>& history) const;
  local_id start_of(int p, int passage);
  local_id intern(int p, int passage, const checker_machine::pending& next, local_id parent, code seen);
  transition compute(int p, local_id s, code seen);
  transition known_step(int p, local_id s, code seen);

  std::unique_ptr<model> model_;
  int N_;
  int k_;
  program_options options_;
  mutable hidden_state hidden_;
  bool stopped_early_ = false;
  mutable std::vector<automaton> automata_;
  mutable std::mutex mutex_;
};

}  // namespace kgate::lab
