// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A process that is run one instruction at a time and can be killed between any two of them.

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

namespace kgate::faults {

/// Called by the traced process where stepping begins and where it ends.
inline void mark() { raise(SIGSTOP); }

class traced_process {
 public:
  /// Starts a process that does `body`, which calls mark() twice.
  explicit traced_process(const std::function<void()>& body) {
    pid_ = fork();
    if (pid_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      body();
      _exit(0);
    }
    sched_getaffinity(0, sizeof before_, &before_);
  }
  traced_process(const traced_process&) = delete;
  traced_process& operator=(const traced_process&) = delete;
  ~traced_process() { kill_now(); }

  /// Runs to the next mark. False if the process ended instead.
  bool run_to_mark() {
    if (started_) ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    const bool first = !started_;
    started_ = true;
    const bool stopped = stopped_at_mark();
    if (first && stopped) ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);  // it does not outlive the test
    return stopped;
  }

  /// Lets it run without stopping; the caller sees to it that it blocks or comes to a mark.
  void let_run() { ptrace(PTRACE_CONT, pid_, nullptr, nullptr); }
  /// Stops it wherever it is.
  bool interrupt() {
    kill(pid_, SIGSTOP);
    return stopped_at_mark();
  }

  /// Puts tracer and traced on one core while stepping: a step is two switches, and within a core they cost little.
  void share_core() {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
    sched_setaffinity(0, sizeof here, &here);
    sched_setaffinity(pid_, sizeof here, &here);
  }

  enum class step_result { stepped, at_mark, ended };

  /// One instruction. A system call is one instruction, too.
  step_result step() {
    if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) return step_result::ended;
    int how = 0;
    if (waitpid(pid_, &how, 0) != pid_ || !WIFSTOPPED(how)) {
      sched_setaffinity(0, sizeof before_, &before_);
      gone_ = true;
      return step_result::ended;
    }
    return WSTOPSIG(how) == SIGSTOP ? step_result::at_mark : step_result::stepped;
  }

  /// Runs until it comes to the instruction at `address` for the `visit`th time, from where it is. False if it does not
  /// within a moment: it comes to a mark, ends, or sleeps. By a debug register, which only its first thread has.
  bool run_to(std::size_t address, int visit) {
    constexpr std::size_t enable_first = 1;  // of four, for executing one byte
    if (ptrace(PTRACE_POKEUSER, pid_, offsetof(user, u_debugreg[0]), address) != 0) return false;
    if (ptrace(PTRACE_POKEUSER, pid_, offsetof(user, u_debugreg[7]), enable_first) != 0) return false;
    for (; visit > 0; --visit) {
      int how = 0;
      if (ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0 || !stops_soon(how)) return false;
      if (!WIFSTOPPED(how) || WSTOPSIG(how) != SIGTRAP || instruction() != address) return false;
    }
    return true;
  }

  std::size_t instruction() const {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    return registers.rip;
  }

  void kill_now() {
    if (gone_) return;
    gone_ = true;
    sched_setaffinity(0, sizeof before_, &before_);
    kill(pid_, SIGKILL);
    int how = 0;
    while (waitpid(pid_, &how, 0) == pid_ && !WIFSIGNALED(how) && !WIFEXITED(how)) {
    }
  }

 private:
  bool stopped_at_mark() {
    int how = 0;
    if (waitpid(pid_, &how, 0) == pid_ && WIFSTOPPED(how)) return true;
    gone_ = true;
    return false;
  }

  bool stops_soon(int& how) {
    constexpr int tries_max = 2000, pause_us = 50;
    for (int tries = 0; tries < tries_max; ++tries) {
      const pid_t seen = waitpid(pid_, &how, WNOHANG);
      if (seen == pid_) {
        gone_ = !WIFSTOPPED(how);
        return true;
      }
      if (seen < 0) return false;
      usleep(pause_us);
    }
    return false;
  }

  pid_t pid_ = -1;
  cpu_set_t before_{};
  bool started_ = false;
  bool gone_ = false;
};

}  // namespace kgate::faults
