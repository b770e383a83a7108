// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's side of a lease (leased_passage of algorithms/cluster_lease.hpp) on a real machine.

#include <chrono>
#include <thread>
#include <utility>

#include "cluster/lease_file.hpp"
#include "cluster/request.hpp"
#include "kgate/algorithms/cluster_lease.hpp"
#include "kgate/gate.hpp"

namespace kgate::detail::cluster {

/// What a job has: a slot of the gate between machines, its token, and the epoch of the lease that it is from.
struct lent_slot {
  int slot = -1;
  std::uint64_t fence = 0;
  std::uint64_t epoch = 0, epoch_now = 0;
};

/// What is lent at a local slot.
inline lent_slot read_entry(const lease_words& words, int local_slot) {
  lent_slot out;
  if (local_slot < 0 || local_slot >= slots_max) return out;
  const lease_entry& there = words.at[local_slot];
  out.fence = there.fence.load();
  const std::uint64_t where = there.where.load();
  out.slot = static_cast<int>(where & 0xFFFF);
  out.epoch = where >> 16;
  out.epoch_now = words.epoch.load();
  if (out.slot >= slots_max || words.closed.load() != 0) out.fence = 0;
  return out;
}

/// Whether the lease still covers it: the time first, then the epoch that it is the time of.
inline bool still_lent(const lease_words& words, const lent_slot& mine) {
  return words.is_valid() && words.epoch.load() == mine.epoch;
}

class lease_job {
 public:
  using lent = lent_slot;

  lease_job(lease_file& file, gate::member& member, const request_limit& limit)
      : file_(file), member_(member), limit_(limit) {}

  outcome enter() {
    if (member_.enter_at_once()) return outcome::done;
    if (limit_.deadline <= std::chrono::steady_clock::now()) return try_enter();
    file_.ring();  // a waiter here wants a slot of the ensemble, maybe
    if (limit_.deadline == std::chrono::steady_clock::time_point::max())
      return member_.enter(limit_.stop) ? outcome::done : outcome::given_up;
    const auto left = limit_.deadline - std::chrono::steady_clock::now();
    return member_.try_enter_for(limit_.stop, left) ? outcome::done : outcome::given_up;
  }
  bool valid() const { return file_.words().is_valid(); }
  lent entry() { return read_entry(file_.words(), member_.slot()); }
  void leave() { member_.leave(); }
  /// Nothing is lent at a slot that a lost lease has left, or that another process has added to the local gate: the
  /// lessor takes it back, which those that ask again and again would only hinder.
  bool served() const {
    if (!file_.is_open()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }
  template <class... T>
  void live(int, const T&...) {}

 private:
  /// Heals before it gives up, unlike enter_at_once(): so much is not done on the way to the queue, which heals itself.
  outcome try_enter() { return member_.try_enter() ? outcome::done : outcome::given_up; }

  lease_file& file_;
  gate::member& member_;
  const request_limit& limit_;
};

}  // namespace kgate::detail::cluster
