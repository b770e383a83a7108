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
  bool by_caller = false;
  bool begun = false;
  bool finished = false;
};

suspended_entry::suspended_entry(gate::member& member) : member_(&member), record_(std::make_unique<record>()) {
  record_->at = member.owner_;
}

suspended_entry::~suspended_entry() {
  if (!record_->begun || record_->finished || !record_->at->memory.is_ours()) return;
  cancel();
  try {
    if (finish()) member_->leave();
  } catch (const gate_error&) {
  }
}

void suspended_entry::begin(int weight, std::chrono::nanoseconds limit) {
  gate::member& m = *member_;
  record& mine = *record_;
  m.prepare_to_enter(weight);
  suspended_waiter& w = mine.waiter;
  w.wait.member = {m.number_, m.out_};
  w.wait.how.deadline_ns = gate::member::deadline_after(limit);
  w.owner = this;
  w.ended = [](void* self) noexcept {
    auto& me = *static_cast<suspended_entry*>(self);
    me.record_->ended.store(true);
    return me.on_end();
  };
  w.resume = [](void* self) noexcept { static_cast<suspended_entry*>(self)->resume(); };
  if (const std::optional<entry> at_once = m.owner_->core.begin(w.wait, weight, mine.became)) {
    w.result = at_once;
    mine.begun = true;
    mine.ended.store(true);
    return;
  }
  if (const int error = m.owner_->suspended.add(w)) {
    m.out_ = w.wait.member.out;
    const entry how = m.owner_->core.withdraw(w.wait, entry::cancelled);
    if (m.settle(how, true, w.wait.member.out, mine.became)) m.leave();
    throw gate_error(system_failure("cannot start a thread that waits at gate '" + m.owner_->name + "'", error));
  }
  mine.begun = true;
}

bool suspended_entry::ended() const noexcept { return record_->ended.load(); }

void suspended_entry::cancel() noexcept {
  if (record_->waiter.home == nullptr || !record_->at->memory.is_ours()) return;
  if (!ended()) record_->by_caller = true;
  // Also if it has ended: the thread that says so may not have come to the end of on_end().
  suspended_waiters::withdraw(record_->waiter, entry::cancelled);
}

bool suspended_entry::finish() {
  record_->at->expect_ours();
  KGATE_EXPECTS(ended() && !record_->finished, "a wait is finished before it has ended, or twice");
  record_->finished = true;
  const suspended_waiter& w = record_->waiter;
  return member_->settle(*w.result, record_->by_caller, w.wait.member.out, record_->became);
}

event_entry::event_entry(gate::member& member, int weight, std::chrono::nanoseconds limit)
    : suspended_entry(member), descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw gate_error(system_failure("cannot wait by an eventfd", errno));
  try {
    begin(weight, limit);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  if (ended()) on_end();
}
event_entry::~event_entry() {
  cancel();  // before the descriptor is closed
  ::close(descriptor_);
}

bool event_entry::on_end() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
  return false;
}

}  // namespace detail::gates

std::optional<gate::permit> enter_event::take() {
  if (!entry_.finish()) return std::nullopt;
  return gate::permit(std::move(member_));
}

}  // namespace kgate
