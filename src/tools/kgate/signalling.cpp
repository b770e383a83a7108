// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/signalling.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

/// A descriptor that is closed with this object.
class descriptor {
 public:
  explicit descriptor(long fd) : fd_(static_cast<int>(fd)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string proc_of(int process, const char* what) { return "/proc/" + std::to_string(process) + "/" + what; }

bool in_this_namespace(int process) {
  struct stat ours {};
  struct stat theirs {};
  return stat("/proc/self/ns/pid", &ours) == 0 && stat(proc_of(process, "ns/pid").c_str(), &theirs) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/// Whether the real or effective user of a process is this one.
bool belongs_to(int process, unsigned user) {
  const std::string status = file_text(proc_of(process, "status"));
  const std::size_t line = status.find("\nUid:");
  if (line == std::string::npos) return false;
  char* rest = nullptr;
  const unsigned long real = std::strtoul(status.c_str() + line + 5, &rest, 10);
  const unsigned long effective = std::strtoul(rest, nullptr, 10);
  return real == user || effective == user;
}

/// The process that has a record lock on the member's byte of the .run file, as the kernel names it here: that of a
/// command. 0 if there is none, -1 if it cannot be named.
int locking_process(const std::string& run_file, unsigned member) {
  const descriptor run(open(run_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = command_byte(member);
  range.l_len = 1;
  if (run.get() < 0 || fcntl(run.get(), F_OFD_GETLK, &range) != 0) return -1;
  if (range.l_type == F_UNLCK) return 0;
  return range.l_pid > 0 ? range.l_pid : -1;
}

/// Whether the kernel lists a lock of an open file description on the member's byte.
bool lists_lock(const std::string& fdinfo, unsigned member) {
  const std::string byte = std::to_string(command_byte(member));
  const std::string wanted = " " + byte + " " + byte;
  for (std::size_t at = 0; (at = fdinfo.find("OFDLCK", at)) != std::string::npos; ++at) {
    const std::size_t end = std::min(fdinfo.find('\n', at), fdinfo.size());
    if (end >= at + wanted.size() && fdinfo.compare(end - wanted.size(), wanted.size(), wanted) == 0) return true;
  }
  return false;
}

/// Whether the process keeps the member's slot by a descriptor, as after `kgate hold`.
bool keeps_by_descriptor(int process, const std::string& run_file, unsigned member) {
  const file_id wanted = file_id::of(run_file);
  DIR* const listing = opendir(proc_of(process, "fd").c_str());
  if (listing == nullptr || !wanted) {
    if (listing != nullptr) closedir(listing);
    return false;
  }
  bool found = false;
  while (const dirent* entry = readdir(listing)) {
    struct stat there {};
    if (found || fstatat(dirfd(listing), entry->d_name, &there, 0) != 0) continue;
    found = file_id{there.st_dev, there.st_ino} == wanted &&
            lists_lock(file_text(proc_of(process, "fdinfo/") + entry->d_name), member);
  }
  closedir(listing);
  return found;
}

/// Whether the process has a member's lock of the gate: it maps the .lock file, whose name was chosen by chance.
bool maps_lock_file(int process, const std::string& lock_file) {
  const std::string name = lock_file.substr(lock_file.rfind('/'));
  const std::string maps = file_text(proc_of(process, "maps"));
  for (std::size_t at = 0; (at = maps.find(name, at)) != std::string::npos; ++at) {
    const std::string_view behind = std::string_view(maps).substr(at + name.size());
    if (behind.substr(0, 1) == "\n" || behind.substr(0, 11) == " (deleted)\n") return true;
  }
  return false;
}

bool takes_part(core& gate, const participant& who, int process) {
  const std::string stem = lock_stem_of(gate.file().path(), gate.cells().map().header.id);
  if (command_of(who) == 0) return maps_lock_file(process, stem + ".lock");
  return locking_process(stem + ".run", who.member) == process ||
         keeps_by_descriptor(process, stem + ".run", who.member);
}

}  // namespace

std::string send_signal(core& gate, const participant& who, int number) {
  const int process = command_of(who) != 0 ? command_of(who) : who.process;
  if (geteuid() != 0 && geteuid() != who.user) return "only its user, " + user_name(who.user) + ", and root may";
  if (process <= 1) return "it cannot be named here";
  // Opened before anything is asked: should the number be used again meanwhile, the answers are of another process, and
  // the signal reaches no process.
  const descriptor opened(syscall(SYS_pidfd_open, process, 0));
  if (opened.get() < 0)
    return errno == ESRCH ? "there is no process " + std::to_string(process) + " here" : std::strerror(errno);
  const std::string it = "process " + std::to_string(process);
  if (!in_this_namespace(process)) return it + " is in another PID namespace, or not yours";
  if (!belongs_to(process, who.user)) return it + " is not of user " + user_name(who.user);
  if (!takes_part(gate, who, process))
    return it + " does not take part in the gate: the number is of another PID namespace, or wrong";
  if (syscall(SYS_pidfd_send_signal, opened.get(), number, nullptr, 0) != 0) return std::strerror(errno);
  return {};
}

}  // namespace kgate::tool
