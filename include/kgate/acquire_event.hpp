// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::acquire_event: a position in the queue of a semaphore as a file descriptor, for any event loop.
///
/// @code
///   kgate::acquire_event turn(downloads);              // joins the queue
///   loop.watch_readable(turn.descriptor());            // epoll, poll, libuv, ...
///   if (turn.ended()) kgate::permit inside = turn.take();
/// @endcode

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/waiting/suspended_request.hpp"
#include "kgate/permit.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

namespace kgate {

/// A request for w permits that no thread waits for. Its descriptor (an eventfd) becomes readable when the wait has
/// ended and stays so. Not copyable, not movable; one thread may use it at a time.
template <class Semaphore = semaphore>
class basic_acquire_event {
 public:
  /// Takes the permits if they are free, else joins the queue.
  /// @throws std::system_error if there is no descriptor to be had
  explicit basic_acquire_event(Semaphore& from, std::ptrdiff_t w = 1)
      : basic_acquire_event(from, w, deadline_node::clock::time_point::max()) {}
  /// Gives up when the time is over, which a thread of the library keeps.
  template <class Rep, class Period>
  basic_acquire_event(Semaphore& from, const std::chrono::duration<Rep, Period>& limit, std::ptrdiff_t w = 1)
      : basic_acquire_event(from, w, detail::deadline_after(limit)) {}
  basic_acquire_event(const basic_acquire_event&) = delete;
  basic_acquire_event& operator=(const basic_acquire_event&) = delete;
  /// Ends the wait. Permits that were not taken are handed back.
  ~basic_acquire_event() {
    cancel();
    if (!taken_ && request_.end() == detail::outcome::acquired) from_->release(w_);
  }

  /// Readable once the wait has ended. Not to be read from, written to or closed.
  int descriptor() const noexcept { return request_.descriptor(); }
  bool ended() const noexcept { return request_.ended(); }
  /// Ends the wait, if it has not ended.
  void cancel() noexcept {
    if (!ended()) request_.cancel();
  }
  /// The permits, once; empty if the wait was cancelled or its time is over. Only after it has ended, or the program
  /// stops.
  /// @throws refused if the semaphore is closed, or has fewer permits than were asked for
  [[nodiscard]] basic_permit<Semaphore> take() {
    KGATE_EXPECTS(ended() && !taken_, "permits are taken before the wait has ended, or twice");
    taken_ = true;
    const detail::outcome how = request_.end();
    detail::throw_if_refused(how);
    if (how == detail::outcome::acquired) return basic_permit<Semaphore>(*from_, std::adopt_lock, w_);
    return basic_permit<Semaphore>();
  }

 private:
  using deadline_node = detail::deadline_node;

  class request : public detail::suspended_request<request, Semaphore, detail::timed_waiter> {
    using base = detail::suspended_request<request, Semaphore, detail::timed_waiter>;
    friend base;

   public:
    request(Semaphore& from, std::ptrdiff_t w, deadline_node::clock::time_point until)
        : base(from, w), descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
      if (descriptor_ < 0)
        detail::throw_or_stop<std::system_error>(std::error_code(errno, std::generic_category()),
                                                 "kgate::acquire_event: eventfd");
      this->deadline = until;
    }
    ~request() { ::syscall(SYS_close, descriptor_); }

    void start(Semaphore& from) {
      if (this->ends_at_once(from) || !this->suspend(from)) resume();
    }
    using base::cancel;
    int descriptor() const noexcept { return descriptor_; }
    bool ended() const noexcept { return (this->word.load(std::memory_order_seq_cst) & has_ended) != 0; }
    /// How it has ended; waits for what the thread that ended it still has to do, a few instructions.
    detail::outcome end() noexcept {
      this->await_woken(*this);
      this->finish();
      return this->how;
    }

   private:
    // By syscall(), here and in the destructor: write() and close() are cancellation points, and a thread that hands
    // permits back must not end because a waiter uses a descriptor.
    static constexpr std::uint32_t has_ended = 16;

    void resume() noexcept {
      this->word.fetch_or(has_ended, std::memory_order_seq_cst);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::syscall(SYS_write, descriptor_, &one, sizeof one);
      this->notify(detail::waiter_word::woken);  // from here on this object may be gone
    }
    int descriptor_;
  };

  basic_acquire_event(Semaphore& from, std::ptrdiff_t w, deadline_node::clock::time_point until)
      : from_(&from), w_(w), request_(from, w, until) {
    request_.start(from);
  }

  Semaphore* from_;
  std::ptrdiff_t w_;
  bool taken_ = false;
  request request_;
};

template <class Semaphore, class... Rest>
basic_acquire_event(Semaphore&, Rest...) -> basic_acquire_event<Semaphore>;

using acquire_event = basic_acquire_event<>;

/// The same for a slot.
template <class Slots = slots>
class basic_slot_event {
 public:
  explicit basic_slot_event(Slots& from) : from_(&from), permit_(detail::suspended_slots::permits_of(from)) {}
  template <class Rep, class Period>
  basic_slot_event(Slots& from, const std::chrono::duration<Rep, Period>& limit)
      : from_(&from), permit_(detail::suspended_slots::permits_of(from), limit) {}

  int descriptor() const noexcept { return permit_.descriptor(); }
  bool ended() const noexcept { return permit_.ended(); }
  void cancel() noexcept { permit_.cancel(); }
  /// The slot, once; empty if the wait was cancelled or its time is over. Only after it has ended.
  /// @throws refused if the slots are closed
  [[nodiscard]] basic_slot<Slots> take() {
    auto its = permit_.take();
    if (!its) return {};
    its.forget();
    return {*from_, std::adopt_lock, detail::suspended_slots::take(*from_)};
  }

 private:
  Slots* from_;
  basic_acquire_event<detail::permits_type<Slots>> permit_;
};

template <class Slots, class... Rest>
basic_slot_event(Slots&, Rest...) -> basic_slot_event<Slots>;

using slot_event = basic_slot_event<>;

}  // namespace kgate
