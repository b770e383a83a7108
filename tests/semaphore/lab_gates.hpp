// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kgate algorithm as the tests check it: small words, tickets that wrap during the run, processes that lose patience.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kgate/algorithms/bitmap_names.hpp"
#include "kgate/algorithms/kgate.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/model/machine.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {

/// 12 bits of ticket and 4 of count; the tests start two tickets before the wrap.
using small_words = gate_layout<std::uint16_t, std::uint16_t, 4>;
/// Q needs more room.
using middle_words = gate_layout<std::uint32_t, std::uint32_t, 4>;
struct strictly_local_words : small_words {
  static constexpr bool looks_around = false;
};

template <class M, int b, class L>
struct wrapping_gate : ticket_gate<M, b, L> {
  wrapping_gate(typename M::Memory& memory, int N, int k)
      : ticket_gate<M, b, L>(memory, N, k, static_cast<typename L::word>(L::ticket_mask - 1)) {}
};

using fifo_gate = wrapping_gate<checker_machine, 0, small_words>;
using strictly_local_gate = wrapping_gate<checker_machine, 0, strictly_local_words>;
template <int b>
using overtaking_gate = wrapping_gate<checker_machine, b, middle_words>;

/// On a machine that lets only every second sleeper be passed, as the native one does where it does not pay.
struct reluctant_machine : checker_machine {
  static bool may_be_passed(Process&, std::uint64_t ticket) { return ticket % 2 == 0; }
};
template <int b>
using reluctant_gate = wrapping_gate<reluctant_machine, b, middle_words>;
using slots_gate = bitmap_assignment<checker_machine, fifo_gate, std::uint8_t>;

/// Watches wake-ups: the variable `woken` has a bit for each ticket (the runs draw no more than it has bits), and who wakes a
/// ticket for the second time waits for ever, in its exit or in its entry, where the properties see it.
struct waking_machine : checker_machine {
  using bits = std::uint16_t;
  struct watcher {
    explicit watcher(Memory& memory) : woken(memory, {.name = "woken"}, bits{0}) {}
    Var<bits> woken;
  };
  static void note(Process& p, event e, std::uint64_t ticket) {
    if (e != event::waking) return;
    const bits mine = static_cast<bits>(1U << (ticket % 16));
    const bits before = current->woken.rmw(p["woken"], [mine](bits all) { return static_cast<bits>(all | mine); });
    if ((before & mine) != 0) current->woken.await(p["woken twice"], [](bits) { return false; });
  }
  static inline thread_local watcher* current = nullptr;
};

/// A process may give up its place once in a passage, at any of its looks, and then queues again: a time-out at any moment. The
/// coin is a variable whose reads may return either side, like a safe register that is for ever being written.
template <class M, class Gate = wrapping_gate<M, 0, small_words>>
class basic_impatient_gate {
 public:
  using Process = checker_machine::Process;
  using Private = typename Gate::Private;

  basic_impatient_gate(checker_machine::Memory& memory, int N, int k)
      : gate_(memory, N, k), coin_(memory, {.name = "coin"}, 0) {
    shared_variable& coin = memory.at(memory.size() - 1);
    coin.unstable = 0;
    for (const std::uint8_t side : {heads, tails}) coin.domain.push_back(coin.values.intern(to_bytes(side)));
  }
  void acquire(Process& p, Private& mine) {
    const auto impatient = [&] { return mine.given_up == 0 && coin_.read(p["coin"]) == tails; };
    while (!gate_.enter(p, mine, 1) && !gate_.wait(p, mine, impatient)) {
    }
    p.live();
  }
  void release(Process& p, Private& mine) { gate_.release(p, mine); }

 private:
  static constexpr std::uint8_t heads = 1, tails = 2;
  Gate gate_;
  checker_machine::Var<std::uint8_t> coin_;
};
using impatient_gate = basic_impatient_gate<checker_machine>;

/// Wrong: a leaver wakes once more whom it admitted.
template <class M>
struct twice_waking_gate : wrapping_gate<M, 0, small_words> {
  using base = wrapping_gate<M, 0, small_words>;
  using base::base;
  void release(typename base::Process& p, typename base::Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const auto old = this->put_back(p, 1);
    if (small_words::in_line(old) == 0) return;
    this->admit(p, old, 1);
    this->wake_up(p, small_words::E(old));
  }
};

/// The same as impatient_gate, and every wake-up is watched.
template <class Gate = wrapping_gate<waking_machine, 0, small_words>>
class watched_impatient_gate {
 public:
  using Process = checker_machine::Process;
  using gate = basic_impatient_gate<waking_machine, Gate>;
  using Private = typename gate::Private;
  watched_impatient_gate(checker_machine::Memory& memory, int N, int k) : watcher_(memory), gate_(memory, N, k) {}
  void acquire(Process& p, Private& mine) {
    waking_machine::current = &watcher_;
    gate_.acquire(p, mine);
  }
  void release(Process& p, Private& mine) {
    waking_machine::current = &watcher_;
    gate_.release(p, mine);
  }

 private:
  waking_machine::watcher watcher_;
  gate gate_;
};

/// What a run may have beyond the usual.
struct unusual {
  std::string wrong = {};       ///< an error made on purpose
  int first_more = 0;           ///< passages of process 0 beyond those of the others
  std::uint64_t gigabytes = 3;  ///< of memory, at most
};

template <class Algorithm>
check_result verdicts(int N, int k, int passages, int crashes, std::vector<std::string> properties,
                      const unusual& run = {}) {
  program_options options{.passages = passages, .wrong = {}, .first_more = run.first_more};
  if (!run.wrong.empty()) options.wrong.push_back(mutation::parse(run.wrong));
  program p(make_model<Algorithm>(N, k), N, k, options);
  check_request request;
  request.properties = std::move(properties);
  request.crashes = crashes;
  request.limits.memory_max = run.gigabytes << 30;
  return check(p, request);
}

inline std::string text(const check_result& r) {
  std::string all = std::to_string(r.states) + " states";
  for (const property_result& one : r.properties) all += ", " + one.name + " " + to_string(one.is);
  return all;
}

template <class Algorithm>
rmr_result worst_cc(int N, int k, int passages) {
  program p(make_model<Algorithm>(N, k), N, k, {.passages = passages, .wrong = {}});
  run_limits limits;
  limits.memory_max = std::uint64_t{3} << 30;
  return worst_rmr(p, cost_model{}, 0, limits);
}

}  // namespace kgate::lab
