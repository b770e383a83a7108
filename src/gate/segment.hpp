// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file behind a gate: how it is created, verified, mapped, renewed and removed. Nothing here throws but for lack
/// of memory; failures are values.

#include <array>
#include <cstdint>
#include <string>

#include "gate/byte_locks.hpp"
#include "gate/layout.hpp"
#include "gate/location.hpp"

namespace kgate::detail::gates {

/// The kernel's boot id, or an empty string.
std::array<char, 40> boot_id();
std::uint64_t checksum_of(const file_header& header);
/// What is wrong with a header, as far as it is read: `bytes` is the size of the file.
gate_failure verify(const file_header& header, std::uint64_t bytes, const std::string& path);

/// A gate's file, mapped, and its lock files.
class segment {
 public:
  segment() = default;
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
  ~segment() { close(); }

  /// Opens gate `name`; creates it with `slots` if there is none. With slots = 0 it must exist.
  gate_failure open(const std::string& name, int slots, const location& where);
  /// Opens for reading only: no locks, nothing is changed.
  gate_failure open_read_only(const std::string& name, const location& where);
  void close() noexcept;

  bool is_open() const noexcept { return map_ != nullptr; }
  file_layout& map() const noexcept { return *map_; }
  lock_file& locks() noexcept { return locks_; }
  const std::string& path() const noexcept { return path_; }
  /// Whether the gate at its path is still this one.
  bool is_in_place() const noexcept { return file_id::of(path_) == id_; }
  /// The number that tells it from any other gate of its name, as it was when this was opened.
  std::uint64_t id() const noexcept { return lock_id_; }

  /// Gives space in the file to the record of member i, or to the words of so many slots, so that using them cannot
  /// fail. 0 or an errno.
  int reserve_member(unsigned i) noexcept;
  int reserve_slots(int slots) noexcept;

  /// Why this user may not take the files away: to be asked before the gate is retired.
  gate_failure may_unlink() const;
  /// Takes the files away if the gate is still the one at its path. Only for a retired gate.
  gate_failure unlink_retired();
  /// Puts the gate back to its first state, with `slots`, if no process uses it; none can begin to meanwhile.
  bool renew_unused(int slots) noexcept;
  /// The maintenance lock: one participant at a time renews or removes. Waits for it, but not for one that is stopped.
  gate_failure lock_maintenance(held_bytes& out);

 private:
  enum class attempt { done, failed, again };
  attempt open_once(const std::string& name, int slots, const location& where, gate_failure& failure);
  gate_failure create(const std::string& name, int slots, const location& where);
  gate_failure write_and_link(int fd, const std::string& name, int slots, const location& where, std::uint64_t id);
  gate_failure map_file(int fd, const struct stat& there, bool writable);
  gate_failure open_locks(const struct stat& gate, bool for_command);
  bool is_stale() const noexcept;
  int reserve(const void* first, std::size_t bytes) noexcept;
  gate_failure renew(int slots);
  void reset(int slots) noexcept;

  file_layout* map_ = nullptr;
  file_id id_;
  std::uint64_t lock_id_ = 0;  ///< that of the header, as it was verified
  bool on_disk_ = true;        ///< false: in memory, where nothing is from before the last boot
  lock_file locks_;
  std::string path_;
};

/// Gives this user the rights of an owner back to the gate at a path and its lock files, as far as it owns them and has
/// lost them. Whether it did.
bool let_owner_in(const std::string& path);

/// Removes a file that is at a gate's path and is no gate that can be opened. Leaves one alone that has taken its place
/// meanwhile.
gate_failure remove_unreadable(const std::string& path);

}  // namespace kgate::detail::gates
