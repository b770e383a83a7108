// SPDX-License-Identifier: Apache-2.0
#include "gate/location.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "gate/byte_locks.hpp"
#include "gate/layout.hpp"

namespace kgate::detail::gates {

namespace {

constexpr std::string_view suffix = ".gate";

std::string directory_part(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

bool is_users_own(const location& where) { return where.directory.empty() && std::getenv("KGATE_DIR") == nullptr; }

std::string users_own_directory() {
  struct stat run_lock {};
  const bool open_to_users =
      stat("/run/lock", &run_lock) == 0 && S_ISDIR(run_lock.st_mode) && (run_lock.st_mode & S_IWOTH) != 0;
  return std::string(open_to_users ? "/run/lock" : "/tmp") + "/kgate-" + std::to_string(geteuid());
}

/// The gate's name and id in the name of a file that a creation makes beside it: `.NAME.ID.` and lock, run or new.
/// False if it is none.
bool parse_lock_name(std::string_view file, std::string& name, std::uint64_t& id) {
  const std::size_t end = file.rfind('.');
  if (file.empty() || file.front() != '.' || end == std::string_view::npos || end < 18) return false;
  const std::string_view kind = file.substr(end);
  if (kind != ".lock" && kind != ".run" && kind != ".new") return false;
  const std::string_view digits = file.substr(end - 16, 16);
  if (file[end - 17] != '.' || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  name = file.substr(1, end - 18);
  id = std::strtoull(std::string(digits).c_str(), nullptr, 16);
  return valid_name(name);
}

/// Whether gate `name` of the directory uses the lock files `id`, as far as can be known.
bool may_use_locks(const std::string& directory, const std::string& name, std::uint64_t id) {
  struct stat there {};
  gate_failure ignored;
  const int fd = open_regular(path_of(directory, name), O_RDONLY, there, ignored);
  if (fd < 0) return ignored.code != gate_errc::not_found;
  file_header header{};
  const bool whole = pread(fd, &header, sizeof header, 0) == sizeof header && header.magic_bytes == magic;
  close(fd);
  return !whole || header.id == id;
}

/// Whether a living process keeps a lock on a file, as users of a renamed gate do. True as well if that cannot be found
/// out.
bool is_locked(int directory, const std::string& file) {
  const int fd = openat(directory, file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return errno != ENOENT;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  const bool answered = fcntl(fd, F_OFD_GETLK, &range) == 0;
  close(fd);
  return !answered || range.l_type != F_UNLCK;
}
/// The same of either of the two lock files of a gate, of which `file` is one.
bool is_in_use(int directory, std::string_view file) {
  const std::string stem(file.substr(0, file.rfind('.')));
  return is_locked(directory, stem + ".lock") || is_locked(directory, stem + ".run");
}

}  // namespace

gate_failure system_failure(const std::string& doing, int error) {
  const gate_errc code =
      error == EACCES || error == EPERM || error == EROFS ? gate_errc::no_permission : gate_errc::system;
  std::string text = doing + ": " + std::strerror(error);
  if (error == EMFILE) text += " (the limit of this process, ulimit -n)";
  if (error == EFBIG) text += " (the limit of this process, ulimit -f)";
  return {code, std::move(text)};
}

std::string directory_of(const location& where) {
  if (!where.directory.empty()) return where.directory;
  const char* const chosen = std::getenv("KGATE_DIR");
  return chosen != nullptr ? chosen : users_own_directory();
}

gate_failure check_directory(const location& where, bool create) {
  const std::string directory = directory_of(where);
  if (directory.empty())
    return {gate_errc::not_found, "KGATE_DIR is set and empty; unset it, or let it name a directory"};
  if (!is_users_own(where)) return {};
  struct stat there {};
  if (create && mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return system_failure("cannot create the directory of your gates, " + directory, errno);
  if (lstat(directory.c_str(), &there) != 0) {
    if (errno == ENOENT && !create) return {};  // there are no gates
    return system_failure("cannot use " + directory, errno);
  }
  if (!S_ISDIR(there.st_mode) || there.st_uid != geteuid() || (there.st_mode & 022) != 0)
    return {
        gate_errc::no_permission,
        directory + " is not a directory that only you can write to; choose another one, for instance by KGATE_DIR"};
  return {};
}

bool valid_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 64 || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || c == '.' || c == '_' || c == '-'; });
}

std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool seen = byte >= 0x20 && byte != 0x7F;
    out +=
        seen ? std::string(1, c) : std::string("\\x") + "0123456789abcdef"[byte >> 4U] + "0123456789abcdef"[byte & 15U];
  }
  return out;
}

std::string path_of(std::string_view directory, std::string_view name) {
  return std::string(directory) + "/" + std::string(name) + std::string(suffix);
}

std::string name_in(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::string(file.substr(0, file.size() - std::min(file.size(), suffix.size())));
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

std::string lock_stem_of(std::string_view gate_path, std::uint64_t id) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i-- > 0; id >>= 4U) digits[i] = "0123456789abcdef"[id & 15U];
  return directory_part(gate_path) + "/." + name_in(gate_path) + "." + digits;
}

bool is_closed_to_owner(const struct stat& file) { return file.st_uid == geteuid() && (file.st_mode & 0600) != 0600; }

int open_regular(const std::string& path, int flags, struct stat& there, gate_failure& failure) {
  if (lstat(path.c_str(), &there) != 0) {
    failure = errno == ENOENT ? gate_failure{gate_errc::not_found, "there is no " + path}
                              : system_failure("cannot open " + path, errno);
    return -1;
  }
  if (!S_ISREG(there.st_mode)) {
    failure = {gate_errc::not_a_gate,
               path + (S_ISLNK(there.st_mode) ? " is a symbolic link, not a gate" : " is not a regular file")};
    return -1;
  }
  const file_id expected{there.st_dev, there.st_ino};
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    failure = error == ENOENT ? gate_failure{gate_errc::not_found, "there is no " + path}
                              : system_failure("cannot open " + path, error);
    if (error == EACCES && is_closed_to_owner(there))
      failure.text += "; you own it: chmod u+rw " + path;
    else if (error == EACCES && there.st_uid != geteuid())
      failure.text += "; its owner can share it with a group: see SHARING in kgate(7)";
    return -1;
  }
  if (fstat(fd, &there) != 0 || file_id{there.st_dev, there.st_ino} != expected) {
    failure = {gate_errc::not_found, path + " has just been replaced"};
    close(fd);
    return -1;
  }
  return fd;
}

gate_failure check_owner(const std::string& path, const struct stat& gate) {
  if (geteuid() != 0 || gate.st_uid == 0) return {};
  struct stat directory {};
  if (stat(directory_part(path).c_str(), &directory) == 0 && (directory.st_mode & S_IWOTH) == 0) return {};
  return {gate_errc::no_permission, path + " belongs to user " + std::to_string(gate.st_uid) +
                                        ", in a directory that everybody can write to; root does not use it"};
}

int sweep_unfinished(const std::string& directory, const std::string& only) {
  constexpr std::time_t long_for_a_creation = 60;
  DIR* const listing = opendir(directory.c_str());
  if (listing == nullptr) return 0;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    std::string name;
    std::uint64_t id = 0;
    if (!parse_lock_name(entry->d_name, name, id) || (!only.empty() && name != only)) continue;
    struct stat there {};
    if (fstatat(dirfd(listing), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(there.st_mode) ||
        there.st_size != 0 || there.st_uid != geteuid() || std::time(nullptr) - there.st_mtime < long_for_a_creation ||
        may_use_locks(directory, name, id) || is_in_use(dirfd(listing), entry->d_name))
      continue;
    found.emplace_back(entry->d_name);
  }
  int swept = 0;
  for (const std::string& file : found)
    if (unlinkat(dirfd(listing), file.c_str(), 0) == 0) ++swept;
  closedir(listing);
  return swept;
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

}  // namespace kgate::detail::gates
