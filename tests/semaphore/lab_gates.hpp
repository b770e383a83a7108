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
/// k-assignment by a queue whose word has names. @tparam Base  has a queue_ with names
template <class Base>
class named : public Base {
 public:
  using typename Base::Process;
  struct Private : Base::Private {
    int name = -1;
  };
  using Base::Base;
  void acquire(Process& p, Private& mine) {
    this->begin();
    mine.name = this->queue_.try_enter_named(p);
    if (mine.name < 0) {
      if (!this->queue_.enter(p, mine, 1)) this->queue_.wait(p, mine);
      mine.name = this->queue_.take_name(p);
    }
    p.live(mine.name);
  }
  void release(Process& p, Private& mine) {
    this->begin();
    this->queue_.release_named(p, mine.name, small_words::one_out(small_words::permits_max));
  }
};
/// 9 bits of ticket, 3 names and 4 of count.
using small_named_words = ticket_word<std::uint16_t, 4, 3>;
struct looking {
  using queue = ticket_queue<checker_machine, small_named_words>;
  using Process = queue::Process;
  using Private = queue::Private;
  looking(checker_machine::Memory& memory, int N, int k)
      : queue_(memory, N, k, static_cast<queue::word>(small_named_words::ticket_mask - 1), k) {}
  void begin() {}
  queue queue_;
};
using named_gate = named<looking>;
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
