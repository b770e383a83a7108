// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where gates are: directories, names, and what may be trusted there.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kgate/gate_error.hpp"

namespace kgate::detail::gates {

struct location {
  std::string directory;  ///< empty: $KGATE_DIR or the user's own
  mode_t mode = 0600;     ///< of a gate this call creates; umask does not narrow it
  gid_t group = static_cast<gid_t>(-1);
  std::uint32_t overtakings = 0xFFFFFFFF;  ///< of a gate this call creates: b, or overtakings_shared (layout.hpp)
  bool default_size = false;               ///< of a gate this call creates: its size was not asked for
  bool for_command = false;                ///< a command will be started in it (lock_file::open_for_command)
  bool for_exec = false;                   ///< and by becoming it, without any child before
};

/// The directory of a location: the one it names, else $KGATE_DIR, else a directory of the user's own below /run/lock,
/// which is local to the host, meant for locks, emptied by a reboot and, unlike /dev/shm and $XDG_RUNTIME_DIR, by
/// nothing else: systemd-logind deletes what a user has in those two at logout. Where /run/lock is not open to users (a
/// property of the host, not of the moment or of this process): below /tmp.
std::string directory_of(const location& where);

/// Whether the directory may be used: KGATE_DIR must not be empty, and the user's own directory must be one that only
/// the user can write to. Creates the latter if `create` is set.
gate_failure check_directory(const location& where, bool create);

bool valid_name(std::string_view name);
/// Whether a gate may be created with this mode: one that its owner cannot read and write is of no use.
constexpr bool valid_mode(unsigned mode) { return (mode & ~0777U) == 0 && (mode & 0600U) == 0600U; }
/// A text with \xNN for what would end it or steer a terminal.
std::string visible(std::string_view text);
std::string path_of(std::string_view directory, std::string_view name);
/// The name of the gate at a path.
std::string name_in(std::string_view path);
/// The path of a gate's lock files without their endings; `id` is that of the gate's header.
std::string lock_stem_of(std::string_view gate_path, std::uint64_t id);
/// The names of the gates in a directory, sorted.
std::vector<std::string> names_in(const std::string& directory);
/// Why a file system of this type (statfs) cannot hold a gate, or nullptr if it can.
const char* unsuitable_filesystem(std::uint64_t type);

/// Whether a file is this user's own and has lost the rights by which its owner reads and writes.
bool is_closed_to_owner(const struct stat& file);
/// Opens a regular file and nothing else: no symbolic link, and no FIFO or device, which could block. -1 and why not.
int open_regular(const std::string& path, int flags, struct stat& there, gate_failure& failure);
/// Why this user should not use a gate with that owner: root does not trust strangers in directories that all users can
/// write to.
gate_failure check_owner(const std::string& path, const struct stat& gate);

/// Removes what creations that were cut short left in a directory and no process can use any more, of gate `name` or
/// (empty) of all. How many files.
int sweep_unfinished(const std::string& directory, const std::string& name);

/// What a failed system call is called.
gate_failure system_failure(const std::string& doing, int error);

}  // namespace kgate::detail::gates
