// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue experiment on a simulated multiprocessor: the very texts, on as many processors as wanted, with the
/// preemption of the paper's systems.

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/experiments/queue_curves.hpp"
#include "lab/multiprocessor/costs.hpp"

namespace kgate::lab {

/// What a curve runs.
struct queue_contender {
  int k = 0;          ///< k-assignment over nested fast paths; 0: none
  int herlihy = 0;    ///< with k = 0: Herlihy's object for so many processes; 0: the MCS lock
  bool tree = false;  ///< with k > 1: one fast path in front of a tree instead of nested ones
  std::string id() const;
  std::string name(const char* block) const;
};

/// Those of the paper's figure.
std::vector<queue_contender> contenders_of(queue_figure figure);

/// One run.
struct simulated_run {
  queue_figure figure = queue_figure::fig10;  ///< which block the fast paths are made of
  queue_contender what;
  machine_costs costs = sequent_like;
  int processors = 10;
  int processes = 10;
  long operations = 0;
  std::uint64_t seed = 1;
  bool large = false;  ///< the large queue; only with k > 0
  /// Called now and then with the number of operations done; false ends the run.
  std::function<bool(long done)> go_on = {};
};

struct simulated_outcome {
  bool complete = true;  ///< all operations were done
  double seconds = 0;    ///< of virtual time
  std::uint64_t accesses = 0;
  std::uint64_t remote = 0;
  std::uint64_t preemptions = 0;
  double queued = 0;  ///< part of the processors' time spent before a busy bus or module
};
simulated_outcome simulate_queue(const simulated_run& run);

struct simulated_queue_request {
  queue_figure figure = queue_figure::fig10;
  machine_costs costs = sequent_like;
  int processors = 10;
  std::vector<int> processes;
  long operations = 0;  ///< in all; 0: the paper's number
  std::uint64_t seed = 1;
  int repetitions = 1;                             ///< of each point, with seeds one apart
  std::vector<queue_contender> contenders;         ///< empty: those of the figure
  const std::atomic<bool>* interrupted = nullptr;  ///< set when the user asks to stop: the points so far are returned
  /// At the start of each run and now and then inside it, by one thread at a time: what runs, and how many runs are
  /// done.
  std::function<void(const std::string& what, int done, int all)> report;
};

/// The machine, the process counts and the costs of the paper's figure.
simulated_queue_request paper_request(queue_figure figure);

/// Runs are independent: they use all processors of this machine, and the outcome does not depend on how many there
/// are.
queue_curves run_simulated_queue(const simulated_queue_request& request);

/// How the cost of an operation grows with the machine: two processes on each processor, four operations of each
/// process.
struct scale_point {
  std::string id;
  int processors = 0;
  int processes = 0;
  double microseconds = 0;  ///< of virtual time for each operation
  double remote = 0;        ///< remote references for each operation
};

inline const std::vector<int> scale_processors{64, 256, 1024, 4096};

/// A bus for thousands would say nothing: each module serves its own part of memory. The quantum is a tenth, for there
/// are few operations.
machine_costs scaled_costs(machine_costs costs);

/// MCS, k = 1, 4, 16 over nested fast paths, k = 16 over a fast path and a tree, and Herlihy's object for all processes
/// where its N+1 blocks are not too large: on at most so many processors.
inline constexpr int scale_herlihy_processors = 1024;
std::vector<scale_point> run_queue_scale(const simulated_queue_request& base, const std::vector<int>& processors,
                                         int herlihy_processors_max = scale_herlihy_processors);

nlohmann::json to_json(const machine_costs& costs);
nlohmann::json to_json(const std::vector<scale_point>& points);

}  // namespace kgate::lab
