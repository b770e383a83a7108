// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What things cost on a simulated multiprocessor. docs/experiments.md has the table.

#include <cstdint>
#include <string_view>

#include "lab/rmr/cost_model.hpp"

namespace kgate::lab {

/// Nanoseconds of virtual time.
using nanoseconds = std::int64_t;

struct machine_costs {
  std::string_view name;
  memory_model model = memory_model::cc_writeback;
  bool one_bus = false;      ///< all remote references go over one bus; else each memory module serves its own
  int words_per_line = 1;    ///< words of data that a cache fetches together
  nanoseconds step = 0;      ///< instructions around each access to shared memory
  nanoseconds local = 0;     ///< a hit in the cache, or a word of the processor's own memory
  nanoseconds remote = 0;    ///< a remote reference that finds the bus or the module free
  nanoseconds occupied = 0;  ///< how long a remote reference keeps the bus or the module from others
  nanoseconds rmw = 0;       ///< what a read-modify-write costs more than a write
  nanoseconds quantum = 0;   ///< how long a process runs before the next one of its processor does
  nanoseconds context_switch = 0;
};

/// In the manner of the Sequent Symmetry: a bus, caches that are written back, lines of 16 bytes. Primitives that the
/// machine lacks are short critical sections there, hence the dear read-modify-write.
inline constexpr machine_costs sequent_like{.name = "cc",
                                            .model = memory_model::cc_writeback,
                                            .one_bus = true,
                                            .words_per_line = 2,
                                            .step = 500,
                                            .local = 125,
                                            .remote = 1'000,
                                            .occupied = 400,
                                            .rmw = 2'000,
                                            .quantum = 100'000'000,
                                            .context_switch = 500'000};

/// In the manner of the BBN GP1000: no caches, a memory module with each processor, a switch between them.
inline constexpr machine_costs bbn_like{.name = "dsm",
                                        .model = memory_model::dsm,
                                        .one_bus = false,
                                        .words_per_line = 1,
                                        .step = 500,
                                        .local = 600,
                                        .remote = 6'600,
                                        .occupied = 1'000,
                                        .rmw = 4'000,
                                        .quantum = 100'000'000,
                                        .context_switch = 500'000};

/// The same machine with another quantum, and a context switch in the same proportion to it: for runs of fewer
/// operations, so that there are as many preemptions for each.
constexpr machine_costs with_quantum(machine_costs costs, nanoseconds quantum) {
  costs.context_switch = costs.context_switch * quantum / costs.quantum;
  costs.quantum = quantum;
  return costs;
}

}  // namespace kgate::lab
