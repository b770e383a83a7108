// SPDX-License-Identifier: Apache-2.0
// Entering without a thread that waits: kgate/enter_event.hpp.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "gate/shared.hpp"
#include "kgate/enter_event.hpp"

namespace kgate {

namespace detail::gates {

struct suspended_entry::record {
  std::shared_ptr<gate::shared> at;  ///< the member may be gone once the wait is finished
  suspended_waiter waiter;
  word became{};
  std::atomic<bool> ended{false};
  std::atomic<bool> cancelled{false};  ///< by cancel()
  bool begun = false;
  bool abandoned = false;
  bool finished = false;
};

suspended_entry::suspended_entry(gate::member& member) : member_(&member), record_(std::make_unique<record>()) {
  record_->at = member.owner_;
}

suspended_entry::~suspended_entry() { abandon(); }

void suspended_entry::abandon() noexcept {
  record& mine = *record_;
  if (!mine.begun || mine.finished || !mine.at->memory.is_ours()) return;
  mine.abandoned = true;
  cancel();
  try {
    if (finish()) member_->leave();
  } catch (const gate_error&) {
  }
}

bool suspended_entry::begin(int weight, std::chrono::nanoseconds limit, attended_deaths* attended) {
  gate::member& m = *member_;
  record& mine = *record_;
  m.prepare_to_enter(weight);
  suspended_waiter& w = mine.waiter;
  w.wait.member = {m.number_, m.out_};
  w.wait.how.deadline_ns = gate::member::deadline_after(limit);
  w.wait.how.cancelled = &mine.cancelled;
  w.wait.how.attended = attended;
  w.owner = this;
  w.ended = [](void* self) noexcept {
    auto& me = *static_cast<suspended_entry*>(self);
    me.record_->ended.store(true);
    return !me.record_->abandoned && me.on_end();
  };
  w.resume = [](void* self) noexcept { static_cast<suspended_entry*>(self)->resume(); };
  mine.begun = true;
  if (const std::optional<entry> at_once = m.owner_->core.begin(w.wait, weight, mine.became)) {
    w.result = at_once;
    mine.ended.store(true);
    return false;
  }
  const int error = m.owner_->suspended.add(w);
  if (error == 0) return true;  // nothing of this may be touched any more
  mine.begun = false;
  const entry how = m.owner_->core.withdraw(w.wait, entry::timed_out);
  if (m.settle(how, true, w.wait.member.out, mine.became)) m.leave();
  throw gate_error(system_failure("cannot start a thread that waits at gate '" + m.owner_->name + "'", error));
}

void suspended_entry::attend_to_deaths() noexcept {
  if (record_->at->memory.is_ours()) record_->at->core.attend(record_->waiter.wait);
}

bool suspended_entry::ended() const noexcept { return record_->ended.load(); }

void suspended_entry::cancel() noexcept {
  record& mine = *record_;
  if (!mine.at->memory.is_ours()) return;
  if (!ended()) mine.cancelled.store(true);
  // Also if it has ended: the thread that says so may not have come to the end of on_end().
  suspended_waiters::withdraw(mine.waiter, entry::cancelled);
}

bool suspended_entry::finish() {
  record_->at->expect_ours();
  KGATE_EXPECTS(ended() && !record_->finished, "a wait is finished before it has ended, or twice");
  record_->finished = true;
  const suspended_waiter& w = record_->waiter;
  return member_->settle(*w.result, record_->cancelled.load(), w.wait.member.out, record_->became);
}

event_entry::event_entry(gate::member& member, int weight, std::chrono::nanoseconds limit, deaths how)
    : suspended_entry(member), ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (ended_ < 0) throw gate_error(system_failure("cannot wait by an eventfd", errno));
  try {
    if (how == deaths::attended) deaths_ = std::make_unique<attended_deaths>(ended_);
    if (deaths_ != nullptr && deaths_->descriptor() < 0)
      throw gate_error(system_failure("cannot wait by an epoll descriptor", errno));
    if (!begin(weight, limit, deaths_.get())) on_end();
  } catch (...) {
    ::close(ended_);
    throw;
  }
}
event_entry::~event_entry() {
  cancel();  // before the descriptor is closed, also if it has ended: see there
  ::close(ended_);
}

int event_entry::descriptor() const noexcept { return deaths_ == nullptr ? ended_ : deaths_->descriptor(); }

void event_entry::attend() noexcept {
  if (deaths_ != nullptr && !ended()) attend_to_deaths();
}

bool event_entry::on_end() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(ended_, &one, sizeof one);
  return false;
}

}  // namespace detail::gates

std::optional<gate::permit> enter_event::take() {
  if (!entry_.finish()) return std::nullopt;
  return gate::permit(std::move(member_));
}

}  // namespace kgate
