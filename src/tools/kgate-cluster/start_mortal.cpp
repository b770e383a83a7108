// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-cluster/start_mortal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace kgate::tool::cluster {

std::vector<held_slot> described(const request& options, std::vector<held_gate>& held) {
  std::vector<held_slot> out(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    out[i].wanted = options.gates[i];
    out[i].slots = held[i].permit->slots();
    out[i].gate_slots = held[i].permit->gate_slots();
    out[i].token = held[i].permit->token();
  }
  return out;
}

void inherited_descriptors::close_others_on_exec() const {
  for (const int fd : all())
    if (!known_.contains(fd)) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::set<int> inherited_descriptors::all() {
  std::set<int> out;
  if (DIR* const folder = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(folder))
      if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != dirfd(folder)) out.insert(std::atoi(entry->d_name));
    closedir(folder);
  }
  return out;
}

[[gnu::noinline]] started start_mortal(prepared_command& command, const signal_watch& signals) {
  volatile int error = 0;
  const pid_t parent = getpid();
  const pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(exit_lost);
    signals.restore();
    execvpe(command.arguments()[0], command.arguments(), command.environment());
    error = errno;
    _exit(error == ENOENT ? exit_not_found : exit_cannot_run);
  }
  return {child, child < 0 ? errno : error, false};
}

}  // namespace kgate::tool::cluster
