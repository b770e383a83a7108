// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file behind a gate: where it is, how it is created, verified, mapped, renewed and removed. Nothing here throws but
/// for lack of memory; failures are values.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gate/layout.hpp"
#include "kgate/gate_error.hpp"

namespace kgate::gate_detail {

struct place {
  std::string directory;  ///< empty: the default place
  mode_t mode = 0600;     ///< of a gate this call creates; umask does not narrow it
  gid_t group = static_cast<gid_t>(-1);
  unsigned overtakings = 0;  ///< of a gate this call creates
};

/// The default place of this user's gates. $KGATE_DIR if set. Else a directory of the user's own below /run/lock, which is
/// local to the host, is meant for locks, is emptied by a reboot and, unlike /dev/shm and $XDG_RUNTIME_DIR, by nothing else:
/// systemd-logind deletes what a user has in those two when he logs out. Where /run/lock is not open to users: /tmp.
std::string default_directory();

bool valid_name(std::string_view name);
std::string path_of(std::string_view directory, std::string_view name);
/// The names of the gates in a directory, sorted.
std::vector<std::string> names_in(const std::string& directory);
/// Why a file system of this type (statfs) cannot hold a gate, or nullptr if it can.
const char* unsuitable_filesystem(std::uint64_t type);
/// The kernel's boot id, or an empty string.
std::array<char, 40> boot_id();
std::uint64_t checksum_of(const file_header& header);
/// What is wrong with a header, as far as it is read: `bytes` is the size of the file.
gate_failure verify(const file_header& header, std::uint64_t bytes, const std::string& path);

/// A gate's file, opened and mapped.
class segment {
 public:
  segment() = default;
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
  ~segment() { close(); }

  /// Opens gate `name`; creates it with `slots` if there is none. With slots = 0 it must exist.
  gate_failure open(const std::string& name, int slots, const place& where);
  /// Opens for looking only: no locks, nothing is changed.
  gate_failure open_to_look(const std::string& name, const place& where);
  void close() noexcept;

  bool is_open() const noexcept { return map_ != nullptr; }
  bool writable() const noexcept { return writable_; }
  file_layout& map() const noexcept { return *map_; }
  int fd() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }

  /// Takes the file away if it is still the one at its path. Only for a retired gate.
  void unlink_retired() noexcept;
  /// Puts the gate back to its first state, with `slots`, if nobody uses it; nobody can begin to meanwhile.
  bool renew_unused(int slots) noexcept;
  /// The maintenance lock: one participant at a time renews, removes or mends. Waits for it.
  bool lock_maintenance() noexcept;
  void unlock_maintenance() noexcept;

 private:
  enum class attempt { done, failed, again };
  attempt open_once(const std::string& name, int slots, const place& where, gate_failure& failure);
  gate_failure create(const std::string& name, int slots, const place& where);
  gate_failure map_file(int flags);
  bool is_stale() const noexcept;
  gate_failure renew(int slots);
  void reset(int slots) noexcept;

  int fd_ = -1;
  file_layout* map_ = nullptr;
  bool writable_ = false;
  std::string path_;
};

/// Locks, unlocks or tests one byte for this open file description; false if somebody else has it.
bool lock_byte(int fd, std::int64_t byte) noexcept;
void unlock_byte(int fd, std::int64_t byte) noexcept;
bool locked_by_others(int fd, std::int64_t byte, std::int64_t count) noexcept;

}  // namespace kgate::gate_detail
