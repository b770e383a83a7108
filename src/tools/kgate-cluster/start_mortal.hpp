// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A command that runs in slots between machines: what it finds there, and how it is started.

#include <set>
#include <vector>

#include "tools/kgate-cluster/acquire.hpp"
#include "tools/kgate/launch.hpp"

namespace kgate::tool::cluster {

/// What the command is to find in its environment and arguments.
std::vector<held_slot> described(const request& options, std::vector<held_gate>& held);

/// Descriptors that are open now and were not when the program began are closed in the command.
class inherited_descriptors {
 public:
  inherited_descriptors() : known_(all()) {}
  void close_others_on_exec() const;

 private:
  static std::set<int> all();
  std::set<int> known_;
};

/// Starts the command, which is killed if this process dies: no process would be left to learn that its slot is lost.
started start_mortal(prepared_command& command, const signal_watch& signals);

}  // namespace kgate::tool::cluster
