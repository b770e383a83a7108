// SPDX-License-Identifier: Apache-2.0
// kgate hold --on: a slot between machines that a descriptor of a script keeps.
//
// A slot belongs to a session, and a session to a process. So a process of its own, the keeper, has the session, and
// waits until the descriptor is closed everywhere, or given back (kept_file.hpp). If the slot is lost, the keeper ends
// what has the descriptor open, as --on-loss says. If the keeper is killed, the slot goes with its session.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cluster/lease_file.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate-cluster/acquire.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate/kept_file.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool::cluster {

namespace {

using namespace detail::cluster;

std::string path_for(const request& options) {
  address where;
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  if (const gate_failure failure = check_name(options.name())) throw gate_error(failure);
  const lease_location location = location_of(where, options.name(), "", true);
  return location.directory + "/." + location.gate + std::string(kept_file_suffix);
}

/// An opening of that file, which is created if there is none.
int open_own(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat there {};
  if (fd >= 0 && fstat(fd, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid()) return fd;
  throw gate_error({gate_errc::system,
                    "cannot use " + path + ": " + (fd < 0 ? std::strerror(errno) : "it is not a file of this user")});
}

bool same_file(int fd, int other) {
  struct stat a {
  }, b{};
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether the descriptor is an opening of the file that keeps nothing yet; says so if not.
bool usable(const request& options, int own, bool is_open) {
  const std::string number = std::to_string(options.fd);
  const std::string hint =
      "exec " + number + "<\"$(kgate hold --on " + options.on + " -n " + options.name() + " --path)\"";
  if (!is_open)
    complain("descriptor " + number + " is not open; open it first: " + hint);
  else if (!same_file(options.fd, own))
    complain("descriptor " + number + " is open on something else; open it on the gate's file: " + hint);
  else if ((fcntl(options.fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
    complain("descriptor " + number + " is open for writing only; open it for reading: " + hint);
  else if (locked_byte(options.fd) >= 0)
    complain("descriptor " + number + " keeps a slot already; give it back first: kgate release --fd " + number);
  else
    return true;
  return false;
}

/// A byte that no other script or keeper uses; its keeper's lock is taken. -1 if there is none.
off_t claim_byte(int own) {
  for (off_t n = 0; n < keepers_max; ++n) {
    if (!lock_byte(own, F_WRLCK, keepers_max + n)) continue;
    if (!is_locked(own, n)) return n;
    lock_byte(own, F_UNLCK, keepers_max + n);  // its keeper was killed, and the script lives
  }
  return -1;
}

/// The processes that have the descriptor: an opening of the file through which the byte is locked.
std::vector<pid_t> processes_with(int own, off_t byte) {
  std::vector<pid_t> out;
  struct stat file {};
  fstat(own, &file);
  DIR* const all = opendir("/proc");
  while (const dirent* entry = all != nullptr ? readdir(all) : nullptr) {
    const pid_t process = std::atoi(entry->d_name);
    if (process <= 0 || process == getpid()) continue;
    const std::string folder = "/proc/" + std::to_string(process);
    DIR* const descriptors = opendir((folder + "/fd").c_str());
    bool has = false;
    while (const dirent* fd = descriptors != nullptr && !has ? readdir(descriptors) : nullptr) {
      struct stat there {};
      has = fd->d_name[0] != '.' && fstatat(dirfd(descriptors), fd->d_name, &there, 0) == 0 &&
            there.st_dev == file.st_dev && there.st_ino == file.st_ino &&
            locked_byte_of(file_text(folder + "/fdinfo/" + fd->d_name)) == byte;
    }
    if (descriptors != nullptr) closedir(descriptors);
    if (has) out.push_back(process);
  }
  if (all != nullptr) closedir(all);
  return out;
}

/// Attends to a slot until the descriptor is closed, or the slot is lost.
class keeper {
 public:
  keeper(const request& options, int own, off_t byte, cluster_gate::permit& permit)
      : options_(options), own_(own), byte_(byte), permit_(permit), closed_(eventfd(0, EFD_CLOEXEC)) {
    std::thread([this] {
      lock_byte(own_, F_WRLCK, byte_, true);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(closed_, &one, sizeof one);
    }).detach();
  }

  void keep() {
    while (!await_close(0.25)) {
      warn_if_uncertain();
      if (permit_.lost().stop_requested()) return lose();
    }
    note(permit_.release() ? kept_state::released : kept_state::lost);
  }

 private:
  /// True if the descriptor was closed everywhere, or given back.
  bool await_close(double seconds) const {
    pollfd what[2] = {{closed_, POLLIN, 0}, {permit_.lost_descriptor(), POLLIN, 0}};
    const bool lost = permit_.lost().stop_requested();
    poll(what, lost ? 1 : 2, static_cast<int>(seconds * 1000));
    return what[0].revents != 0;
  }
  void note(kept_state state) const { [[maybe_unused]] const auto written = pwrite(own_, &state, 1, byte_); }
  void warn_if_uncertain() {
    const bool connected = permit_.connected();
    if (connected != connected_ && !options_.quiet && !permit_.lost().stop_requested())
      complain(connected ? "connected to the ensemble again; the slot is still held"
                         : "the connection to the ensemble is uncertain; the slot is lost unless it comes back within "
                           "the session's time-out");
    connected_ = connected;
  }
  void lose() const {
    note(kept_state::lost);
    const bool ignored = options_.on_loss == "ignore";
    complain("the slot is lost: the ensemble has not been reached for the session's time-out; what has descriptor " +
             std::to_string(options_.fd) + " open " + (ignored ? "goes on without it" : "is ended"));
    if (ignored) return;
    if (options_.on_loss == "term") {
      end_all(SIGTERM);
      const time_point limit = after(options_.grace_s);
      while (clock_type::now() < limit)
        if (await_close(0.25)) return;
    }
    end_all(SIGKILL);
  }
  void end_all(int signal_number) const {
    for (const pid_t one : processes_with(own_, byte_)) {
      kill(one, signal_number);
      kill(one, SIGCONT);
    }
  }

  const request& options_;
  int own_;
  off_t byte_;
  cluster_gate::permit& permit_;
  int closed_;
  bool connected_ = true;
};

/// What the keeper tells the process that has started it: an exit code and the slots.
void report(int pipe, int code, const std::string& slots) {
  const std::string line = std::to_string(code) + " " + slots + "\n";
  [[maybe_unused]] const auto written = ::write(pipe, line.data(), line.size());
  close(pipe);
}

/// Leaves the script behind: its terminal, and all descriptors but where failures are reported.
void detach(int own, int pipe) {
  setsid();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  std::vector<int> others;
  if (DIR* const all = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(all))
      if (const int fd = std::atoi(entry->d_name); fd > STDERR_FILENO && fd != own && fd != pipe && fd != dirfd(all))
        others.push_back(fd);
    closedir(all);
  }
  for (const int fd : others) close(fd);
}

[[noreturn]] void be_keeper(const request& options, pid_t parent, int own, off_t byte, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // the slot is not waited for any more
  if (getppid() != parent) _exit(exit_error);
  detach(own, pipe);
  try {
    std::vector<held_gate> held;
    if (const int code = acquire(options, "kgate hold", held)) {
      report(pipe, code, "");
      _exit(code);
    }
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);  // only the descriptor ends it
    prctl(PR_SET_PDEATHSIG, 0);
    held_slot shown;
    shown.slots = held.front().permit->slots();
    keeper watched(options, own, byte, *held.front().permit);
    if (getppid() == parent) report(pipe, exit_ok, shown.slot_list());
    watched.keep();
    held.clear();  // ends the session, too
    _exit(exit_ok);
  } catch (const gate_error& error) {
    complain(displayable(error.what()));
    report(pipe, code_of(error, true), "");
  } catch (const std::exception& error) {
    complain(error.what());
    report(pipe, exit_error, "");
  }
  _exit(exit_error);
}

/// What the keeper reports, once it does.
std::string read_report(int pipe) {
  std::string out;
  char part[256];
  for (;;) {
    const ssize_t n = read(pipe, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(part, static_cast<std::size_t>(n));
  }
}

}  // namespace

int hold(const request& options) {
  const bool is_open = fcntl(options.fd, F_GETFD) >= 0;  // before anything is opened here
  const std::string path = path_for(options);
  const int own = open_own(path);
  if (options.path) {
    open_gate(options, options.gates.front(), "kgate hold");
    print(path + "\n");
    return exit_ok;
  }
  if (!usable(options, own, is_open)) return exit_error;
  const off_t byte = claim_byte(own);
  const kept_state held = kept_state::held;
  int ends[2];
  if (byte < 0 || !lock_byte(options.fd, F_RDLCK, byte) || pwrite(own, &held, 1, byte) != 1 ||
      pipe2(ends, O_CLOEXEC) != 0) {
    complain("cannot lock descriptor " + std::to_string(options.fd) + ": " + std::strerror(errno));
    return exit_error;
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) be_keeper(options, parent, own, byte, ends[1]);
  close(ends[1]);
  close(own);
  const std::string reported = child > 0 ? read_report(ends[0]) : "";
  const std::size_t space = reported.find(' ');
  const int code = space == std::string::npos ? int{exit_error} : std::atoi(reported.c_str());
  if (code == exit_ok) {
    print(reported.substr(space + 1));
    if (flush_output()) return exit_ok;
  }
  if (space == std::string::npos) complain("the process that was to keep the slot has ended");
  lock_byte(options.fd, F_UNLCK, byte);  // the script does not know what it would hold
  return code == exit_ok ? int{exit_error} : code;
}

}  // namespace kgate::tool::cluster
