// SPDX-License-Identifier: Apache-2.0
#include "gate/doze_clock.hpp"

#include <signal.h>

#include <algorithm>

#include "kgate/algorithms/gate_doze_clock.hpp"

namespace kgate::detail::gates {

namespace {

constexpr int idle_ticks_most = 3;

}  // namespace

/// The variables of doze_clock_protocol; under the clock's lock, but for runs().
class doze_clock::clock_cells {
 public:
  explicit clock_cells(doze_clock& clock) : clock_(clock) {}
  bool runs() const { return clock_.runs_.load(); }
  void set_runs(bool runs) { clock_.runs_.store(runs); }
  bool dozes(unsigned i) const { return clock_.cells_.dozes(i); }
  void set_over(unsigned i) { clock_.cells_.set_over(i); }
  unsigned first() { return member_at(0); }
  unsigned next(unsigned) { return member_at(at_ + 1); }
  static void live(int, unsigned) {}

 private:
  unsigned member_at(std::size_t at) {
    at_ = at;
    return at < clock_.hands_.size() ? clock_.hands_[at].member : no_member;
  }

  doze_clock& clock_;
  std::size_t at_ = 0;
};

void doze_clock::add(unsigned member) {
  const std::lock_guard guard(mutex_);
  hands_.push_back({member, {}});
}

void doze_clock::remove(unsigned member) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase_if(hands_, [&](const hand& its) { return its.member == member; });
}

[[gnu::hot]] bool doze_clock::is_watched() noexcept {
  clock_cells variables(*this);
  return doze_clock_protocol(variables).is_watched();
}

void doze_clock::start() noexcept {
  const std::lock_guard guard(mutex_);
  if (running_ && !finished_) return;
  if (running_) pthread_join(thread_, nullptr);
  finished_ = false;
  sigset_t all, before;
  sigfillset(&all);
  for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  running_ = pthread_create(&thread_, nullptr, thread_main, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void doze_clock::stop() noexcept {
  if (!running_) return;  // and then the mutex may belong to a thread that a fork has left behind
  stopping_.store(1);
  futex_wake(stopping_);
  pthread_join(thread_, nullptr);
  running_ = false;
}

void* doze_clock::thread_main(void* self) {
  static_cast<doze_clock*>(self)->run();
  return nullptr;
}

/// Ends the dozes that have lasted since the last tick. Whether anybody has done anything since then.
bool doze_clock::check_members() {
  clock_cells variables(*this);
  doze_clock_protocol protocol(variables);
  bool any = false;
  for (hand& its : hands_) {
    const bool dozes = cells_.dozes(its.member);
    const state now = cells_.state_of(its.member);
    if (dozes && now == its.seen) protocol.end_doze(its.member);
    if (dozes || now != its.seen) any = true;
    its.seen = now;
  }
  return any;
}

void doze_clock::run() noexcept {
  int idle_ticks = 0;
  for (bool first = true;; first = false) {
    const std::int64_t ns = tick_();
    wall_ns_.store(wall_coarse_ns(), std::memory_order_relaxed);
    {
      const std::lock_guard guard(mutex_);
      if (first) runs_.store(true);
      idle_ticks = check_members() ? 0 : idle_ticks + 1;
      if (idle_ticks >= idle_ticks_most) {
        clock_cells variables(*this);
        finished_ = doze_clock_protocol(variables).end_clock();
        if (finished_) return;
        idle_ticks = 0;
      }
    }
    const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
    futex_wait(stopping_, 0, &timeout);
    if (stopping_.load() != 0) return;
  }
}

}  // namespace kgate::detail::gates
