// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A gate's nodes as a whole: creating, looking at, resizing and removing them. Each of these repeats itself until it
/// is answered, within bounds, and throws session_lost if the session is lost meanwhile. A gate that lacks a node of
/// its own is damaged.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/request.hpp"
#include "kgate/cluster.hpp"

namespace kgate::detail::cluster {

/// A session with the secret that the environment has, if any. Throws gate_error.
std::unique_ptr<session> open_session(const address& where, std::chrono::milliseconds connect_timeout);

/// A gate, as it was read last.
struct known_gate {
  std::string id;
  gate_size size;
  bool made = false;  ///< by the call that returned it
};

/// The gate was made smaller than the weight of a waiter.
struct gate_shrunk : gate_error {
  using gate_error::gate_error;
};

/// It is created with `slots` if there is none and they are not 0. A size that was set later stands. `by_default`:
/// no user has asked for that number; any size will do, and a gate that is created takes the first that is asked for.
/// Throws gate_error: not_found, wrong_slots,
/// not_a_gate, no_permission, bad_name if the path leads into a gate.
known_gate open_gate(session& s, const std::string& root, const std::string& name, int slots, bool by_default = false);

known_gate read_gate(session& s, const std::string& gate);
void resize_gate(session& s, const std::string& gate, int slots);
void pause_gate(session& s, const std::string& gate, bool paused);
/// With an id: not_found if it is another gate by now.
cluster_status read_status(session& s, const std::string& gate, const std::string& id = {});
/// False if no waiter has that request.
bool cancel_waiter(session& s, const std::string& gate, std::string_view request);
/// False if it is in use and not forced. Forced, it removes what is left of a damaged gate, too, and pauses one that is
/// so busy that it cannot be removed otherwise. Nothing is removed if anything there is not kgate's: not_a_gate.
bool remove_gate(session& s, const std::string& gate, bool forced);
/// The names of the gates below the root, and of other nodes there.
std::vector<std::string> gates_below(session& s, const std::string& root);
/// With it begin the names of nodes below the root that show the servers' clock for a moment.
constexpr std::string_view clock_prefix = ".clock-";
/// Whether the node is there and a gate's, of any version.
bool is_gate_there(session& s, const std::string& gate);
/// The nodes below the gate's that are not its own.
std::vector<std::string> foreign_nodes(session& s, const std::string& gate, const std::string& id);

/// Throws gate_error if the gate of that id lacks a node, or is no longer there.
void check_whole(session& s, const std::string& gate, const std::string& id);
/// Throws gate_error if the path leads into a gate.
void check_path(session& s, const std::string& root);
[[noreturn]] void throw_lost(const session& s);

}  // namespace kgate::detail::cluster
