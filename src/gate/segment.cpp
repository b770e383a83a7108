// SPDX-License-Identifier: Apache-2.0
#include "gate/segment.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "gate/truncation.hpp"

namespace kgate::detail::gates {

namespace {

std::uint64_t wall_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t random_id() {
  std::uint64_t id = 0;
  if (getrandom(&id, sizeof id, 0) != sizeof id) id = wall_ns() ^ static_cast<std::uint64_t>(getpid()) << 40;
  return id;
}

file_header make_header(std::uint32_t overtakings, bool default_size, std::uint64_t id) {
  file_header header{};
  header.overtakings = overtakings;
  header.default_size = default_size ? 1 : 0;
  header.id = id;
  header.magic_bytes = magic;
  header.version_number = version;
  header.members = members_max;
  header.file_bytes = sizeof(file_layout);
  header.created_ns = wall_ns();
  header.boot = boot_id();
  header.checksum = checksum_of(header);
  return header;
}

/// Where tokens begin: above all that a gate of this name can have given before, if the clock is right.
std::uint64_t first_token(std::uint64_t given) { return std::max(given < tokens_max ? given : 0, wall_ns()); }

gate_failure check_filesystem(const std::string& path, const struct statfs& there) {
  if (const char* bad = unsuitable_filesystem(static_cast<std::uint64_t>(there.f_type)))
    return {gate_errc::bad_filesystem,
            path + " is on " + bad +
                ", where a mapping or a lock is not shared by all who use the file; use a local directory"};
  return {};
}

/// Keeps the signal for a file that would exceed the limit of this process from ending it: the error is enough.
class file_size_signal_blocked {
 public:
  file_size_signal_blocked() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  file_size_signal_blocked(const file_size_signal_blocked&) = delete;
  file_size_signal_blocked& operator=(const file_size_signal_blocked&) = delete;
  ~file_size_signal_blocked() {
    if (sigismember(&before_, SIGXFSZ) == 0) {
      const timespec none{};
      while (sigtimedwait(&set_, nullptr, &none) > 0) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_{}, before_{};
};

/// Gives a new file its length, and space to what every gate of so many slots uses. 0 or an errno.
int allocate_new(int fd, int slots) {
  if (ftruncate(fd, sizeof(file_layout)) != 0) return errno;
  if (fallocate(fd, 0, 0, offsetof(file_layout, state_bits)) == 0)
    return fallocate(fd, 0, offsetof(file_layout, slot_bits), slots * std::int64_t{sizeof(std::uint64_t)}) == 0 ? 0
                                                                                                                : errno;
  if (errno != EOPNOTSUPP) return errno;
  return posix_fallocate(fd, 0, sizeof(file_layout));  // all of it: nothing can be added later
}

std::array<std::string, 2> lock_files_of(const std::string& stem) { return {stem + ".lock", stem + ".run"}; }

/// Gives the owner's rights back to a file of this user that has lost them. Never through a symbolic link.
bool reopen_to_owner(const std::string& path) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  struct stat there {};
  const bool done = fstat(fd, &there) == 0 && S_ISREG(there.st_mode) && is_closed_to_owner(there) &&
                    chmod(("/proc/self/fd/" + std::to_string(fd)).c_str(), (there.st_mode & 0777) | 0600) == 0;
  ::close(fd);
  return done;
}

/// Links an open file to a path. 0 or an errno.
int link_open_file(int fd, const std::string& path) {
  if (linkat(fd, "", AT_FDCWD, path.c_str(), AT_EMPTY_PATH) == 0) return 0;
  if (errno == EEXIST) return EEXIST;
  const std::string by_number = "/proc/self/fd/" + std::to_string(fd);
  return linkat(AT_FDCWD, by_number.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

}  // namespace

std::array<char, 40> boot_id() {
  std::array<char, 40> id{};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return id;
  const ssize_t got = read(fd, id.data(), 36);
  ::close(fd);
  if (got != 36) id.fill(0);
  return id;
}

std::uint64_t checksum_of(const file_header& header) {
  std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  for (std::size_t i = 0; i < offsetof(file_header, checksum); ++i) sum = (sum ^ bytes[i]) * 0x100000001b3U;
  return sum;
}

gate_failure verify(const file_header& header, std::uint64_t bytes, const std::string& path) {
  const auto remedy = [&] { return "`kgate remove -n " + name_in(path) + " --force` when nobody uses it"; };
  if (bytes < sizeof(file_header) || header.magic_bytes != magic)
    return {gate_errc::not_a_gate, path + " is not a gate; it was left as it is"};
  if (header.version_number != version)
    return {gate_errc::not_a_gate, path + " is a gate of version " + std::to_string(header.version_number) +
                                       ", this kgate uses version " + std::to_string(version) +
                                       "; use the other kgate, or " + remedy()};
  if (header.checksum != checksum_of(header))
    return {gate_errc::not_a_gate, path + " has a damaged header; run " + remedy()};
  if (header.members != members_max || header.file_bytes != sizeof(file_layout) || bytes != sizeof(file_layout))
    return {gate_errc::damaged, path + " has " + std::to_string(bytes) + " bytes instead of " +
                                    std::to_string(sizeof(file_layout)) + "; run " + remedy()};
  return {};
}

gate_failure segment::open(const std::string& name, int slots, const location& where) {
  if (!valid_name(name))
    return {gate_errc::bad_name,
            "'" + visible(name) +
                "' cannot be the name of a gate: use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit"};
  if (slots < 0 || slots > slots_max)
    return {gate_errc::bad_slots,
            "a gate has 1 to " + std::to_string(slots_max) + " slots, not " + std::to_string(slots)};
  if (gate_failure failure = check_directory(where, slots != 0)) return failure;
  path_ = path_of(directory_of(where), name);
  gate_failure failure;
  for (int tries = 0; tries < 100; ++tries) {
    const attempt result = open_once(name, slots, where, failure);
    if (result == attempt::done) return {};
    close();
    if (result == attempt::failed) return failure;
  }
  return {gate_errc::system, path_ + " is created and removed again and again by others; try again"};
}

segment::attempt segment::open_once(const std::string& name, int slots, const location& where, gate_failure& failure) {
  struct stat there {};
  failure = {};
  const int fd = open_regular(path_, O_RDWR, there, failure);
  if (fd < 0 && failure.code == gate_errc::not_found) {
    if (slots == 0) {
      failure.text = "there is no gate '" + name + "' (" + path_ + "); give the number of slots to create it";
      return attempt::failed;
    }
    failure = create(name, slots, where);
    return failure ? attempt::failed : attempt::again;
  }
  if (fd < 0) return attempt::failed;
  failure = check_owner(path_, there);
  if (!failure) failure = map_file(fd, there, true);
  ::close(fd);
  if (failure) return attempt::failed;
  failure = open_locks(there, where.for_command);
  if (failure && file_id::of(path_) != id_) return attempt::again;  // removed meanwhile
  if (failure) return attempt::failed;
  if (is_stale()) {
    failure = renew(slots);
    if (failure) return attempt::failed;
  }
  if (word{map_->word_bits.load()}.operation() == op::retired) {
    failure = unlink_retired();
    return failure ? attempt::failed : attempt::again;
  }
  const limit size = size_of(*map_);
  if (!size.valid()) {
    failure = {gate_errc::damaged,
               path_ + " is damaged; run `kgate remove -n " + name + " --force` when nobody uses it"};
    return attempt::failed;
  }
  if (slots != 0 && size.slots() != slots && size.seq() == 0) {  // a size that was set later stands
    failure = {gate_errc::wrong_slots, "gate '" + name + "' has " + std::to_string(size.slots()) +
                                           (size.slots() == 1 ? " slot" : " slots") + ", not " + std::to_string(slots) +
                                           "; leave the number out to use it as it is, or change it: kgate resize -n " +
                                           name + " -k " + std::to_string(slots)};
    return attempt::failed;
  }
  return attempt::done;
}

gate_failure segment::open_read_only(const std::string& name, const location& where) {
  if (!valid_name(name)) return {gate_errc::bad_name, "'" + visible(name) + "' cannot be the name of a gate"};
  if (gate_failure failure = check_directory(where, false)) return failure;
  path_ = path_of(directory_of(where), name);
  struct stat there {};
  gate_failure failure;
  const int fd = open_regular(path_, O_RDONLY, there, failure);
  if (fd < 0) return failure;
  failure = check_owner(path_, there);
  if (!failure) failure = map_file(fd, there, false);
  ::close(fd);
  if (failure) close();
  return failure;
}

gate_failure segment::map_file(int fd, const struct stat& there, bool writable) {
  struct statfs file_system {};
  if (fstatfs(fd, &file_system) == 0) {
    if (gate_failure failure = check_filesystem(path_, file_system)) return failure;
    on_disk_ = file_system.f_type != TMPFS_MAGIC;
  }
  const auto bytes = static_cast<std::uint64_t>(there.st_size);
  if (bytes != sizeof(file_layout)) {  // nothing that could be mapped
    file_header header{};
    if (pread(fd, &header, sizeof header, 0) < 0) return system_failure("cannot read " + path_, errno);
    return verify(header, bytes, path_);
  }
  void* const memory =
      mmap(nullptr, sizeof(file_layout), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    if (errno == ENODEV)
      return {gate_errc::bad_filesystem, path_ + " is on a file system without shared mappings; use another directory"};
    return system_failure("cannot map " + path_, errno);
  }
  map_ = static_cast<file_layout*>(memory);
  remember_mapping(map_, writable);
  const file_header header = map_->header;  // a copy: others can write to it
  lock_id_ = header.id;
  id_ = {there.st_dev, there.st_ino};
  return verify(header, bytes, path_);
}

gate_failure segment::open_locks(const struct stat& gate, bool for_command) {
  const std::string stem = lock_stem_of(path_, lock_id_);
  const int error = locks_.open(stem, gate.st_uid, for_command);
  if (error == 0) return {};
  if (error == ENOENT)
    return {gate_errc::damaged, path_ + " has lost its lock files (" + stem + ".*); run `kgate remove -n " +
                                    name_in(path_) + " --force` when nobody uses it"};
  gate_failure failure = system_failure("cannot open the lock files of " + path_, error);
  if (error != EACCES) return failure;
  std::string closed;
  for (const std::string& file : lock_files_of(stem)) {
    struct stat there {};
    if (lstat(file.c_str(), &there) == 0 && is_closed_to_owner(there)) closed += " " + file;
  }
  failure.text += !closed.empty() ? "; you own them: chmod u+rw" + closed
                                  : "; they are shared like the gate when it is created: see SHARING in kgate(7)";
  return failure;
}

gate_failure segment::create(const std::string& name, int slots, const location& where) {
  const std::string directory = directory_of(where);
  struct statfs file_system {};
  if (statfs(directory.c_str(), &file_system) != 0) {
    if (errno == ENOENT)
      return {gate_errc::not_found, "there is no directory " + directory + "; create it, or choose another one"};
    return system_failure("cannot use the directory " + directory, errno);
  }
  if (gate_failure failure = check_filesystem(directory, file_system)) return failure;
  sweep_unfinished(directory, name);
  // Without a name until all is written: one that opens the gate finds it whole, and a creator that is killed leaves
  // nothing but two empty files that no process asks for and the next creator sweeps.
  const std::uint64_t id = random_id();
  const std::string stem = lock_stem_of(path_, id);
  const std::string temporary = stem + ".new";  // only where the file system has no unnamed files
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  const bool named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
  if (named) fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return system_failure("cannot create a gate in " + directory, errno);
  gate_failure failure;
  if (const int error = lock_file::create(stem, where.mode, where.group)) {
    const bool locking = error == ENOLCK || error == EINVAL;
    failure = system_failure((locking ? "cannot lock files in " + directory + ", as gate '" + name + "' must be"
                                      : "cannot create gate '" + name + "' in " + directory),
                             error);
  } else {
    failure = write_and_link(fd, name, slots, where, id);
    if (failure || file_id::of(path_) != file_id::of(fd)) lock_file::unlink(stem);  // or another process was first
  }
  if (named) unlink(temporary.c_str());
  ::close(fd);
  return failure;
}

gate_failure segment::write_and_link(int fd, const std::string& name, int slots, const location& where,
                                     std::uint64_t id) {
  const std::string directory = directory_of(where);
  const file_size_signal_blocked blocked;
  const auto size = limit::of(slots, 0).bits;
  const auto initial = word{}.next(op::none, 0, slots, false).bits;
  const std::uint64_t token = first_token(0);
  const file_header header = make_header(where.overtakings, where.default_size, id);
  const auto write_at = [&](const auto& value, std::size_t offset) {
    return pwrite(fd, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
  };
  if (const int error = allocate_new(fd, slots)) return system_failure("no room for a gate in " + directory, error);
  const auto slots_used = static_cast<std::uint32_t>(slots);
  if (!write_at(slots_used, offsetof(file_layout, slots_used)) || !write_at(size, offsetof(file_layout, size_bits)) ||
      !write_at(initial, offsetof(file_layout, word_bits)) || !write_at(token, offsetof(file_layout, tokens)) ||
      !write_at(header, 0))
    return system_failure("cannot write gate '" + name + "' in " + directory, errno);
  if (where.group != static_cast<gid_t>(-1) && fchown(fd, static_cast<uid_t>(-1), where.group) != 0)
    return system_failure("cannot give gate '" + name + "' to group " + std::to_string(where.group), errno);
  if (fchmod(fd, where.mode) != 0) return system_failure("cannot set the mode of gate '" + name + "'", errno);
  const int error = link_open_file(fd, path_);
  if (error != 0 && error != EEXIST) return system_failure("cannot create gate '" + name + "' in " + directory, error);
  return {};
}

/// Whether the gate is from before the last boot. Without a boot id (no /proc in this container) there is no telling,
/// and no need: what the locks say is enough, unless a power cut tore the file.
bool segment::is_stale() const noexcept {
  if (!on_disk_) return false;
  const std::array<char, 40> now = boot_id();
  return now[0] != '\0' && map_->header.boot != now;
}

gate_failure segment::renew(int slots) {
  held_bytes maintenance;
  if (gate_failure failure = lock_maintenance(maintenance)) return failure;
  if (!is_stale()) return {};
  const limit before = size_of(*map_);
  if (!before.valid() && slots == 0)
    return {gate_errc::damaged,
            path_ + " is from before the last boot and damaged; give the number of slots to renew it"};
  // If it cannot be had for oneself, others use it, so it is not that old: it was made where the boot id cannot be
  // seen.
  renew_unused(before.valid() ? before.slots() : slots);
  return {};
}

void segment::reset(int slots) noexcept {
  // The header comes last: one that dies before that leaves a gate that the next one renews again. Tokens go on.
  const std::uint64_t token = first_token(map_->tokens.load());
  const bool resized = limit{map_->size_bits.load()}.seq() != 0;  // a size that was set later still stands
  map_->tokens.store(token);
  std::memset(static_cast<void*>(&map_->queue_bits), 0,
              offsetof(file_layout, tokens) - offsetof(file_layout, queue_bits));
  constexpr std::size_t behind = offsetof(file_layout, tokens) + sizeof map_->tokens;
  constexpr std::size_t page = 4096;
  char* const bytes = reinterpret_cast<char*>(map_);
  std::memset(bytes + behind, 0, page - behind);
  if (madvise(bytes + page, sizeof(file_layout) - page, MADV_REMOVE) != 0)  // its space goes, too
    std::memset(bytes + page, 0, sizeof(file_layout) - page);
  reserve_slots(slots);
  map_->slots_used.store(static_cast<std::uint32_t>(slots));
  map_->size_bits.store(limit::of(slots, resized ? 1 : 0).bits);
  map_->word_bits.store(word{}.next(op::none, 0, slots, false).bits);
  map_->header = make_header(map_->header.overtakings, map_->header.default_size != 0, lock_id_);
}

int segment::reserve(const void* first, std::size_t bytes) noexcept {
  constexpr std::uintptr_t page = 4096;
  const auto from = reinterpret_cast<std::uintptr_t>(first) & ~(page - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(first) + bytes + page - 1) & ~(page - 1);
#ifdef MADV_POPULATE_WRITE
  constexpr int populate_write = MADV_POPULATE_WRITE;
#else
  constexpr int populate_write = 23;
#endif
  if (madvise(reinterpret_cast<void*>(from), to - from, populate_write) == 0) return 0;
  if (errno == EFAULT || errno == ENOMEM) return ENOSPC;  // what would be a SIGBUS
  if (errno != EINVAL) return errno;
  // A kernel before 5.14. Through the path, if the file is still there; else its space cannot be had in advance.
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return 0;
  const auto offset = static_cast<off_t>(from - reinterpret_cast<std::uintptr_t>(map_));
  const bool failed = file_id::of(fd) == id_ && fallocate(fd, 0, offset, static_cast<off_t>(to - from)) != 0;
  const int error = failed && errno != EOPNOTSUPP ? errno : 0;
  ::close(fd);
  return error;
}

int segment::reserve_member(unsigned i) noexcept {
  if (const int error = reserve(&map_->state_bits[i], sizeof map_->state_bits[i])) return error;
  if (const int error = reserve(&map_->lines[i], sizeof map_->lines[i])) return error;
  return reserve(&map_->info[i], sizeof map_->info[i]);
}

int segment::reserve_slots(int slots) noexcept {
  return reserve(map_->slot_bits, static_cast<std::size_t>(slots) * sizeof map_->slot_bits[0]);
}

gate_failure segment::lock_maintenance(held_bytes& out) {
  lock_opening opening = locks_.open_again();
  constexpr int tries_max = 2000;
  for (int tries = 0; tries < tries_max; ++tries) {
    if (opening.lock(maintenance_byte, 1)) {
      out = opening.keep();
      if (out) return {};
    }
    if (opening.error() != 0) return system_failure("cannot lock " + path_, opening.error());
    usleep(1000);
  }
  return {gate_errc::in_use,
          path_ + " is being renewed or removed by a process that does not go on; continue or end that process"};
}

bool segment::renew_unused(int slots) noexcept {
  if (slots < 1 || slots > slots_max) return false;
  // All members' bytes at once: no member has one, and no process can join until this is over.
  lock_opening opening = locks_.open_again();
  if (!opening.lock(member_byte(0), members_max) || locks_.any_command()) return false;
  const held_bytes all = opening.keep();
  if (!all) return false;
  reset(slots);
  return true;
}

gate_failure segment::may_unlink() const {
  const std::size_t slash = path_.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path_.substr(0, std::max<std::size_t>(slash, 1));
  struct stat holder {
  }, file{};
  int error = 0;
  if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0 || stat(directory.c_str(), &holder) != 0)
    error = errno;
  else if ((holder.st_mode & S_ISVTX) != 0 && lstat(path_.c_str(), &file) == 0 && geteuid() != 0 &&
           geteuid() != holder.st_uid && geteuid() != file.st_uid)
    error = EPERM;  // in such a directory only the owners of the file and of the directory may
  return error == 0 ? gate_failure{} : system_failure("cannot remove " + path_, error);
}

gate_failure segment::unlink_retired() {
  // The lock belongs to this very gate, so no process can unlink the one that may have taken its place at the path.
  held_bytes maintenance;
  gate_failure failure = lock_maintenance(maintenance);
  const bool ours = is_in_place();
  if (failure) return ours ? failure : gate_failure{};
  if (ours && unlink(path_.c_str()) != 0) return system_failure("cannot remove " + path_, errno);
  lock_file::unlink(lock_stem_of(path_, lock_id_));
  return {};
}

void segment::close() noexcept {
  if (map_ != nullptr) {
    forget_mapping(map_);
    munmap(map_, sizeof(file_layout));
  }
  map_ = nullptr;
  locks_.close();
}

bool let_owner_in(const std::string& path) {
  bool done = reopen_to_owner(path);
  struct stat there {};
  gate_failure ignored;
  const int fd = open_regular(path, O_RDONLY, there, ignored);
  if (fd < 0) return done;
  file_header header{};
  const bool whole = pread(fd, &header, sizeof header, 0) == sizeof header && header.magic_bytes == magic;
  ::close(fd);
  if (whole)
    for (const std::string& file : lock_files_of(lock_stem_of(path, header.id))) done = reopen_to_owner(file) || done;
  return done;
}

gate_failure remove_unreadable(const std::string& path) {
  struct stat there {};
  gate_failure failure;
  if (lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    return {gate_errc::not_a_gate, path + " is not a regular file; remove it by other means"};
  const int fd = open_regular(path, O_RDONLY, there, failure);
  if (fd < 0) return failure;
  // Others that remove this file take this lock first, so what is at the path cannot change between the look and the
  // unlink.
  bool locked = false;
  for (int tries = 0; tries < 2000 && !locked; ++tries) {
    locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!locked) usleep(1000);
  }
  file_header header{};
  const bool has_locks = pread(fd, &header, sizeof header, 0) == sizeof header && header.magic_bytes == magic &&
                         header.checksum == checksum_of(header);
  if (!locked)
    failure = {gate_errc::in_use, path + " is locked by another process"};
  else if (file_id::of(path) != file_id{there.st_dev, there.st_ino})
    failure = {};  // it is gone already
  else if (unlink(path.c_str()) != 0)
    failure = system_failure("cannot remove " + path, errno);
  else if (has_locks)
    lock_file::unlink(lock_stem_of(path, header.id));
  ::close(fd);
  return failure;
}

}  // namespace kgate::detail::gates
