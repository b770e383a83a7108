// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::leased_gate: a gate between machines at the speed of a gate of one machine; through a lease of this host.
///
///     kgate::host_lease lease("zk://a,b,c", "licence", 8);    // one process of each host, or `kgate lease`
///     lease.serve(stop);
///
///     kgate::leased_gate licences("zk://a,b,c", "licence");   // all others of the host
///     kgate::leased_gate::permit permit = licences.enter();
///     simulate(permit.slot(), permit.token());
///
/// One session for each host leases slots of the gate as its jobs need them, lends them to the jobs through a gate of
/// that machine, and gives them back when they are idle or when others wait. Order is first come, first served among
/// the jobs of a host; between hosts it is bounded (docs/cluster.md). All users of a gate, with leases or without,
/// share its slots. As with kgate::cluster_gate a permit can be lost, here with the session of the lease.
/// algorithms/cluster_lease.hpp has the protocol. Link kgate::cluster.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kgate/cluster.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

struct lease_options {
  /// Of the session.
  cluster_options cluster{};
  /// For how long slots stay on this host though others wait.
  std::chrono::milliseconds turn{100};
  /// For how long a slot stays on this host though no job uses it.
  std::chrono::milliseconds idle{1000};
  /// Where the local gate is, as in gate_options.
  std::string directory;
};

/// The lease of one gate by this host: at most one at a time for a user.
class host_lease {
 public:
  /// Opens the gate as kgate::cluster_gate does. Throws gate_error: in_use if there is a lease on this host already.
  host_lease(std::string_view address, std::string_view name, int slots = 0, lease_options options = {});
  host_lease(const host_lease&) = delete;
  host_lease& operator=(const host_lease&) = delete;
  /// Ends the lease, if that has not been done: jobs that are inside lose their slots, and have until they leave, or
  /// for the time of the session, before others are given these; so long this waits. Takes the lease's files away.
  ~host_lease();

  /// Once: lends slots to the jobs of this host, until `stop` is requested and the last job has left, or the gate is
  /// removed. A session that is lost is replaced by a new one as soon as the ensemble can be reached. Throws
  /// gate_error if the gate cannot be used; removed if the local gate is gone. The lease is over then.
  void serve(stop_token stop);
  /// Ends the lease now: jobs that are inside lose their slots.
  void abandon() noexcept;
  /// The name of the local gate, for `kgate status` and others.
  const std::string& local_gate() const;
  /// False if the gate was removed.
  bool gate_exists() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A gate between machines, by the lease of this host. Safe to use from many threads. Not across fork.
class leased_gate {
 public:
  class permit;

  /// Throws gate_error: not_found if this host has no lease of that gate.
  leased_gate(std::string_view address, std::string_view name, lease_options options = {});
  leased_gate(leased_gate&&) noexcept;
  leased_gate& operator=(leased_gate&&) noexcept;
  ~leased_gate();

  /// Waits for a slot, first come, first served on this host. Throws session_lost if the lease has ended, or ends
  /// meanwhile, and no other one takes its place.
  [[nodiscard("the permit leaves when it is destroyed")]] permit enter();
  /// The same until `stop` is requested; nothing then.
  [[nodiscard]] std::optional<permit> enter(stop_token stop);
  /// Nothing if it would have to wait, which it does for what is leased already only.
  [[nodiscard]] std::optional<permit> try_enter();
  [[nodiscard]] std::optional<permit> try_enter_for(std::chrono::milliseconds time);

  /// The size of the gate between machines, as the lease knows it.
  [[nodiscard]] int slots() const;

 private:
  friend class permit;
  struct opened;
  struct shared;
  std::shared_ptr<shared> shared_;
};

/// Being inside; leaving is destroying it.
class leased_gate::permit {
 public:
  permit(permit&&) noexcept;
  permit& operator=(permit&&) noexcept;
  ~permit();

  /// A number 0..k-1 that no other inside has, on any machine.
  int slot() const;
  /// Not smaller than that of any earlier holder of this slot, and greater if that was on another machine.
  std::uint64_t token() const;
  /// Whether the permit is lost, or may be: to be asked before anything that only a holder may do. It costs a look at
  /// the clock.
  bool lost() const;
  /// Until when it is not lost even if nothing more is heard of the ensemble; grows while all is well.
  std::chrono::nanoseconds time_left() const;
  /// Leaves now rather than at the end. False if the permit was lost before.
  bool release() noexcept;

 private:
  friend class leased_gate;
  struct inside;
  explicit permit(std::unique_ptr<inside> held);
  std::unique_ptr<inside> held_;
};

}  // namespace kgate
