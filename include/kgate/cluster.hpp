// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::cluster_gate: at most k at a time, between machines; on a ZooKeeper ensemble.
///
///     kgate::cluster_gate licences("zk://a,b,c", "simulator", 8);
///     {
///       kgate::cluster_gate::permit permit = licences.enter();
///       std::stop_callback lost(permit.lost(), [] { stop_the_simulation(); });
///       simulate(permit.slot(), permit.token());
///     }
///
/// As kgate::gate: first come, first served, slots 0..k-1, weights, resizing. What cannot be promised between machines:
/// a permit can be *lost*. The ensemble takes everything from a session it has not heard of for the session's time-out
/// and lets others in, whatever this process believes; so lost() is requested when that time has passed since the last
/// contact, and what is written elsewhere should carry token(), so that late writes can be refused. A grant takes some
/// milliseconds. Link kgate::cluster. docs/cluster.md has the promises; algorithms/cluster_recipe.hpp how it works.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgate/gate_error.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

namespace detail::cluster {
class session;
class held_permit;
}  // namespace detail::cluster

/// No server of the ensemble answered in time, or none that belongs to a quorum.
class ensemble_unreachable : public gate_error {
  using gate_error::gate_error;
};

/// The session expired: what it held or waited for belongs to others now.
class session_lost : public gate_error {
  using gate_error::gate_error;
};

struct cluster_options {
  /// For how long the ensemble keeps what this session has without hearing of it. The servers may raise or lower it.
  /// Zero: as the address says, or 10 s.
  std::chrono::milliseconds session_timeout{0};
  /// How long opening waits for a server.
  std::chrono::milliseconds connect_timeout{10'000};
  /// "user:password" for digest authentication. Nodes are then created for that user alone. Empty: $KGATE_ZK_AUTH, or
  /// the first line of the file $KGATE_ZK_AUTH_FILE; if there is neither, any client may use what is created.
  std::string authentication;
  /// What others see as the command of this process. Empty: the program's own name.
  std::string command;
};

/// A holder or a waiter, as its node describes it.
struct cluster_participant {
  std::string host;
  int process = 0;
  std::string user;
  std::string command;
  std::chrono::system_clock::time_point since;  ///< by the clock of the servers
  int weight = 1;
  std::vector<int> slots;   ///< of a holder
  std::uint64_t token = 0;  ///< of a holder
  int position = 0;         ///< 1 is next, if it waits
  std::uint64_t session = 0;
  std::string request;  ///< the name of its request, which no other has
};

struct cluster_status {
  int slots = 0;
  int free = 0;  ///< how many more may be inside now, if it is not paused
  int over = 0;  ///< by how many those inside exceed a gate that was made smaller
  bool paused = false;
  std::vector<cluster_participant> holders;
  std::vector<cluster_participant> waiters;
};

/// A gate between machines. Safe to use from many threads, which share one session. Not across fork.
class cluster_gate {
 public:
  class permit;

  /// Opens the gate `name` of the ensemble at `address`, zk://HOST[:PORT][,HOST[:PORT]]...[/PATH][?session=TIME], or
  /// creates it with `slots`. With slots = 0 it must exist. An existing gate must have been created with `slots` if
  /// they are given, or have that size by now. Throws gate_error.
  cluster_gate(std::string_view address, std::string_view name, int slots = 0, cluster_options options = {});
  cluster_gate(cluster_gate&&) noexcept;
  cluster_gate& operator=(cluster_gate&&) noexcept;
  ~cluster_gate();

  /// Waits for `weight` slots, FIFO from the creation of its node in the queue. Throws gate_error if the gate is
  /// removed meanwhile, the wait is cancelled, or weight is not in 1..slots(); session_lost if the session expires
  /// while it waits. A session that was lost before is replaced by a new one.
  [[nodiscard("the permit leaves when it is destroyed")]] permit enter(int weight = 1);
  /// The same until `stop` is requested; nothing then.
  [[nodiscard]] std::optional<permit> enter(stop_token stop, int weight = 1);
  /// Nothing if it would have to wait. Never passes waiters.
  [[nodiscard]] std::optional<permit> try_enter(int weight = 1);
  [[nodiscard]] std::optional<permit> try_enter_for(std::chrono::milliseconds time, int weight = 1);
  /// Until the deadline, or until `stop` is requested.
  [[nodiscard]] std::optional<permit> enter_until(stop_token stop, std::chrono::steady_clock::time_point deadline,
                                                  int weight = 1);

  [[nodiscard]] int slots();
  /// Changes k. Those inside stay; no other enters until there is room under the new k.
  void resize(int slots);
  /// Lets none in until resume(); those inside stay, waiters keep their order. A host that leases slots gives them
  /// back as its jobs leave.
  void pause();
  void resume();
  cluster_status status();
  /// Takes the waiter with this request name out of the queue; false if it does not wait.
  bool cancel(std::string_view request);
  /// Removes the gate. False, and nothing is done, if it has holders or waiters, unless forced: then waiters get
  /// gate_error, and holders stay inside a gate that no other client sees.
  bool remove(bool forced = false);
  /// What the servers made of the session's time-out.
  [[nodiscard]] std::chrono::milliseconds session_timeout() const;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

/// Being inside a gate; leaving is destroying it.
class cluster_gate::permit {
 public:
  permit(permit&&) noexcept;
  permit& operator=(permit&&) noexcept;
  ~permit();

  int slot() const { return slots().front(); }
  const std::vector<int>& slots() const;
  /// Greater than that of every grant before: a fencing token.
  std::uint64_t token() const;
  /// The size of the gate when it was entered.
  int gate_slots() const;
  /// Requested when the permit is lost, or may be: the session has expired, or nothing was heard of the ensemble for as
  /// long as it keeps a session. Callbacks run in a thread of the session, and must not destroy the gate.
  stop_token lost() const;
  /// A descriptor that becomes readable at the same moment; for poll(). It belongs to the permit.
  int lost_descriptor() const;
  /// Whether the session is connected; if not, the permit may be about to be lost.
  bool connected() const;
  /// Leaves now rather than at the end. False if the permit was lost before.
  bool release() noexcept;

 private:
  friend class cluster_gate;
  explicit permit(std::unique_ptr<detail::cluster::held_permit> held);
  std::unique_ptr<detail::cluster::held_permit> held_;
};

}  // namespace kgate
