// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::gate: at most k at a time, between processes; in order, each with a slot number, and nothing is lost when a
/// process is killed, whatever it was doing.
///
///     kgate::gate gpus("gpu", 4);             // the gate "gpu" of this user, created with 4 slots if there is none
///     {
///       kgate::gate::permit permit = gpus.enter();
///       train_on(permit.slot());              // 0..3, no other's until the permit goes
///     }
///
/// A gate is a file its users map; there is no daemon. Waiters are served in the order in which they came. Link
/// kgate::gate. How it works and why it survives: algorithms/gate_protocol.hpp. What is promised to users:
/// docs/gates.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgate/algorithms/gate_short_path.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/waiting/wait_limit.hpp"
#include "kgate/gate_error.hpp"
#include "kgate/stop_token.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate {

namespace detail::cluster {
class lease_job;
class local_gate;
}  // namespace detail::cluster

namespace detail::gates {
class core;
class suspended_entry;
enum class entry : unsigned char;

/// A duration in nanoseconds, 0 if it is not positive, the longest if it is longer than that.
template <class Rep, class Period>
std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> time) {
  using std::chrono::nanoseconds;
  using wide = std::chrono::duration<long double>;
  if (!(time > time.zero())) return nanoseconds::zero();
  if (wide(time) >= wide(nanoseconds::max()) - wide(1)) return nanoseconds::max();
  return rounded_up(time);
}

/// What is left until a point in time, which may be any that can be written down.
template <class Clock, class Duration>
std::chrono::duration<long double> time_until(std::chrono::time_point<Clock, Duration> time) {
  using wide = std::chrono::duration<long double>;
  return wide(time.time_since_epoch()) - wide(Clock::now().time_since_epoch());
}
}  // namespace detail::gates

/// What no gate can have is refused, with gate_errc::bad_options, whether the gate exists or not.
struct gate_options {
  /// Where the gate is. Empty: $KGATE_DIR, or a directory of the user's own (docs/gates.md says which and why).
  std::string directory;
  /// The mode of a gate that is created, whatever the umask: 0660 shares it with a group. At most 0777, and the owner
  /// reads and writes.
  unsigned mode = 0600;
  /// The group of a gate that is created, by number; -1: that of the process or directory.
  int group = -1;
  /// Of a gate that is created: how many newcomers may pass the waiters between two grants from the queue. 0: none,
  /// first come first served. More is faster when many compete for short passages, and less fair. Not given: with N
  /// participants 256/N and at least 4, so that at most 7N + 512 others get in past one that has called. At most
  /// 2^31 - 1.
  std::optional<unsigned> overtakings = std::nullopt;
  /// What others see as the command of this process. Empty: the program's own name.
  std::string command{};
};

/// A member inside or waiting.
struct gate_participant {
  int process = 0;  ///< its number in its own PID namespace
  unsigned user = 0;
  std::string host;
  std::string command;
  std::chrono::system_clock::time_point
      since;  ///< inside since, or waiting since; whole seconds for a member that enters often
  int weight = 1;
  int slot = -1;     ///< its first slot, if it is inside and has asked for one
  int position = 0;  ///< 1 is next, if it waits
};

struct gate_status {
  int slots = 0;
  int free = 0;  ///< how many more may be inside now
  int over = 0;  ///< by how many those inside exceed a gate that was made smaller
  std::vector<gate_participant> holders;
  std::vector<gate_participant> waiters;
  std::uint64_t healed = 0;  ///< how many members died inside or waiting, and were healed
};

/// A gate shared by processes. Safe to use from many threads. A child made by fork may destroy what it inherits, which
/// does nothing; all else it does with that throws gate_error (forked): it opens the gate itself.
class gate {
 public:
  class member;
  class permit;

  /// Opens the gate `name`, or creates it with `slot_count` slots. With 0 it must exist. An existing gate must have
  /// been created with as many if they are given, or resized since: then its size stands. Throws gate_error.
  explicit gate(std::string_view name, int slot_count = 0, gate_options options = {});
  gate(gate&&) noexcept;
  gate& operator=(gate&&) noexcept;
  ~gate();

  /// Waits for `weight` permits. FIFO from the call (docs/gates.md says how exactly), but for overtaking
  /// (gate_options); and so a heavy request at the head holds up light ones behind it. Throws gate_error if
  /// the gate is removed meanwhile or damaged, the wait is cancelled, or weight is not in 1..slots().
  [[nodiscard("the permit leaves when it is destroyed")]] permit enter(int weight = 1);
  /// The same until `stop` is requested; nothing then.
  [[nodiscard]] std::optional<permit> enter(stop_token stop, int weight = 1);
  /// Now or not at all. Never passes waiters.
  [[nodiscard]] std::optional<permit> try_enter(int weight = 1);
  template <class Rep, class Period>
  [[nodiscard]] std::optional<permit> try_enter_for(std::chrono::duration<Rep, Period> time, int weight = 1);
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<permit> try_enter_until(std::chrono::time_point<Clock, Duration> time, int weight = 1);

  /// co_await gives a permit and blocks no thread; in kgate/async_gate.hpp, which says what the options are.
  template <class... Options>
  [[nodiscard]] auto async_enter(Options... options);

  /// A membership of one's own: the cheapest way to enter again and again. For one thread at a time.
  [[nodiscard]] member join();

  /// Throws gate_error if the file is damaged.
  [[nodiscard]] int slots() const;
  /// Changes k. Those inside stay; no other enters until there is room under the new k.
  void resize(int slot_count);
  /// The holders and the waiters, after healing dead members.
  gate_status status();
  /// Removes the gate. False, and nothing is done, if it has holders or waiters, unless forced: then waiters get
  /// gate_error, and holders stay inside a gate that no other process can open.
  bool remove(bool forced = false);

  /// If the file of a gate is truncated, its users get gate_error (damaged) from now on, instead of being ended by
  /// SIGBUS. Installs a handler for SIGBUS for the whole process, which forwards faults outside of gates to the handler
  /// before it; covers up to 1024 open gates at a time. Waiters asleep in the queue check once a second, since nothing
  /// can wake them then.
  static void guard_against_truncation();

 private:
  friend class member;
  friend class permit;
  friend class detail::gates::suspended_entry;
  friend class detail::cluster::local_gate;
  struct shared;

  shared& opened() const;

  std::shared_ptr<shared> shared_;
};

/// One participant of a gate, for one thread at a time: it can be inside once. Destroying it while inside leaves.
class gate::member {
 public:
  member(member&& other) noexcept;
  member& operator=(member&& other) noexcept;
  ~member();

  void enter(int weight = 1) {
    if (weight != 1 || !enter_at_once()) enter_slowly(weight);
  }
  [[nodiscard]] bool enter(stop_token stop, int weight = 1);
  [[nodiscard]] bool try_enter(int weight = 1) { return (weight == 1 && enter_at_once()) || enter_until(0, weight); }
  /// Times that cannot be represented are for ever, negative ones are now.
  template <class Rep, class Period>
  [[nodiscard]] bool try_enter_for(std::chrono::duration<Rep, Period> time, int weight = 1) {
    const std::chrono::nanoseconds limit = detail::gates::saturated(time);
    if (limit.count() == 0) return try_enter(weight);
    return enter_until(deadline_after(limit), weight);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_enter_until(std::chrono::time_point<Clock, Duration> time, int weight = 1) {
    return try_enter_for(detail::gates::time_until(time), weight);
  }
  /// The same, or until `stop` is requested.
  template <class Rep, class Period>
  [[nodiscard]] bool try_enter_for(stop_token stop, std::chrono::duration<Rep, Period> time, int weight = 1) {
    return enter_until_stopped(std::move(stop), deadline_after(detail::gates::saturated(time)), weight);
  }
  void leave() {
    if (!leave_at_once()) leave_slowly();
  }

  [[nodiscard]] bool inside() const noexcept { return inside_; }
  /// A number 0..k-1 that no other inside has. Taken at the first call, given back by leaving.
  int slot();
  /// All slots of a request with a weight.
  std::vector<int> slots();
  /// Greater than every token taken before: a fencing token.
  std::uint64_t token();

 private:
  friend class gate;
  friend class permit;
  friend class detail::gates::suspended_entry;
  friend class detail::cluster::lease_job;

  member(std::shared_ptr<shared> owner, unsigned number, detail::gates::state out);
  static std::int64_t deadline_after(std::chrono::nanoseconds time);
  void enter_slowly(int weight);
  bool enter_until_stopped(stop_token stop, std::int64_t deadline_ns, int weight);
  bool enter_until(std::int64_t deadline_ns, int weight, const std::atomic<bool>* cancelled = nullptr);
  void prepare_to_enter(int weight);
  bool settle(detail::gates::entry result, bool by_caller, detail::gates::state out, detail::gates::word became);
  void leave_slowly();
  void part() noexcept;

  /// The gate's words as the short paths reach them.
  struct direct_cells {
    static constexpr int tries_max = 8;

    bool update_word(detail::gates::word& expected, detail::gates::word desired) {
      std::uint64_t was = expected.bits;
      const bool done = self->word_->compare_exchange_strong(was, desired.bits);
      if (!done) expected = {was};
      return done;
    }
    detail::gates::word word() const { return {self->word_->load()}; }
    detail::gates::call_count calls() const { return {self->calls_->load()}; }
    bool looks_at_calls(detail::gates::state out) const { return (out.bits & self->short_passages_) == 0; }
    detail::gates::state state_of(unsigned j) const { return {(self->state_ - self->number_)[j].load()}; }
    void set_state(const unsigned&, detail::gates::state s) { self->state_->store(s.bits, std::memory_order_release); }
    static void back_off(int tries) {
      for (int left = 32 << std::min(tries, 2); left > 0; --left) cpu_relax();
    }
    template <class... T>
    void live(const T&...) const {}

    const member* self;
  };

  bool enter_at_once() {
    auto* const my_time = entered_;  // read before: no load passes the compare-and-swap
    if (!detail::gates::short_path(direct_cells{this}).enter(number_, out_, *guess_)) return false;
    inside_ = true;
    // Whole seconds: a finer clock would cost more than the rest of this function.
    my_time->store(static_cast<std::uint64_t>(std::time(nullptr)) * 1'000'000'000U, std::memory_order_relaxed);
    return true;
  }
  bool leave_at_once() {
    const detail::gates::state out = out_.next_from_out();  // before, as above
    if (!detail::gates::short_path(direct_cells{this}).leave(number_, out_, *guess_)) return false;
    out_ = out;
    inside_ = false;
    return true;
  }
  /// Keeps what this member made of W, if the shortcuts may build on it.
  void guess(detail::gates::word made);

  std::atomic<std::uint64_t>* word_ = nullptr;
  std::atomic<std::uint64_t>* calls_ = nullptr;
  std::atomic<std::uint64_t>* state_ = nullptr;  ///< in an array, by members' numbers
  std::atomic<std::uint64_t>* entered_ = nullptr;
  std::uint64_t* guess_ = nullptr;    ///< what this member last made of W; the kernel clears it in a forked child
  detail::gates::state out_{};        ///< its state when it is out; its own record, not what the file says
  std::uint64_t short_passages_ = 0;  ///< the bits of its state that are 0 in passages that check for callers
  bool inside_ = false;
  std::vector<int> slots_;
  std::uint64_t token_ = 0;
  unsigned number_ = 0;
  std::shared_ptr<shared> owner_;
};

/// Being inside a gate; leaving is destroying it.
class gate::permit {
 public:
  permit(permit&&) noexcept = default;
  permit& operator=(permit&& other) noexcept;
  ~permit() { release(); }

  /// As of the member; not after release().
  int slot() { return inside().slot(); }
  std::vector<int> slots() { return inside().slots(); }
  std::uint64_t token() { return inside().token(); }
  /// Leaves now rather than at the end.
  void release() noexcept;

 private:
  friend class gate;
  friend class enter_event;
  friend class detail::gates::suspended_entry;
  explicit permit(std::unique_ptr<member> inside) : member_(std::move(inside)) {}
  member& inside() const;

  std::unique_ptr<member> member_;
};

template <class Rep, class Period>
std::optional<gate::permit> gate::try_enter_for(std::chrono::duration<Rep, Period> time, int weight) {
  auto entrant = std::make_unique<member>(join());
  if (!entrant->try_enter_for(time, weight)) return std::nullopt;
  return permit(std::move(entrant));
}

template <class Clock, class Duration>
std::optional<gate::permit> gate::try_enter_until(std::chrono::time_point<Clock, Duration> time, int weight) {
  return try_enter_for(detail::gates::time_until(time), weight);
}

}  // namespace kgate
