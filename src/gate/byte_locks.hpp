// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which members are alive, by locks that the kernel releases.
///
/// A gate has two files beside its own, of no bytes, which only participants may open:
///
///   .NAME.ID.lock   a participant holds an open-file-description lock on its member's byte. The description is kept by
///                   a mapping and by no descriptor: whatever a process does with its descriptors (a daemon closes them
///                   all) does not lose the lock, a forked child does not inherit it (MADV_DONTFORK), exec drops it,
///   and so does every death. .NAME.ID.run    a command that was started holds a record lock on its member's byte,
///                   through a descriptor opened for reading: it belongs to the process, survives exec, and is not
///                   inherited by the command's children.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "kgate/gate_error.hpp"

namespace kgate::detail::gates {

/// Which file a descriptor or path leads to.
struct file_id {
  dev_t device = 0;
  ino_t inode = 0;

  static file_id of(int fd) noexcept;
  static file_id of(const std::string& path) noexcept;  ///< does not follow a symbolic link
  explicit operator bool() const noexcept { return inode != 0; }
  friend bool operator==(const file_id&, const file_id&) = default;
};

/// Bytes of a lock file that are locked as long as this object and this process live.
class held_bytes {
 public:
  held_bytes() = default;
  explicit held_bytes(void* pin) noexcept : pin_(pin) {}
  explicit held_bytes(int fd) noexcept : fd_(fd) {}
  held_bytes(held_bytes&& other) noexcept
      : pin_(std::exchange(other.pin_, nullptr)), fd_(std::exchange(other.fd_, -1)) {}
  held_bytes& operator=(held_bytes&& other) noexcept {
    if (this != &other) {
      release();
      pin_ = std::exchange(other.pin_, nullptr);
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~held_bytes() { release(); }

  explicit operator bool() const noexcept { return pin_ != nullptr || fd_ >= 0; }
  void release() noexcept;
  /// For a forked child, in which the bytes are not held.
  void forget() noexcept {
    pin_ = nullptr;
    fd_ = -1;
  }

 private:
  void* pin_ = nullptr;  ///< a mapping, which children do not inherit and nothing closes
  int fd_ = -1;          ///< instead of it, a descriptor that is closed on exec
};

/// One opening of a lock file, on which bytes can be locked until they are handed to their keeper.
class lock_opening {
 public:
  explicit lock_opening(int fd, int error) noexcept : fd_(fd), error_(fd < 0 ? error : 0) {}
  lock_opening(const lock_opening&) = delete;
  lock_opening& operator=(const lock_opening&) = delete;
  ~lock_opening();

  /// False if another opening has one of the bytes, or if error() says so.
  bool lock(std::int64_t first, std::int64_t count) noexcept;
  void unlock(std::int64_t first, std::int64_t count) noexcept;
  /// What is locked stays locked by the result; empty if error() says so.
  held_bytes keep() noexcept;
  /// The same at less cost, for a process that makes no children, closes no descriptors but its own, and becomes a
  /// command.
  held_bytes keep_until_exec() noexcept { return held_bytes(std::exchange(fd_, -1)); }
  /// The errno of a call that failed, other than for a lock of another opening; 0 if there was none.
  int error() const noexcept { return error_; }

 private:
  int fd_;
  int error_;
};

class lock_file {
 public:
  lock_file() = default;
  lock_file(const lock_file&) = delete;
  lock_file& operator=(const lock_file&) = delete;
  ~lock_file() { close(); }

  /// Creates both files. Fails with EEXIST if there is one.
  static int create(const std::string& stem, mode_t mode, gid_t group) noexcept;
  static void unlink(const std::string& stem) noexcept;

  /// Opens the files `stem`.lock and `stem`.run, which must belong to `owner`. `for_command`: a command will be
  /// started by a program that closes no descriptors but its own, so the second is opened once for all that follows,
  /// and a descriptor is taken for what it was. 0 or an errno.
  int open(const std::string& stem, uid_t owner, bool for_command = false);
  void close() noexcept;

  lock_opening open_again() const noexcept;
  /// The same for a new member: the opening for asking will do, if the program is known not to close it.
  lock_opening open_for_member() noexcept;
  /// Whether member i, or the command it started, is alive. True as well if that cannot be found out; lost() says so.
  /// The order of the questions is the caller's: where the second is seldom needed, it is spared.
  bool alive(unsigned i, bool command_first = false) noexcept;
  /// Whether member i itself is alive. True as well if that cannot be found out; lost() says so.
  bool member_alive(unsigned i) noexcept { return member_locked(i) != answer::free; }
  /// The process of the command that member i started: 0 if there is none, -1 if it cannot be named here.
  int command_process(unsigned i) noexcept;
  /// Whether a command of any member is alive, or that cannot be found out.
  bool any_command() noexcept;
  /// An errno if the last question could not be answered, for instance because descriptors were closed and the path is
  /// gone.
  int lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// A descriptor of the .run file for the lock of a command, opened for reading, at a number that scripts do not use.
  /// -1 and errno if it cannot be had.
  int open_for_command() noexcept;
  /// In the process of the command, through that descriptor: takes the lock of member i. Closing another descriptor of
  /// the file later, or by exec, would drop the lock: so those are closed first, or left open where this process itself
  /// becomes the command and may have locks of its own. 0 or an errno.
  int lock_for_command(int fd, unsigned i) const noexcept;

 private:
  enum class answer : unsigned char { free, locked, unknown };
  answer member_locked(unsigned i) noexcept;
  answer command_locked(std::int64_t first, std::int64_t count, int* process = nullptr) noexcept;
  int reopen() const noexcept;
  int open_run() const noexcept;
  void close_run(int fd) const noexcept;
  /// Whether the descriptor still leads to that file: the program may have closed it, and used its number again.
  bool leads_to(int fd, const file_id& id) const noexcept;
  int above_those_of_scripts(int fd) const noexcept;

  std::string stem_;
  file_id id_;
  file_id run_id_;
  pid_t opened_by_ = 0;
  bool closes_only_its_own_ = false;  ///< the program: only this object closes its descriptors
  bool keeps_run_open_ = false;  ///< this process may be a command with a lock, which closing a descriptor would drop
  std::atomic<int> asking_{-1};  ///< holds no lock: only for asking, and for opening the file again; may be opened late
  std::atomic<int> lost_{0};
  int for_command_ = -1;  ///< what open_for_command has ready
  int asking_run_ = -1;   ///< what it gave away: commands are asked for through it as long as it is open
};

/// Which PID namespace this process is in: an inode; 0 if that cannot be found out.
std::uint64_t own_pid_namespace() noexcept;

inline constexpr std::int64_t maintenance_byte = 0;
constexpr std::int64_t member_byte(unsigned i) { return 1 + std::int64_t{i}; }
constexpr std::int64_t command_byte(unsigned i) { return i; }

}  // namespace kgate::detail::gates
