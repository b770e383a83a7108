// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A request for permits that no thread waits for: what coroutines, completion handlers and event loops have in common.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/waiting/deadlines.hpp"
#include "kgate/detail/waiting/native_room.hpp"

namespace kgate::detail {

/// What a semaphore lets its suspended requests use.
template <class Semaphore>
struct suspension {
  using machine = typename Semaphore::machine;
  using algorithm = typename Semaphore::algorithm;
  using process = typename Semaphore::process;
  using statistics_type = typename Semaphore::statistics_type;

  /// The key is the address of the semaphore itself: its queue is its first member.
  static const void* key_of(const Semaphore& s) noexcept {
    KGATE_EXPECTS(s.gate_.key() == &s, "the queue is not the first member of its semaphore");
    return s.gate_.key();
  }
  static Semaphore& semaphore_of(const void* key) noexcept { return *static_cast<Semaphore*>(const_cast<void*>(key)); }
  static statistics_type* counts_of(const Semaphore& s) noexcept { return &s.counts_; }
  static outcome end_without_permits(const Semaphore& s, std::uint32_t w, bool expired) noexcept {
    return s.end_without_permits(w, expired);
  }
  static bool too_heavy(const Semaphore& s, std::uint32_t w) noexcept { return s.too_heavy(w); }
  template <class Request>
  static void serve_queue(native_waiter& head, native_bucket& b, taken_waiters& taken) {
    machine::template serve_queue_of<Request, algorithm>(head, b, taken);
  }

  /// Queues it, or not: then `how` says why, and the answer is false. True: the request may be gone.
  template <class Request>
  static bool enroll(Semaphore& s, Request& me) {
    using enrollment = typename algorithm::enrollment;
    process p(s.caller(), key_of(s));
    const std::uint32_t w = me.weight;
    const enrollment now = s.gate_.enroll(p, me, w, [&] { return s.too_heavy(w) || me.expired(); });
    if (now == enrollment::suspended) [[likely]]
      return true;
    if (now == enrollment::expired && give_up(s, me)) return false;
    s.note_grant();
    me.how = outcome::acquired;
    return false;
  }
  /// With a process of its own, so that enroll() needs no stack.
  template <class Request>
  [[gnu::noinline]] static bool give_up(Semaphore& s, Request& me) {
    process p(s.caller(), key_of(s));
    if (!s.gate_.give_up_enrolled(p, me)) return false;
    me.how = s.given_up(me.weight, me.expired());
    return true;
  }
  template <class Request>
  static bool withdraw(Request& me) noexcept {
    process p({me.counts()}, me.key);
    return const_cast<algorithm*>(static_cast<const algorithm*>(me.key))->withdraw(p, me);
  }
};

/// Derived has resume(), called once the request was suspended and has ended as `how` says, by whatever thread ended
/// it; nothing of it is touched afterwards. Node is native_waiter or timed_waiter.
template <class Derived, class Semaphore, class Node>
class suspended_request : public Node {
  using access = suspension<Semaphore>;
  using statistics_type = typename access::statistics_type;
  static constexpr bool timed = std::is_base_of_v<deadline_node, Node>;

 public:
  suspended_request(const suspended_request&) = delete;
  suspended_request& operator=(const suspended_request&) = delete;

  /// For the room.
  statistics_type* counts() const noexcept {
    if constexpr (statistics_type::counts)
      return counts_;
    else
      return nullptr;
  }
  /// Whether something other than a refusal ends the wait.
  bool expired() const noexcept {
    if constexpr (requires { requires Derived::never_expires; }) return false;
    if ((this->word.load(std::memory_order_seq_cst) & waiter_word::interrupted) != 0) return true;
    if constexpr (timed) return this->has_deadline() && deadline_node::clock::now() >= this->deadline;
    return false;
  }

 protected:
  suspended_request(const Semaphore& from, std::ptrdiff_t w) noexcept {
    KGATE_EXPECTS(w >= 1 && w <= Semaphore::max(), "acquire of fewer than one permit, or of more than there can be");
    this->key = access::key_of(from);
    this->is = &kind_of_request;
    this->weight = static_cast<std::uint32_t>(w);
    if constexpr (statistics_type::counts) counts_ = access::counts_of(from);
  }
  ~suspended_request() = default;

  Semaphore& semaphore() const noexcept { return access::semaphore_of(this->key); }
  /// Whether it ends without being queued; then `how` says how.
  bool ends_at_once(Semaphore& from) noexcept {
    this->how = outcome::acquired;
    if (from.try_acquire(static_cast<std::ptrdiff_t>(this->weight))) return true;
    if (!access::too_heavy(from, this->weight) && !expired()) [[likely]]
      return false;
    this->how = access::end_without_permits(from, this->weight, expired());
    return true;
  }
  /// Queues it. True: resume() follows, or has run already, so nothing of this may be touched. False: it has
  /// ended. Not inlined: a compiler might keep locals in the frame of the coroutine that calls this.
  [[gnu::noinline, gnu::flatten]] bool suspend(Semaphore& from) {
    if constexpr (timed) {
      if (this->has_deadline()) deadlines::of_process().add(*this);
    }
    return access::enroll(from, derived());
  }
  /// Ends the wait, if it has not ended: `how` is expired.
  void cancel() noexcept {
    this->word.fetch_or(waiter_word::interrupted, std::memory_order_seq_cst);  // in case it is queued later
    if (!access::withdraw(derived())) return;
    this->how = outcome::expired;
    derived().resume();
  }
  /// Ends the wait without resume(); false if resume() has run, runs or will run.
  bool abandon() noexcept { return access::withdraw(derived()); }
  /// After resume(), or where it ended at once.
  void finish() noexcept {
    if constexpr (timed) {
      if (this->has_deadline()) deadlines::of_process().remove(*this);
    }
    if constexpr (statistics_type::counts) {
      if (this->suspended)
        (this->how == outcome::acquired ? counts_->grants : counts_->given_up).fetch_add(1, std::memory_order_relaxed);
    }
    this->suspended = false;
  }

 private:
  Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  static void resume_waiter(native_waiter& w) noexcept { static_cast<Derived&>(w).resume(); }
  static void expire_waiter(native_waiter& w) noexcept { static_cast<Derived&>(w).cancel(); }
  static void serve_queue(native_waiter& head, native_bucket& b, taken_waiters& taken) {
    access::template serve_queue<Derived>(head, b, taken);
  }
  static constexpr native_waiter::kind kind_of_request{&serve_queue, &resume_waiter, &expire_waiter,
                                                       &access::machine::template tag_of<typename access::algorithm>};

  struct uncounted {};
  [[no_unique_address]] std::conditional_t<statistics_type::counts, statistics_type*, uncounted> counts_{};
};

}  // namespace kgate::detail
