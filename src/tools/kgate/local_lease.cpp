// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/local_lease.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "gate/core.hpp"
#include "tools/kgate/history.hpp"
#include "tools/kgate/kept_file.hpp"
#include "tools/kgate/tool.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr std::string_view lease_suffix = ".lease";
constexpr std::string_view lease_mark = "klease";

std::string hidden(const std::string& directory, const std::string& name, std::string_view suffix) {
  return directory + "/." + name + std::string(suffix);
}

/// A file of this user; -1 if that is none.
int open_own(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  struct stat there {};
  if (fd < 0 || (fstat(fd, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid())) return fd;
  close(fd);
  return -1;
}

struct flock bytes_of(short type, off_t length) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_len = length;
  return range;
}

/// An opening of the file that has its first bytes, or all with 0, for itself; -1 if others have some.
int open_alone(const std::string& path, off_t length) {
  const int fd = open_own(path, O_RDWR);
  struct flock range = bytes_of(F_WRLCK, length);
  if (fd < 0 || (fcntl(fd, F_OFD_SETLK, &range) == 0 && file_id::of(fd) == file_id::of(path))) return fd;
  close(fd);
  return -1;
}

/// Whether a lessor made it: it is empty if that one was killed at once.
bool is_lease(int fd) {
  char begin[lease_mark.size()] = {};
  const ssize_t got = pread(fd, begin, sizeof begin, 0);
  return got == 0 || (got == sizeof begin && std::memcmp(begin, lease_mark.data(), sizeof begin) == 0);
}

/// Whether no process has the file open, and none has used it for a day: a script may know no more than its name.
bool is_forgotten(int fd) {
  constexpr std::time_t day = 86400;
  struct stat there {};
  if (fstat(fd, &there) != 0 || std::time(nullptr) - there.st_mtime < day) return false;
  signal(SIGIO, SIG_IGN);  // that another opens it after all
  return fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

/// The names N of the files `.N` + suffix; a lease's ends with a number.
std::vector<std::string> names_with(const std::string& directory, std::string_view suffix) {
  std::vector<std::string> out;
  DIR* const listing = opendir(directory.c_str());
  if (listing == nullptr) return out;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.size() < suffix.size() + 11 || file.front() != '.' || !file.ends_with(suffix)) continue;
    const std::string_view name = file.substr(1, file.size() - suffix.size() - 1);
    const std::string_view number = name.substr(name.size() - 8);
    if (valid_name(name) && name[name.size() - 9] == '.' &&
        number.find_first_not_of("0123456789abcdef") == std::string_view::npos)
      out.emplace_back(name);
  }
  closedir(listing);
  return out;
}

/// Removes the gate of a lease that is over. False if it has to stay.
bool remove_unused(const std::string& directory, const std::string& name, int& removed) {
  location where;
  where.directory = directory;
  core gate;
  const gate_failure failure = gate.open(name, 0, where);
  if (failure) return failure.code == gate_errc::not_found;
  if (gate.remove(false)) return false;
  remove_history(directory, name);
  ++removed;
  return true;
}

}  // namespace

lease_state lease_through(const std::string& directory, const std::string& name) {
  const int fd = open_own(hidden(directory, name, lease_suffix), O_RDONLY);
  if (fd < 0) return lease_state::none;
  struct flock range = bytes_of(F_RDLCK, 1);
  lease_state out = lease_state::none;
  if (is_lease(fd) && fcntl(fd, F_OFD_GETLK, &range) == 0)
    out = range.l_type == F_UNLCK ? lease_state::over : lease_state::lives;
  close(fd);
  return out;
}

bool is_lent_through(const std::string& directory, const std::string& name) {
  if (lease_through(directory, name) != lease_state::lives) return false;
  complain("a `kgate lease` of this host lends slots through gate '" + name +
           "', which is its own; change or remove the gate between machines (--on), or end the lease with SIGTERM");
  return true;
}

int sweep_leases(const std::string& directory) {
  int swept = 0;
  for (const std::string& name : names_with(directory, lease_suffix)) {
    const std::string path = hidden(directory, name, lease_suffix);
    const int fd = open_alone(path, 1);  // no lessor begins meanwhile
    if (fd < 0) continue;
    if (is_lease(fd) && remove_unused(directory, name, swept) && unlink(path.c_str()) == 0) ++swept;
    close(fd);
  }
  for (const std::string& name : names_with(directory, kept_file_suffix)) {
    const std::string path = hidden(directory, name, kept_file_suffix);
    const int fd = open_alone(path, 0);
    if (fd < 0) continue;
    if (is_forgotten(fd) && unlink(path.c_str()) == 0) ++swept;
    close(fd);
  }
  return swept;
}

}  // namespace kgate::tool
