// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the commands of kgate-cluster have in common. `kgate` with --on becomes this program, which reads the same
/// line.

#include <string>

#include "cluster/address.hpp"
#include "cluster/session.hpp"
#include "kgate/cluster.hpp"
#include "tools/kgate/tool.hpp"

namespace kgate::tool::cluster {

int run(const request& options);
/// The same by the lease of this host.
int run_leased(const request& options);
int lease(const request& options);
int hold(const request& options);
int jobserver(const request& options);
int stats(const request& options);
int create(const request& options);
int status(const request& options);
int list(const request& options);
int top(const request& options);
int wait(const request& options);
int cancel(const request& options);
int resize(const request& options);
int pause(const request& options);
int resume(const request& options);
int drain(const request& options);
int remove(const request& options);
int doctor(const request& options);

/// The exit code for what a gate or an ensemble reports. `runs`: a command that comes by a slot.
int code_of(const gate_error& error, bool runs);

/// How long the first connection may take: 10 s, or $KGATE_CONNECT_TIMEOUT.
std::chrono::milliseconds connect_timeout();
cluster_options options_for(const request& options);
/// " --on ADDRESS -n NAME": for lines to copy.
std::string gate_arguments_on(const request& options, const std::string& name);

/// A session of the ensemble, for commands that look at several gates.
struct connection {
  explicit connection(const request& options);

  detail::cluster::address where;
  std::unique_ptr<detail::cluster::session> session;
};

/// The gates that were asked for: the one named, or the names of all nodes below the path.
std::vector<std::string> gate_names(const request& options, connection& to);

/// A gate as it was looked at.
struct view {
  std::string name;
  cluster_status seen;
};
struct gate_views {
  std::vector<view> gates;
  std::vector<std::string> failures;  ///< of gates that cannot be looked at

  /// Says what failed; the exit code.
  int report() const;
};
/// Those that were asked for. If none was named, nodes that are no gates are left out.
gate_views read_views(const request& options, connection& to);

/// For how many seconds it has been inside, or has waited.
double age_of(const cluster_participant& who);

}  // namespace kgate::tool::cluster
