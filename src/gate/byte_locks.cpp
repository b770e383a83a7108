// SPDX-License-Identifier: Apache-2.0
#include "gate/byte_locks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "gate/service_thread.hpp"
#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

namespace {

constexpr std::size_t pin_bytes = 4096;
constexpr int open_flags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;

file_id id_of(const struct stat& there) { return {there.st_dev, there.st_ino}; }

/// One fcntl on a range; the range as the kernel left it.
bool lock_call(int fd, int command, short type, std::int64_t first, std::int64_t count, struct flock& range) noexcept {
  range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = first;
  range.l_len = count;
  int result = 0;
  do {
    result = fcntl(fd, command, &range);
  } while (result < 0 && errno == EINTR);
  return result == 0;
}

/// Whether the file can be locked as members lock it. 0 or an errno.
int try_lock(int fd) noexcept {
  struct flock range {};
  return lock_call(fd, F_OFD_SETLK, F_WRLCK, 0, 1, range) ? 0 : errno;
}

/// Creates an empty file with exactly this mode and group, which can be locked. 0 or an errno.
int create_empty(const std::string& path, mode_t mode, gid_t group) noexcept {
  const uncancelled meanwhile;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | open_flags, 0600);
  if (fd < 0) return errno;
  int error = 0;
  if (group != static_cast<gid_t>(-1) && fchown(fd, static_cast<uid_t>(-1), group) != 0)
    error = errno;
  else if (fchmod(fd, mode) != 0)
    error = errno;
  else
    error = try_lock(fd);
  ::close(fd);
  if (error != 0) ::unlink(path.c_str());
  return error;
}

/// Opens a file of `owner`; its identity. -1 and errno if there is none.
int open_owned(const std::string& path, int flags, uid_t owner, file_id& id) noexcept {
  const uncancelled meanwhile;
  const int fd = ::open(path.c_str(), flags | open_flags);
  if (fd < 0) return -1;
  struct stat there {};
  if (fstat(fd, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == owner) {
    id = id_of(there);
    return fd;
  }
  ::close(fd);
  errno = EPERM;
  return -1;
}

/// Descriptors of .run files on which this process holds a lock, being a command itself: closing one would drop that
/// lock.
class kept_descriptors {
 public:
  int find(file_id id) {
    const std::lock_guard guard(mutex_);
    for (const auto& [kept, fd] : kept_)
      if (kept == id && file_id::of(fd) == id) return fd;
    return -1;
  }
  /// What follows exec has them, too.
  void leave_open(file_id id) {
    const std::lock_guard guard(mutex_);
    for (const auto& [kept, fd] : kept_)
      if (kept == id && file_id::of(fd) == id) fcntl(fd, F_SETFD, 0);
  }
  void keep(file_id id, int fd) noexcept {
    try {
      const std::lock_guard guard(mutex_);
      kept_.emplace_back(id, fd);
    } catch (...) {
      // It stays open all the same.
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<file_id, int>> kept_;
};

kept_descriptors& kept() {
  static auto* const all = new kept_descriptors;  // never destroyed: threads may ask while the process exits
  return *all;
}

/// Whether this process has another descriptor of the file than this one. True as well if that cannot be found out.
bool has_another_descriptor(int fd, file_id id) noexcept {
  const uncancelled meanwhile;
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return true;
  bool found = false;
  while (const dirent* entry = readdir(listing)) {
    struct stat there {};
    const int number = std::atoi(entry->d_name);
    if (!found && entry->d_name[0] != '.' && number != fd && number != dirfd(listing) && fstat(number, &there) == 0)
      found = id_of(there) == id;
  }
  closedir(listing);
  return found;
}

/// Whether this process may have a record lock on the file, so that closing a descriptor of it would drop that. Asked
/// with few calls, however many others have one: the owner of a lock still has the descriptor it was taken through, for
/// closing it would have dropped the lock.
bool may_have_own_lock(int fd, file_id id) noexcept {
  const uncancelled meanwhile;
  constexpr int queries_max = 12;  // as much as looking at all descriptors costs
  std::int64_t from = 0;
  for (int queries = 0; queries < queries_max; ++queries) {
    struct flock range {};
    if (!lock_call(fd, F_OFD_GETLK, F_WRLCK, from, 0, range)) return true;
    if (range.l_type == F_UNLCK) return false;
    if (range.l_pid == getpid()) return true;
    if (range.l_len == 0) return false;
    from = range.l_start + range.l_len;
  }
  return has_another_descriptor(fd, id);
}

}  // namespace

file_id file_id::of(int fd) noexcept {
  struct stat there {};
  return fd >= 0 && fstat(fd, &there) == 0 ? id_of(there) : file_id{};
}

file_id file_id::of(const std::string& path) noexcept {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0 ? id_of(there) : file_id{};
}

void held_bytes::release() noexcept {
  const uncancelled meanwhile;
  if (pin_ != nullptr) munmap(pin_, pin_bytes);
  if (fd_ >= 0) ::close(fd_);
  forget();
}

lock_opening::~lock_opening() {
  const uncancelled meanwhile;
  if (fd_ >= 0) ::close(fd_);
}

bool lock_opening::lock(std::int64_t first, std::int64_t count) noexcept {
  struct flock range {};
  if (fd_ < 0) return false;
  if (lock_call(fd_, F_OFD_SETLK, F_WRLCK, first, count, range)) return true;
  if (errno != EAGAIN && errno != EACCES) error_ = errno;
  return false;
}

void lock_opening::unlock(std::int64_t first, std::int64_t count) noexcept {
  struct flock range {};
  lock_call(fd_, F_OFD_SETLK, F_UNLCK, first, count, range);
}

held_bytes lock_opening::keep() noexcept {
  const uncancelled meanwhile;
  // The mapping keeps the open file description, and with it the locks. Nothing is ever read through it.
  void* const pin = mmap(nullptr, pin_bytes, PROT_NONE, MAP_SHARED, fd_, 0);
  if (pin == MAP_FAILED) {
    error_ = errno;
    return {};
  }
  if (madvise(pin, pin_bytes, MADV_DONTFORK) != 0) {
    error_ = errno;
    munmap(pin, pin_bytes);
    return {};
  }
  ::close(fd_);
  fd_ = -1;
  return held_bytes(pin);
}

int lock_file::create(const std::string& stem, mode_t mode, gid_t group) noexcept {
  // Only a user that may write to the gate may take locks: a reader's locks could keep others out.
  const mode_t both = ((mode & 0222) << 1 | (mode & 0222)) & 0666;
  if (const int error = create_empty(stem + ".lock", both, group)) return error;
  const int error = create_empty(stem + ".run", both, group);
  if (error != 0) ::unlink((stem + ".lock").c_str());
  return error;
}

void lock_file::unlink(const std::string& stem) noexcept {
  ::unlink((stem + ".lock").c_str());
  ::unlink((stem + ".run").c_str());
}

int lock_file::open(const std::string& stem, uid_t owner, bool for_command) {
  close();
  stem_ = stem;
  opened_by_ = getpid();
  const int fd = open_owned(stem + ".lock", O_RDWR, owner, id_);
  if (fd < 0) return errno;
  asking_.store(fd);
  const int run = open_owned(stem + ".run", O_RDONLY, owner, run_id_);
  if (run < 0) {
    const int error = errno;
    close();
    return error;
  }
  keeps_run_open_ = may_have_own_lock(run, run_id_);
  closes_only_its_own_ = for_command;
  if (for_command)
    for_command_ = above_those_of_scripts(run);
  else
    close_run(run);
  return 0;
}

void lock_file::close() noexcept {
  const uncancelled meanwhile;
  const int fd = asking_.exchange(-1);
  if (file_id::of(fd) == id_ && id_) ::close(fd);  // the number may be of another opening by now
  if (for_command_ >= 0) close_run(for_command_);
  for_command_ = asking_run_ = -1;
  id_ = {};
  lost_.store(0);
}

/// A new opening of the lock file: by its path, or through the descriptor for asking when the path is gone.
int lock_file::reopen() const noexcept {
  const uncancelled meanwhile;
  for (const std::string& path : {stem_ + ".lock", "/proc/self/fd/" + std::to_string(asking_.load())}) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) return -1;
    if (fd < 0) continue;
    if (file_id::of(fd) == id_) return fd;
    ::close(fd);
  }
  errno = ESTALE;
  return -1;
}

lock_opening lock_file::open_again() const noexcept {
  const uncancelled meanwhile;
  const int fd = reopen();
  return lock_opening(fd, errno);
}

lock_opening lock_file::open_for_member() noexcept {
  const uncancelled meanwhile;
  const int fd = closes_only_its_own_ ? asking_.exchange(-1) : -1;
  return fd >= 0 ? lock_opening(fd, 0) : open_again();
}

bool lock_file::leads_to(int fd, const file_id& id) const noexcept {
  return closes_only_its_own_ || file_id::of(fd) == id;
}

lock_file::answer lock_file::member_locked(unsigned i) noexcept {
  const uncancelled meanwhile;
  for (int tries = 0; tries < 3; ++tries) {
    int fd = asking_.load();
    struct flock range {};
    const bool answered = fd >= 0 && lock_call(fd, F_OFD_GETLK, F_WRLCK, member_byte(i), 1, range);
    const int error = answered ? 0 : errno;
    // A descriptor that was closed, and its number used again, knows nothing of the gate's members.
    if (fd >= 0 && leads_to(fd, id_)) {
      if (!answered) {
        lost_.store(error);
        return answer::unknown;
      }
      if (range.l_type == F_UNLCK) return answer::free;
      lost_.store(0, std::memory_order_relaxed);
      return answer::locked;
    }
    const int fresh = reopen();
    if (fresh < 0) break;
    if (!asking_.compare_exchange_strong(fd, fresh)) ::close(fresh);
  }
  lost_.store(errno != 0 ? errno : ESTALE);
  return answer::unknown;
}

std::uint64_t own_pid_namespace() noexcept {
  // Asked once by each process, for it is slow. A forked child may be in another namespace, where its parent has
  // another number, or none; the first process of a namespace always asks.
  static std::atomic<std::uint64_t> cached_for{0}, answer{0};
  const auto self = static_cast<std::uint64_t>(getpid());
  const std::uint64_t me = self << 32 | static_cast<std::uint64_t>(getppid());
  if (self != 1 && cached_for.load() == me) return answer.load();
  struct stat there {};
  const std::uint64_t found = ::stat("/proc/self/ns/pid", &there) == 0 ? there.st_ino : 0;
  cached_for.store(0);
  answer.store(found);
  cached_for.store(me);
  return found;
}

int lock_file::command_process(unsigned i) noexcept {
  int process = -1;
  return command_locked(command_byte(i), 1, &process) == answer::free ? 0 : std::max(process, -1);
}

lock_file::answer lock_file::command_locked(std::int64_t first, std::int64_t count, int* process) noexcept {
  const uncancelled meanwhile;
  int before = kept().find(run_id_);
  if (before < 0 && asking_run_ >= 0 && leads_to(asking_run_, run_id_)) before = asking_run_;
  const int fd = before >= 0 ? before : open_run();
  if (fd < 0) {
    lost_.store(errno);
    return answer::unknown;
  }
  struct flock range {};
  // Asked as an open file description, so that this process's own lock counts too.
  const bool answered = lock_call(fd, F_OFD_GETLK, F_WRLCK, first, count, range);
  if (!answered) lost_.store(errno);
  if (before < 0) close_run(fd);
  if (!answered) return answer::unknown;
  if (range.l_type == F_UNLCK) return answer::free;
  if (process != nullptr) *process = range.l_pid > 0 ? range.l_pid : -1;
  return answer::locked;
}

bool lock_file::alive(unsigned i, bool command_first) noexcept {
  const auto command = [&] { return command_locked(command_byte(i), 1) != answer::free; };
  if (command_first && command()) return true;
  if (member_locked(i) != answer::free) return true;
  if (!command_first && command()) return true;
  lost_.store(0, std::memory_order_relaxed);
  return false;
}

bool lock_file::any_command() noexcept { return command_locked(0, members_max) != answer::free; }

int lock_file::open_run() const noexcept {
  const uncancelled meanwhile;
  const int fd = ::open((stem_ + ".run").c_str(), O_RDONLY | open_flags);
  if (fd < 0) return -1;
  if (file_id::of(fd) == run_id_) return fd;
  ::close(fd);
  errno = ESTALE;
  return -1;
}

void lock_file::close_run(int fd) const noexcept {
  const uncancelled meanwhile;
  if (keeps_run_open_)
    kept().keep(run_id_, fd);
  else
    ::close(fd);
}

int lock_file::open_for_command() noexcept {
  const uncancelled meanwhile;
  const int ready = std::exchange(for_command_, -1);
  if (ready >= 0) return asking_run_ = ready;
  const int low = open_run();
  return low < 0 ? -1 : above_those_of_scripts(low);
}

/// The same opening at a number above what shells and scripts use, below the usual limit of 1024; where the limit is
/// lower, at the highest that is free.
int lock_file::above_those_of_scripts(int low) const noexcept {
  const uncancelled meanwhile;
  int high = -1;
  for (const int above : {1000, 500, 300})
    if (high < 0) high = fcntl(low, F_DUPFD_CLOEXEC, above);
  struct rlimit limit {};
  if (high < 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0)
    for (int last = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 301)) - 1; high < 0 && last > low; --last)
      high = fcntl(low, F_DUPFD_CLOEXEC, last);
  if (high < 0) return low;
  close_run(low);
  return high;
}

int lock_file::lock_for_command(int fd, unsigned i) const noexcept {
  const uncancelled meanwhile;
  if (getpid() == opened_by_)
    kept().leave_open(run_id_);  // this process becomes the command, and its locks from before stay, too
  else
    for (int other = kept().find(run_id_); other >= 0; other = kept().find(run_id_)) ::close(other);
  fcntl(fd, F_SETFD, 0);
  struct flock range {};
  return lock_call(fd, F_SETLK, F_RDLCK, command_byte(i), 1, range) ? 0 : errno;
}

}  // namespace kgate::detail::gates
