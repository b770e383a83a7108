// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue as the catalogue lists it, where waiting is a look at W: small words, tickets that wrap during the run.

#include <cstdint>

#include "kgate/algorithms/bitmap_names.hpp"
#include "kgate/algorithms/ticket_queue.hpp"
#include "lab/rmr/worst_case.hpp"
#include "lab_check.hpp"

namespace kgate::lab {

/// 12 bits of ticket and 4 of count; the tests start two tickets before the wrap.
using small_words = ticket_word<std::uint16_t, 4>;

struct fifo_gate : ticket_queue<checker_machine, small_words> {
  fifo_gate(checker_machine::Memory& memory, int N, int k)
      : ticket_queue(memory, N, k, static_cast<word>(small_words::ticket_mask - 1)) {}
};
using slots_gate = bitmap_assignment<checker_machine, fifo_gate, std::uint8_t>;
using hinted_slots_gate = bitmap_assignment<checker_machine, fifo_gate, std::uint8_t, 2>;

template <class Algorithm>
rmr_result worst_cc(int N, int k, int passages) {
  program p(make_model<Algorithm>(N, k), N, k, {.passages = passages, .wrong = {}});
  run_limits limits;
  limits.memory_max = std::uint64_t{3} << 30;
  return worst_rmr(p, cost_model{}, 0, limits);
}

}  // namespace kgate::lab
