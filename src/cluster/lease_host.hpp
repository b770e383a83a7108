// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A lessor's two sides on a real machine: its request on a session, and its slots at the local gate.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/lease_file.hpp"
#include "cluster/request.hpp"
#include "kgate/algorithms/cluster_lease.hpp"
#include "kgate/gate.hpp"
#include "kgate/lease.hpp"

namespace kgate::detail::cluster {

/// The lessor's members at the local gate: one for each slot. A thread of its own waits where there is a queue.
class kept_slots {
 public:
  kept_slots(gate& local, int slots, listener& owner);
  kept_slots(const kept_slots&) = delete;
  kept_slots& operator=(const kept_slots&) = delete;
  ~kept_slots();

  /// Has a member for each of so many slots, which the local gate then has.
  void grow(int slots);
  /// The local gate has as many slots as there are members, whichever process has changed that.
  void put_right();
  /// Queues for one slot.
  void request();
  /// The slot requested, if it is there; once.
  std::optional<int> take();
  /// Leaves a slot that it has.
  void leave(int slot);
  /// Leaves all of them, and waits for none.
  void end();

 private:
  void wait_for_slots(const std::stop_token& stop);
  void enter(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void restore_size();

  gate& local_;
  listener& owner_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<gate::member> spare_;
  std::vector<std::optional<gate::member>> held_;  ///< by slot
  bool requested_ = false;
  std::optional<int> taken_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

/// Hears the bell of a lease, when that is wanted, and tells the lessor.
class lease_bell {
 public:
  lease_bell(lease_file& file, listener& owner);
  lease_bell(const lease_bell&) = delete;
  lease_bell& operator=(const lease_bell&) = delete;
  ~lease_bell();
  /// Tells once when the bell has been rung after it was `seen`.
  void listen(std::uint32_t seen);

 private:
  void hear(const std::stop_token& stop);

  lease_file& file_;
  listener& owner_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<std::uint32_t> seen_;
  std::jthread thread_;
};

class lease_host : public request_client {
 public:
  using local_slot = detail::cluster::local_slot<slot_numbers, std::uint64_t>;
  using books = lease_books<std::vector<local_slot>>;
  using clock = std::chrono::steady_clock;

  struct settings {
    address where;
    std::string secret;
    std::string name;
    lease_options options;
  };

  lease_host(const lease_host&) = delete;
  lease_host& operator=(const lease_host&) = delete;
  lease_host(std::shared_ptr<session> s, const participant_data& who, const settings& how, lease_file& file,
             gate& local, int slots);
  ~lease_host() { leave_session(); }

  books mine;

  void next_request();
  answered<std::vector<waiter>> queue(const gate_id& id);
  answered<bool> anybody_waits(const gate_id& id);
  answered<gate_size> size(const gate_id& id);
  local_view local();
  void request_slot() { kept_.request(); }
  void lend(int i, const slot_numbers& slots, std::uint64_t fence);
  void open(int i);
  void withdraw(int i);
  void grow(int slots);
  void forfeit();
  bool renew();
  void close();
  event wait();

  void end_when_idle(std::stop_token stop) { stop_ = std::move(stop); }
  /// Something has changed that wait() waits for.
  void wake() { events().alert(); }
  /// Jobs that are inside have lost their slots from now on.
  void revoke();
  /// After the lease: waiters of the local gate learn that it has ended.
  void turn_away();
  /// After these: until the jobs that were inside have left, or the time of the session is over.
  void await_departures() noexcept;

 private:
  clock::duration turn() const;
  lease_entry& entry(int i) { return file_.words().at[i]; }

  std::shared_ptr<session> session_kept_;
  settings how_;
  lease_file& file_;
  gate& local_;
  kept_slots kept_;
  lease_bell bell_;
  std::stop_token stop_;
  bool ending_ = false;  ///< as local() has said
  std::uint64_t epoch_ = 0;
  std::uint32_t bell_seen_ = 0;
  int short_naps_ = 0;
  std::size_t waiting_ = 0;  ///< at the gate, when it looked last
  clock::time_point turn_began_ = clock::now();
  std::optional<clock::time_point> unused_since_;
};

}  // namespace kgate::detail::cluster
