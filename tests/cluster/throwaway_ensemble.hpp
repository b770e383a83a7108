// SPDX-License-Identifier: Apache-2.0
#pragma once

/// ZooKeeper servers of a test, started by src/cluster/ensemble and stopped with it.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace kgate::tests {

class throwaway_ensemble {
 public:
  static bool can_start() {
    return std::filesystem::exists("/usr/share/java/zookeeper.jar") &&
           std::system("command -v java >/dev/null 2>&1") == 0;
  }

  explicit throwaway_ensemble(int servers) {
    char pattern[] = "/tmp/kgate-ensemble-XXXXXX";
    directory_ = mkdtemp(pattern);
    int ends[2];
    if (pipe(ends) != 0) return;
    script_ = fork();
    if (script_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test that aborts leaves no servers behind
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execl(KGATE_ENSEMBLE, KGATE_ENSEMBLE, std::to_string(servers).c_str(), directory_.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    char c = 0;
    while (read(ends[0], &c, 1) == 1 && c != '\n') address_ += c;
    close(ends[0]);
  }
  throwaway_ensemble(const throwaway_ensemble&) = delete;
  throwaway_ensemble& operator=(const throwaway_ensemble&) = delete;
  ~throwaway_ensemble() {
    kill(script_, SIGTERM);
    waitpid(script_, nullptr, 0);
  }

  const std::string& address() const { return address_; }
  pid_t server(int number) const {
    pid_t process = 0;
    std::ifstream(directory_ + "/" + std::to_string(number) + "/pid") >> process;
    return process;
  }

 private:
  std::string directory_, address_;
  pid_t script_ = -1;
};

}  // namespace kgate::tests
