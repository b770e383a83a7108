// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::enter_event: a position in the queue of a gate as a file descriptor, for any event loop.
///
/// @code
///   kgate::enter_event turn(gpus);                     // queues up
///   loop.watch_readable(turn.descriptor());            // epoll, poll, libuv, ...
///   if (turn.ended()) kgate::gate::permit inside = turn.take().value();
/// @endcode
///
/// Link kgate::gate. A thread of the library sleeps for up to 127 such waiters of a gate object.

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "kgate/gate.hpp"

namespace kgate {

namespace detail::gates {

class attended_deaths;

/// A member's request that no thread of the program waits for: what event loops and coroutines have in common. The
/// member is used by nothing else until finish().
class suspended_entry {
 public:
  suspended_entry(const suspended_entry&) = delete;
  suspended_entry& operator=(const suspended_entry&) = delete;

  /// Whether the wait has ended. It stays so.
  bool ended() const noexcept;
  /// Ends the wait, if it has not ended. From any thread.
  void cancel() noexcept;
  /// Once it has ended: true if the member is inside, false if it gave up. Throws gate_error, as entering does.
  bool finish();

 protected:
  explicit suspended_entry(gate::member& member);
  virtual ~suspended_entry();
  /// Ends the wait without on_end(); a member that got inside leaves, unless finish() was called. For the destructors
  /// of those that own the member.
  void abandon() noexcept;

  /// Queues up: true; then on_end() follows or has been called, and with resume() this object may be gone. Or it has
  /// ended: false. A cancel() from before counts.
  /// @throws gate_error
  bool begin(int weight, std::chrono::nanoseconds limit, attended_deaths* attended = nullptr);
  /// Of a wait with attended deaths: they may have something to tell.
  void attend_to_deaths() noexcept;
  /// The wait has ended, in whatever thread; under a lock, so it must not use the gate. True: resume() is to follow.
  virtual bool on_end() noexcept = 0;
  /// Without the lock. Nothing of this object is touched afterwards.
  virtual void resume() noexcept {}
  /// After finish(): being inside, as a permit.
  static gate::permit permit_of(std::unique_ptr<gate::member> inside) { return gate::permit(std::move(inside)); }

 private:
  struct record;

  gate::member* member_;
  std::unique_ptr<record> record_;
};

/// One with a descriptor that becomes readable when the wait has ended, and stays so.
class event_entry final : public suspended_entry {
 public:
  /// What watches for the death of processes that this one waits for: a thread of the library, or the caller. Then the
  /// descriptor may become readable before the wait has ended, and attend() is to be called.
  enum class deaths : bool { watched_by_thread, attended };
  /// @throws gate_error, also if there is no descriptor to be had
  event_entry(gate::member& member, int weight, std::chrono::nanoseconds limit, deaths how = deaths::watched_by_thread);
  ~event_entry() override;
  int descriptor() const noexcept;
  void attend() noexcept;

 private:
  bool on_end() noexcept override;

  int ended_;  ///< an eventfd
  std::unique_ptr<attended_deaths> deaths_;
};

}  // namespace detail::gates

/// A request for `weight` permits of a gate that no thread waits for. Its descriptor (an eventfd) becomes readable when
/// the wait has ended, and stays so. Not copyable, not movable; one thread may use it at a time.
class enter_event {
 public:
  /// Enters if it can, else queues up, for ever or until the time is over. Throws gate_error.
  explicit enter_event(gate& at, int weight = 1) : enter_event(at, weight, std::chrono::nanoseconds::max()) {}
  template <class Rep, class Period>
  enter_event(gate& at, std::chrono::duration<Rep, Period> limit, int weight = 1)
      : enter_event(at, weight, detail::gates::saturated(limit)) {}

  /// Readable once the wait has ended. Not to be read from, written to or closed.
  int descriptor() const noexcept { return entry_.descriptor(); }
  bool ended() const noexcept { return entry_.ended(); }
  /// Ends the wait, if it has not ended.
  void cancel() noexcept { entry_.cancel(); }
  /// The permit, once; nothing if the wait was cancelled or its time is over. Only after it has ended, or the program
  /// stops. Throws gate_error, as gate::enter does. Not taken, it goes back when this is destroyed.
  [[nodiscard]] std::optional<gate::permit> take();

 private:
  enter_event(gate& at, int weight, std::chrono::nanoseconds limit)
      : member_(std::make_unique<gate::member>(at.join())), entry_(*member_, weight, limit) {}

  std::unique_ptr<gate::member> member_;
  detail::gates::event_entry entry_;
};

}  // namespace kgate
