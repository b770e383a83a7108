// SPDX-License-Identifier: Apache-2.0
#include "gate/doze_clock.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "gate/process_memory.hpp"
#include "gate/service_thread.hpp"
#include "kgate/algorithms/gate_doze_clock.hpp"

namespace kgate::detail::gates {

namespace {

constexpr int idle_ticks_most = 3;

/// Where there is no thread to be had, one is not asked for again for so long.
constexpr std::int64_t without_thread_ns = 1'000'000'000;

}  // namespace

/// The one of a process: ticks for all gate objects that have a clock, and ends with the last of them.
class clock_thread {
 public:
  /// Null if there is no memory for it. A forked child has one of its own.
  static clock_thread* of_this_process() noexcept;

  void add(doze_clock& clock) noexcept;
  /// Afterwards the thread does not touch the clock; and it has ended, if that was the last one.
  void remove(doze_clock& clock) noexcept;

 private:
  clock_thread() : mark_(0) {}
  static void* thread_main(void* self);
  void run() noexcept;
  bool begin() noexcept;
  void wake() noexcept {
    changes_.fetch_add(1);
    futex_wake(changes_);
  }
  std::int64_t tick_all() noexcept;

  const process_memory mark_;
  clock_thread* inherited_ = nullptr;  ///< of the process that forked this one: its lock may be taken for ever
  std::atomic<std::int64_t> none_before_ns_{0};
  std::atomic<std::uint32_t> changes_{0};
  std::mutex mutex_;
  doze_clock* first_ = nullptr;
  service_thread thread_;
  bool running_ = false;   ///< there is a thread to be joined
  bool finished_ = false;  ///< it has ended, or is about to
  bool ending_ = false;    ///< another thread joins it
};

clock_thread* clock_thread::of_this_process() noexcept {
  static std::atomic<clock_thread*> current{nullptr};
  clock_thread* there = current.load();
  if (there != nullptr && there->mark_.is_ours()) return there;
  try {
    std::unique_ptr<clock_thread> mine(new clock_thread);
    mine->inherited_ = there;
    if (!current.compare_exchange_strong(there, mine.get())) return there;
    return mine.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void clock_thread::add(doze_clock& clock) noexcept {
  if (now_ns() < none_before_ns_.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(mutex_);
  if (clock.ticks_ || !begin()) return;
  clock.ticks_ = true;
  clock.next_ = first_;
  first_ = &clock;
  wake();
}

/// Whether there is a thread that goes on.
bool clock_thread::begin() noexcept {
  if (ending_) return false;
  if (running_ && finished_) {
    thread_.join();
    running_ = false;
  }
  if (running_) return true;
  finished_ = false;
  // One that only an idle processor runs would be no help to those whose dozes it is to end.
  running_ = thread_.start(thread_main, this, service_thread::otherwise::none) == 0;
  if (!running_) none_before_ns_.store(now_ns() + without_thread_ns, std::memory_order_relaxed);
  return running_;
}

void clock_thread::remove(doze_clock& clock) noexcept {
  std::unique_lock lock(mutex_);
  for (doze_clock** at = &first_; clock.ticks_; at = &(*at)->next_) {
    if (*at != &clock) continue;
    *at = clock.next_;
    clock.ticks_ = false;
    break;
  }
  if (first_ != nullptr || !running_ || ending_) return;
  ending_ = true;
  wake();
  lock.unlock();
  thread_.join();
  lock.lock();
  running_ = ending_ = false;
}

void* clock_thread::thread_main(void* self) {
  static_cast<clock_thread*>(self)->run();
  return nullptr;
}

/// How long until the next tick.
std::int64_t clock_thread::tick_all() noexcept {
  std::int64_t least_ns = without_thread_ns;
  for (doze_clock** at = &first_; *at != nullptr;) {
    doze_clock& clock = **at;
    if (const std::int64_t ns = clock.tick()) {
      least_ns = std::min(least_ns, ns);
      at = &clock.next_;
    } else {
      *at = clock.next_;
      clock.ticks_ = false;
    }
  }
  return least_ns;
}

void clock_thread::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::uint32_t seen = changes_.load();
    const std::int64_t ns = tick_all();
    if (first_ == nullptr || ending_) {
      finished_ = true;
      return;
    }
    lock.unlock();
    const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
    futex_wait(changes_, seen, &timeout);
    lock.lock();
  }
}

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
  hands_.push_back({member});
  count_.fetch_add(1, std::memory_order_relaxed);
}

void doze_clock::remove(unsigned member) noexcept {
  const std::lock_guard guard(mutex_);
  const std::size_t gone = std::erase_if(hands_, [&](const hand& its) { return its.member == member; });
  count_.fetch_sub(static_cast<unsigned>(gone), std::memory_order_relaxed);
}

[[gnu::hot]] bool doze_clock::is_watched() noexcept {
  clock_cells variables(*this);
  return doze_clock_protocol(variables).is_watched();
}

void doze_clock::start() noexcept {
  clock_thread* const shared = clock_thread::of_this_process();
  if (shared == nullptr) return;
  thread_.store(shared);
  shared->add(*this);
}

void doze_clock::stop() noexcept {
  // Null in a forked child as well: there the lock may belong to a thread that the fork has left behind.
  if (clock_thread* const shared = thread_.load()) shared->remove(*this);
}

/// Ends the dozes that have lasted for long enough, and those of members that are no longer queued: what was to wake
/// them may be dead. Whether any member dozes.
bool doze_clock::check_members(std::int64_t at_ns, std::int64_t doze_ns) {
  clock_cells variables(*this);
  doze_clock_protocol protocol(variables);
  bool any = false;
  for (hand& its : hands_) {
    const bool dozes = cells_.dozes(its.member);
    const state now = cells_.state_of(its.member);
    any = any || dozes;
    if (!dozes || its.since_ns < 0 || now != its.seen)
      its.since_ns = dozes ? at_ns : -1;
    else if (at_ns - its.since_ns >= doze_ns || now.where() != kind::waits)
      protocol.end_doze(its.member);
    its.seen = now;
  }
  return any;
}

std::int64_t doze_clock::tick() noexcept {
  const pace how = tick_();
  wall_ns_.store(wall_coarse_ns(), std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  const std::lock_guard guard(mutex_);
  const bool first = !runs_.load(std::memory_order_relaxed);
  if (first) {
    runs_.store(true);
    for (hand& its : hands_) its = {its.member};
  }
  if (check_members(now, how.doze_ns) || how.waits != waits_ || first) waited_ns_ = now;
  waits_ = how.waits;
  clock_cells variables(*this);
  doze_clock_protocol protocol(variables);
  if (!how.goes_on) {
    protocol.retire_clock();
    return 0;
  }
  if (now - waited_ns_ < idle_ticks_most * how.tick_ns) return how.tick_ns;
  if (protocol.end_clock()) return 0;
  waited_ns_ = now;
  return how.tick_ns;
}

}  // namespace kgate::detail::gates
