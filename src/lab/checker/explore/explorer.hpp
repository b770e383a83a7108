// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Breadth-first exploration of all states of a program, by one or more threads.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lab/checker/explore/state_store.hpp"
#include "lab/checker/explore/stepper.hpp"
#include "lab/checker/explore/tables.hpp"

namespace kgate::lab {

/// What long work says of itself while it goes on.
struct progress {
  const char* phase = "";
  std::uint64_t states = 0;
  double per_second = 0;
  std::uint64_t queue = 0;
  std::uint64_t bytes = 0;
};

/// Limits of a run, and how it speaks to the outside.
struct run_limits {
  int threads = 1;
  std::uint64_t memory_max = std::uint64_t{8} << 30;
  double seconds_max = 0;                          ///< 0: none
  const std::atomic<bool>* interrupted = nullptr;  ///< set when the user asks to stop
  std::function<void(const progress&)> report;     ///< called a few times a second
};

/// Watches the limits of a run. `why` is empty until one is hit.
class watch {
 public:
  explicit watch(const run_limits& limits) : limits_(limits), begin_(std::chrono::steady_clock::now()) {}

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  /// True if the run must end. Cheap; call it often.
  bool over(std::uint64_t bytes);
  void report(const char* phase, std::uint64_t states, std::uint64_t queue, std::uint64_t bytes);
  /// Ends the run for a reason of the caller's.
  void end(const char* why);
  std::string why() const;

 private:
  const run_limits limits_;
  std::chrono::steady_clock::time_point begin_;
  double reported_ = 0;
  std::uint64_t reported_states_ = 0;
  mutable std::mutex mutex_;
  std::string why_;
};

struct explore_options {
  int crashes = 0;
  int contention = 0;
  bool find_exclusion = true;  ///< stop at the level where more than k are inside, or two hold one name
  bool find_names = true;
  bool find_broken_invariant = false;
  bool symmetry = false;        ///< store one state of each orbit under renaming processes
  bool renamed_starts = false;  ///< start from all renamings of the initial state, as a search by symmetry does
};

struct exploration {
  std::unique_ptr<tables> table;
  std::unique_ptr<state_store> store;
  std::vector<std::vector<id_range>> levels;  ///< the states at each distance from the initial state
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t orbit_states = 0;  ///< with symmetry: how many states the stored ones stand for
  int contention = 0;              ///< as asked for
  double seconds = 0;
  bool complete = false;
  std::string why;  ///< why not complete

  state_id exclusion = no_state;  ///< the first state found with more than k inside
  state_id names = no_state;      ///< with two equal names inside, or one not below k
  state_id broken_invariant = no_state;
  state_id deadlock = no_state;      ///< with at most `crashes` movable processes and one blocked in its entry
  state_id exit_blocked = no_state;  ///< with a process blocked in its exit

  double bytes_per_state() const {
    return states == 0 ? 0 : static_cast<double>(store->bytes(states)) / static_cast<double>(states);
  }
  std::vector<id_range> used() const;
};

template <class Observer>
exploration explore(program& p, const explore_options& options, const run_limits& limits, unsigned extra_bits,
                    const std::function<Observer(const tables&)>& observe);

exploration explore(program& p, const explore_options& options, const run_limits& limits);

}  // namespace kgate::lab
