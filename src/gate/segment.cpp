// SPDX-License-Identifier: Apache-2.0
#include "gate/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace kgate::gate_detail {

namespace {

constexpr std::string_view suffix = ".gate";

gate_failure system_failure(const std::string& doing, int error) {
  const gate_errc code =
      error == EACCES || error == EPERM || error == EROFS ? gate_errc::no_permission : gate_errc::system;
  return {code, doing + ": " + std::strerror(error)};
}

std::uint64_t wall_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

bool fcntl_lock(int fd, int command, short type, std::int64_t start, std::int64_t count, struct flock* out = nullptr) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = count;
  int result = 0;
  do {
    result = fcntl(fd, command, &range);
  } while (result < 0 && errno == EINTR);
  if (out != nullptr) *out = range;
  return result == 0;
}

bool same_file(int fd, const std::string& path) {
  struct stat mine {
  }, there{};
  return fstat(fd, &mine) == 0 && stat(path.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

file_header make_header(std::uint32_t overtakings) {
  file_header header{};
  header.overtakings = overtakings;
  header.magic_bytes = magic;
  header.version_number = version;
  header.members = members_max;
  header.file_bytes = sizeof(file_layout);
  header.created_ns = wall_ns();
  header.boot = boot_id();
  header.checksum = checksum_of(header);
  return header;
}

/// Makes the user's own directory in a place everybody may write to, and does not trust one that somebody else made there.
gate_failure make_default_directory(const std::string& directory) {
  struct stat there {};
  if (lstat(directory.c_str(), &there) != 0) {
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
      return system_failure("cannot create the directory of your gates, " + directory, errno);
    if (lstat(directory.c_str(), &there) != 0) return system_failure("cannot use " + directory, errno);
  }
  if (!S_ISDIR(there.st_mode) || there.st_uid != geteuid() || (there.st_mode & 022) != 0)
    return {gate_errc::no_permission,
            directory + " is not a directory that only you can write to; name another one with --dir or KGATE_DIR"};
  return {};
}

}  // namespace

std::string default_directory() {
  if (const char* chosen = std::getenv("KGATE_DIR"); chosen != nullptr && *chosen != '\0') return chosen;
  struct stat run_lock {};
  const bool usable =
      stat("/run/lock", &run_lock) == 0 && S_ISDIR(run_lock.st_mode) && access("/run/lock", W_OK | X_OK) == 0;
  return std::string(usable ? "/run/lock" : "/tmp") + "/kgate-" + std::to_string(geteuid());
}

bool valid_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 64 || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || c == '.' || c == '_' || c == '-'; });
}

std::string path_of(std::string_view directory, std::string_view name) {
  return std::string(directory) + "/" + std::string(name) + std::string(suffix);
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const listing = opendir(directory.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.size() <= suffix.size() || file.substr(file.size() - suffix.size()) != suffix) continue;
    const std::string_view name = file.substr(0, file.size() - suffix.size());
    if (valid_name(name)) names.emplace_back(name);
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

const char* unsuitable_filesystem(std::uint64_t type) {
  switch (static_cast<std::uint32_t>(type)) {
    case 0x6969:
      return "NFS";
    case 0xFF534D42:
    case 0xFE534D42:
    case 0x517B:
      return "SMB";
    case 0x01021997:
      return "9P";
    case 0x65735546:
      return "FUSE";
    case 0x00C36400:
      return "Ceph";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x5346414F:
    case 0x6B414653:
      return "AFS";
    case 0x786F4256:
      return "a VirtualBox shared folder";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    case 0x7461636F:
      return "OCFS2";
    case 0x01161970:
      return "GFS2";
    case 0x9FA0:
      return "proc";
    case 0x62656572:
      return "sysfs";
    default:
      return nullptr;
  }
}

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
  if (bytes < sizeof(file_header) || header.magic_bytes != magic)
    return {gate_errc::not_a_gate, path + " is not a gate; it was left as it is"};
  if (header.version_number != version)
    return {gate_errc::not_a_gate, path + " is a gate of version " + std::to_string(header.version_number) +
                                       ", this kgate uses version " + std::to_string(version) +
                                       "; use the other kgate, or `kgate remove --force` when nobody needs it"};
  if (header.checksum != checksum_of(header))
    return {gate_errc::not_a_gate,
            path + " has a damaged header; run `kgate doctor`, or `kgate remove --force` when nobody uses it"};
  if (header.members != members_max || header.file_bytes != sizeof(file_layout) || bytes != sizeof(file_layout))
    return {gate_errc::damaged, path + " has " + std::to_string(bytes) + " bytes instead of " +
                                    std::to_string(sizeof(file_layout)) +
                                    "; run `kgate doctor`, or `kgate remove --force` when nobody uses it"};
  return {};
}

bool lock_byte(int fd, std::int64_t byte) noexcept { return fcntl_lock(fd, F_OFD_SETLK, F_WRLCK, byte, 1); }

void unlock_byte(int fd, std::int64_t byte) noexcept { fcntl_lock(fd, F_OFD_SETLK, F_UNLCK, byte, 1); }

bool locked_by_others(int fd, std::int64_t byte, std::int64_t count) noexcept {
  // Asked for reading, so that a read lock, which a user without permission to write can take, says nothing.
  struct flock found {};
  if (!fcntl_lock(fd, F_OFD_GETLK, F_RDLCK, byte, count, &found)) return true;
  return found.l_type != F_UNLCK;
}

gate_failure segment::open(const std::string& name, int slots, const place& where) {
  if (!valid_name(name))
    return {gate_errc::bad_name,
            "'" + name +
                "' cannot be the name of a gate: use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit"};
  if (slots < 0 || slots > slots_max)
    return {gate_errc::bad_slots,
            "a gate has 1 to " + std::to_string(slots_max) + " slots, not " + std::to_string(slots)};
  const std::string directory = where.directory.empty() ? default_directory() : where.directory;
  path_ = path_of(directory, name);
  if (where.directory.empty() && std::getenv("KGATE_DIR") == nullptr) {
    if (gate_failure failure = make_default_directory(directory)) return failure;
  }
  gate_failure failure;
  for (int tries = 0; tries < 100; ++tries) {
    const attempt result = open_once(name, slots, where, failure);
    if (result == attempt::done) return {};
    close();
    if (result == attempt::failed) return failure;
  }
  return {gate_errc::system, path_ + " is created and removed again and again by others; try again"};
}

segment::attempt segment::open_once(const std::string& name, int slots, const place& where, gate_failure& failure) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
  if (fd_ < 0 && errno == ENOENT) {
    if (slots == 0) {
      failure = {gate_errc::not_found,
                 "there is no gate '" + name + "' (" + path_ + "); give the number of slots to create it"};
      return attempt::failed;
    }
    failure = create(name, slots, where);
    return failure ? attempt::failed : attempt::again;
  }
  if (fd_ < 0) {
    const int error = errno;
    failure = system_failure("cannot open gate '" + name + "' (" + path_ + ")", error);
    if (error == EACCES) failure.text += "; its owner can share it with a group: see SHARING in kgate(7)";
    return attempt::failed;
  }
  writable_ = true;
  failure = map_file(PROT_READ | PROT_WRITE);
  if (failure) return attempt::failed;
  if (is_stale()) {
    failure = renew(slots);
    if (failure) return attempt::failed;
  }
  if (word{map_->word_bits.load()}.operation() == op::retired) {
    unlink_retired();
    return attempt::again;
  }
  const int there = limit{map_->size_bits.load()}.slots();
  if (there < 1 || there > slots_max) {
    failure = {gate_errc::damaged, path_ + " is damaged; `kgate remove --force` it when nobody uses it"};
    return attempt::failed;
  }
  if (slots != 0 && there != slots) {
    failure = {gate_errc::wrong_slots, "gate '" + name + "' has " + std::to_string(there) + " slots, not " +
                                           std::to_string(slots) +
                                           "; leave the number out to use it as it is, or change it: kgate resize -n " +
                                           name + " -k " + std::to_string(slots)};
    return attempt::failed;
  }
  return attempt::done;
}

gate_failure segment::open_to_look(const std::string& name, const place& where) {
  if (!valid_name(name)) return {gate_errc::bad_name, "'" + name + "' cannot be the name of a gate"};
  path_ = path_of(where.directory.empty() ? default_directory() : where.directory, name);
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
  if (fd_ < 0) {
    if (errno == ENOENT) return {gate_errc::not_found, "there is no gate '" + name + "' (" + path_ + ")"};
    return system_failure("cannot open gate '" + name + "' (" + path_ + ")", errno);
  }
  gate_failure failure = map_file(PROT_READ);
  if (failure) close();
  return failure;
}

gate_failure segment::map_file(int flags) {
  struct stat there {};
  if (fstat(fd_, &there) != 0) return system_failure("cannot examine " + path_, errno);
  if (!S_ISREG(there.st_mode)) return {gate_errc::not_a_gate, path_ + " is not a file"};
  struct statfs file_system {};
  if (fstatfs(fd_, &file_system) == 0) {
    if (const char* bad = unsuitable_filesystem(static_cast<std::uint64_t>(file_system.f_type)))
      return {gate_errc::bad_filesystem,
              path_ + " is on " + bad +
                  ", where a mapping or a lock is not shared by all who use the file; use a local directory"};
  }
  file_header header{};
  if (pread(fd_, &header, sizeof header, 0) < 0) return system_failure("cannot read " + path_, errno);
  if (gate_failure failure = verify(header, static_cast<std::uint64_t>(there.st_size), path_)) return failure;
  void* const memory = mmap(nullptr, sizeof(file_layout), flags, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) {
    if (errno == ENODEV)
      return {gate_errc::bad_filesystem, path_ + " is on a file system without shared mappings; use another directory"};
    return system_failure("cannot map " + path_, errno);
  }
  map_ = static_cast<file_layout*>(memory);
  return {};
}

gate_failure segment::create(const std::string& name, int slots, const place& where) {
  const std::string directory = path_.substr(0, path_.rfind('/'));
  struct statfs file_system {};
  if (statfs(directory.c_str(), &file_system) != 0) {
    if (errno == ENOENT)
      return {gate_errc::not_found,
              "there is no directory " + directory + "; create it, or name another one with --dir"};
    return system_failure("cannot use the directory " + directory, errno);
  }
  if (const char* bad = unsuitable_filesystem(static_cast<std::uint64_t>(file_system.f_type)))
    return {gate_errc::bad_filesystem,
            directory + " is on " + bad +
                ", where a mapping or a lock is not shared by all who use the file; use a local directory"};
  // Under a name that is nobody's until all is written, then linked: whoever opens the gate finds it whole.
  const std::string temporary =
      directory + "/." + name + "." + std::to_string(getpid()) + "." + std::to_string(wall_ns()) + ".new";
  const int fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return system_failure("cannot create a gate in " + directory, errno);
  gate_failure failure;
  const auto first = limit::of(slots, 0).bits;
  const auto initial = word{}.next(op::none, 0, slots, false).bits;
  const file_header header = make_header(where.overtakings);
  // Space is taken now: a hole in the file would be a SIGBUS for somebody when the disk is full.
  if (const int error = posix_fallocate(fd, 0, sizeof(file_layout)))
    failure = system_failure("no room for a gate in " + directory, error);
  else if (pwrite(fd, &first, sizeof first, offsetof(file_layout, size_bits)) != sizeof first ||
           pwrite(fd, &initial, sizeof initial, offsetof(file_layout, word_bits)) != sizeof initial ||
           pwrite(fd, &header, sizeof header, 0) != sizeof header)
    failure = system_failure("cannot write " + temporary, errno);
  else if (where.group != static_cast<gid_t>(-1) && fchown(fd, static_cast<uid_t>(-1), where.group) != 0)
    failure = system_failure("cannot give gate '" + name + "' to group " + std::to_string(where.group), errno);
  else if (fchmod(fd, where.mode) != 0)
    failure = system_failure("cannot set the mode of gate '" + name + "'", errno);
  else if (link(temporary.c_str(), path_.c_str()) != 0 && errno != EEXIST)
    failure = system_failure("cannot create gate '" + name + "' in " + directory, errno);
  unlink(temporary.c_str());
  ::close(fd);
  return failure;
}

/// Whether the gate is from before the last boot. Without a boot id (no /proc in this container) there is no telling, and no need:
/// what the locks say is enough, unless a power cut tore the file.
bool segment::is_stale() const noexcept {
  const std::array<char, 40> now = boot_id();
  return now[0] != '\0' && map_->header.boot != now;
}

gate_failure segment::renew(int slots) {
  if (!lock_maintenance()) return system_failure("cannot lock " + path_, errno);
  gate_failure failure;
  if (is_stale()) {
    const int before = limit{map_->size_bits.load()}.slots();
    const bool known = before >= 1 && before <= slots_max;
    // If it cannot be had for oneself somebody uses it, so it is not that old: it was made where the boot id cannot be seen.
    if (known || slots != 0)
      renew_unused(known ? before : slots);
    else
      failure = {gate_errc::damaged,
                 path_ + " is from before the last boot and damaged; give the number of slots to renew it"};
  }
  unlock_maintenance();
  return failure;
}

void segment::reset(int slots) noexcept {
  // The header comes last: whoever dies before that leaves a gate that the next one renews again.
  std::memset(static_cast<void*>(&map_->word_bits), 0, sizeof(file_layout) - offsetof(file_layout, word_bits));
  map_->size_bits.store(limit::of(slots, 0).bits);
  map_->word_bits.store(word{}.next(op::none, 0, slots, false).bits);
  map_->header = make_header(map_->header.overtakings);
}

bool segment::lock_maintenance() noexcept { return fcntl_lock(fd_, F_OFD_SETLKW, F_WRLCK, maintenance_byte, 1); }

void segment::unlock_maintenance() noexcept { fcntl_lock(fd_, F_OFD_SETLK, F_UNLCK, maintenance_byte, 1); }

bool segment::renew_unused(int slots) noexcept {
  // All members' bytes at once: nobody has one, and nobody can join until this is over.
  if (slots < 1 || slots > slots_max ||
      !fcntl_lock(fd_, F_OFD_SETLK, F_WRLCK, lock_base, 2 * std::int64_t{members_max}))
    return false;
  reset(slots);
  fcntl_lock(fd_, F_OFD_SETLK, F_UNLCK, lock_base, 2 * std::int64_t{members_max});
  return true;
}

void segment::unlink_retired() noexcept {
  // The lock belongs to this very file, so nobody can unlink the one that may have taken its place at the path.
  if (!lock_maintenance()) return;
  if (same_file(fd_, path_)) unlink(path_.c_str());
  unlock_maintenance();
}

void segment::close() noexcept {
  if (map_ != nullptr) munmap(map_, sizeof(file_layout));
  if (fd_ >= 0) ::close(fd_);
  map_ = nullptr;
  fd_ = -1;
}

}  // namespace kgate::gate_detail
