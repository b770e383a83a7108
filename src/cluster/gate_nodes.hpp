// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A gate's nodes as a whole: creating, looking at, resizing and removing them. Each of these repeats itself until it
/// is answered, and throws session_lost if the session is lost meanwhile.

#include <memory>
#include <string>

#include "cluster/request.hpp"
#include "kgate/cluster.hpp"

namespace kgate::detail::cluster {

/// A session with the secret that the environment has, if any. Throws gate_error.
std::unique_ptr<session> open_session(const address& where, std::chrono::milliseconds connect_timeout);

/// A gate, as it was read last.
struct known_gate {
  std::string id;
  gate_size size;
};

/// It is created with `slots` if there is none and they are not 0. Throws gate_error: not_found, wrong_slots,
/// not_a_gate, no_permission.
known_gate open_gate(session& s, const std::string& root, const std::string& name, int slots);

known_gate read_gate(session& s, const std::string& gate);
void resize_gate(session& s, const std::string& gate, int slots);
void pause_gate(session& s, const std::string& gate, bool paused);
cluster_status read_status(session& s, const std::string& gate);
/// False if no waiter has that request.
bool cancel_waiter(session& s, const std::string& gate, std::string_view request);
/// False if it is in use and not forced.
bool remove_gate(session& s, const std::string& gate, bool forced);
/// The names of the gates below the root.
std::vector<std::string> gates_below(session& s, const std::string& root);

[[noreturn]] void throw_without_queue(const std::string& gate);
[[noreturn]] void throw_lost(const session& s);

}  // namespace kgate::detail::cluster
