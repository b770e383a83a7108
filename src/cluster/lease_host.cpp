// SPDX-License-Identifier: Apache-2.0
#include "cluster/lease_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cluster/gate_nodes.hpp"
#include "cluster/local_gate.hpp"

namespace kgate::detail::cluster {

namespace {
/// How long a lessor sleeps at most: a job may have queued up long after it rang.
constexpr std::chrono::milliseconds nap_max{1000}, nap_short{10};
constexpr std::chrono::microseconds turn_of_each{200};
}  // namespace

kept_slots::kept_slots(gate& local, int slots, listener& owner) : local_(local), owner_(owner) {
  grow(slots);
  thread_ = std::jthread([this](const std::stop_token& stop) { wait_for_slots(stop); });
}

kept_slots::~kept_slots() { end(); }

void kept_slots::grow(int slots) {
  const std::scoped_lock lock(mutex_);
  for (auto i = static_cast<int>(held_.size()); i < slots; ++i) spare_.push_back(local_.join());
  held_.resize(std::max(held_.size(), static_cast<std::size_t>(slots)));
  restore_size();
}

void kept_slots::put_right() {
  const std::scoped_lock lock(mutex_);
  restore_size();
}

void kept_slots::restore_size() {
  const auto size = static_cast<int>(held_.size());
  if (local_.slots() != size) local_.resize(size);
}

void kept_slots::request() {
  const std::scoped_lock lock(mutex_);
  requested_ = true;
  changed_.notify_all();
}

std::optional<int> kept_slots::take() {
  const std::scoped_lock lock(mutex_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  return std::exchange(taken_, std::nullopt);
}

void kept_slots::leave(int slot) {
  const std::scoped_lock lock(mutex_);
  auto& there = held_[static_cast<std::size_t>(slot)];
  there->leave();
  spare_.push_back(std::move(*there));
  there.reset();
}

void kept_slots::end() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::scoped_lock lock(mutex_);
  for (auto& one : held_) one.reset();
}

void kept_slots::wait_for_slots(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return requested_; })) {
    try {
      enter(lock, stop);
    } catch (const gate_error& error) {
      if (!lock.owns_lock()) lock.lock();
      if (error.code() != gate_errc::cancelled) failure_ = std::current_exception();  // if it was, asks again
    }
    owner_.alert();
    if (failure_ != nullptr) return;
  }
}

void kept_slots::enter(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  if (spare_.empty()) spare_.push_back(local_.join());
  gate::member mine = std::move(spare_.back());
  spare_.pop_back();
  lock.unlock();
  int slot = -1;
  try {
    if (mine.enter(stop)) slot = mine.slot();
  } catch (...) {
    lock.lock();
    spare_.push_back(std::move(mine));
    throw;
  }
  lock.lock();
  if (slot >= 0 && static_cast<std::size_t>(slot) < held_.size()) {
    auto& there = held_[static_cast<std::size_t>(slot)];
    if (there) throw gate_error({gate_errc::damaged, "a slot of the local gate of a lease was given twice"});
    requested_ = false;
    taken_ = slot;
    there.emplace(std::move(mine));
    return;
  }
  const bool beyond = slot >= 0;  // L7: another process has made the local gate larger
  if (beyond) mine.leave();
  spare_.push_back(std::move(mine));
  if (beyond) restore_size();
}

lease_bell::lease_bell(lease_file& file, listener& owner) : file_(file), owner_(owner) {
  thread_ = std::jthread([this](const std::stop_token& stop) { hear(stop); });
}

lease_bell::~lease_bell() {
  thread_.request_stop();
  changed_.notify_all();
  file_.ring();
}

void lease_bell::listen(std::uint32_t seen) {
  const std::scoped_lock lock(mutex_);
  if (seen_) return;
  seen_ = seen;
  changed_.notify_all();
}

void lease_bell::hear(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return seen_.has_value(); })) {
    const std::uint32_t seen = *seen_;
    lock.unlock();
    file_.await_ring(seen);
    owner_.alert();
    lock.lock();
    seen_.reset();
  }
}

lease_host::lease_host(std::shared_ptr<session> s, const participant_data& who, const settings& how, lease_file& file,
                       gate& local, int slots)
    : request_client(*s, how.where.root + "/" + how.name, who, {}),
      session_kept_(std::move(s)),
      how_(how),
      file_(file),
      local_(local),
      kept_(local, slots, events()),
      bell_(file, events()) {
  mine.at.resize(static_cast<std::size_t>(slots));
  bell_seen_ = file_.words().bell.load();
  epoch_ = file_.words().epoch.fetch_add(1) + 1;
  session_kept_->publish_validity(file_.words().valid_until_ns);
}

void lease_host::next_request() {
  bell_seen_ = file_.words().bell.load();
  request_client::next_request();
}

answered<bool> lease_host::anybody_waits(const gate_id& id) {
  events().forget();
  const std::string path = queue_path(id);
  const auto names = current().children(path, &events());
  answered<bool> out{names.is, false};
  waiting_ = names.value.size();
  if (names.is == answer::ok)
    for (const waiter_name& one : waiters_among(names.value, path))
      out.value = out.value || session_of(one.request) != current().id();
  return out;
}

answered<std::vector<waiter_name>> lease_host::queue(const gate_id& id) {
  auto out = request_client::queue(id);
  waiting_ = out.value.size();
  return out;
}

answered<gate_size> lease_host::size(const gate_id& id) {
  const auto out = request_client::size(id);
  if (out.is == answer::ok) file_.words().slots.store(static_cast<std::uint32_t>(out.value.slots));
  return out;
}

/// Every waiter lists the queue, so the more wait the longer a turn lasts: what the ensemble has to list in a
/// second does not grow with them.
lease_host::clock::duration lease_host::turn() const {
  return std::max<clock::duration>(how_.options.turn, waiting_ * turn_of_each);
}

local_view lease_host::local() {
  if (!local_gate::is_in_place(local_))  // L6
    throw gate_error({gate_errc::removed, "the local gate of the lease of gate '" + how_.name +
                                              "' was removed, and so the lease ends; its jobs lose their slots"});
  kept_.put_right();  // L7
  local_view out;
  if (const std::optional<int> slot = kept_.take()) out.taken = *slot;
  const std::uint32_t bell = file_.words().bell.load();
  const gate_status seen = local_.status();
  const bool rung = bell != bell_seen_;
  for (const gate_participant& one : seen.waiters) out.wanted += one.process != getpid() ? one.weight : 0;
  if (out.wanted == 0 && rung) {
    // What has rung may not have queued up yet. A slot that is free will do, if it was one job.
    if (seen.free > 0) {
      bell_seen_ = bell;
      short_naps_ = 10;
    } else {
      out.wanted = 1;
    }
  }
  const clock::time_point now = clock::now();
  if (seen.free <= 0)
    unused_since_.reset();
  else if (!unused_since_)
    unused_since_ = now;
  out.idle = unused_since_ && now - *unused_since_ >= how_.options.idle;
  out.turn_over = now - turn_began_ >= turn();
  ending_ = out.ending = stop_.stop_requested();
  return out;
}

void lease_host::lend(int i, const slot_numbers& slots, std::uint64_t fence) {
  entry(i).where.store(epoch_ << 16 | static_cast<std::uint64_t>(slots.numbers.front()));
  entry(i).fence.store(fence);
}

void lease_host::open(int i) {
  kept_.leave(i);
  turn_began_ = clock::now();
  unused_since_.reset();
}

void lease_host::withdraw(int i) {
  entry(i).fence.store(0);
  turn_began_ = clock::now();
  unused_since_.reset();
}

void lease_host::grow(int slots) { kept_.grow(slots); }

void lease_host::revoke() {
  epoch_ = file_.words().epoch.fetch_add(1) + 1;
  file_.words().valid_until_ns.store(0);
}

void lease_host::turn_away() {
  close();
  kept_.end();
}

void lease_host::await_departures() noexcept {
  const clock::time_point until = clock::now() + session_kept_->timeout();
  const auto somebody_inside = [&] {
    try {
      return !local_.status().holders.empty();
    } catch (...) {
      return true;  // it cannot be said
    }
  };
  while (clock::now() < until && !session_kept_->is_lost() && somebody_inside()) std::this_thread::sleep_for(nap_short);
}

void lease_host::forfeit() { revoke(); }

bool lease_host::renew() {
  while (!stop_.stop_requested()) {
    try {
      auto next = std::make_shared<session>(how_.where, how_.secret, how_.options.cluster.connect_timeout);
      use(*next);
      session_kept_ = next;  // the one before tells jobs, for the last time, that nothing is valid
      next->publish_validity(file_.words().valid_until_ns);
      return true;
    } catch (const ensemble_unreachable&) {
      continue;
    }
  }
  return false;
}

void lease_host::close() { file_.words().closed.store(1); }

event lease_host::wait() {
  if (current().is_lost()) return event::expired;
  if (stop_.stop_requested() && !ending_) return event::local;
  // If it could lend more: a host that has all does not queue, whichever jobs wait here (L9).
  const bool listens = !mine.queued && mine.count(local_slot::kept) > 0 && mine.count(local_slot::lent) < mine.slots;
  if (listens && file_.words().bell.load() != bell_seen_) return event::local;
  if (listens) bell_.listen(bell_seen_);
  clock::time_point until = clock::now() + (short_naps_ > 0 ? nap_short : nap_max);
  if (short_naps_ > 0) --short_naps_;
  if (mine.count(local_slot::lent) > 0) {
    const clock::time_point turn_ends = turn_began_ + turn();
    if (turn_ends > clock::now()) until = std::min(until, turn_ends);
    if (unused_since_) until = std::min(until, std::max(*unused_since_ + how_.options.idle, clock::now()));
  }
  const event seen = events().wait({}, until);
  if (current().is_lost()) return event::expired;
  return seen == event::changed || seen == event::granted ? event::changed : event::local;
}

}  // namespace kgate::detail::cluster
