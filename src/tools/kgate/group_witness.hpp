// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a signal was sent to one process or to its whole process group, which the kernel does not tell.

#include <sys/types.h>

#include <span>

namespace kgate::tool {

/// A child of this process in the same process group that gets all signals and obeys none. It gets one together with
/// this process if that was sent to more than this process: to the group, the session, the cgroup, or to a tree of
/// processes. It looks nothing like kgate in a list of processes, so that what selects processes by name does not hit
/// it. It ends with this process.
class group_witness {
 public:
  group_witness() = default;
  group_witness(const group_witness&) = delete;
  group_witness& operator=(const group_witness&) = delete;
  ~group_witness() { end(); }

  /// `line` is the command line of this process, over which the child writes its own name. Without a child, if none
  /// can be had, nothing is ever seen.
  void start(std::span<char* const> line);
  /// Whether the child got this signal, too, a moment ago. To be asked for every signal when it comes.
  bool saw(int signal_number);
  /// The child ends, and nothing is left of it: there may be no other process that would wait for it.
  void end();

 private:
  std::span<char* const> line_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace kgate::tool
