// SPDX-License-Identifier: Apache-2.0
// kgate run --on: wait for a slot between machines, run the command in it, give the slot back; end the command if the
// slot is lost.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "tools/common/terminal.hpp"
#include "tools/kgate-cluster/attendance.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate/launch.hpp"

namespace kgate::tool::cluster {

namespace {

/// Ends a wait when a signal comes that would have ended this process.
class signals_while_waiting {
 public:
  signals_while_waiting() {
    sigemptyset(&endings_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction now {};
      sigaction(one, nullptr, &now);
      if (now.sa_handler == SIG_DFL) sigaddset(&endings_, one);
    }
    sigaddset(&endings_, SIGUSR2);  // from this process itself: the wait is over
    pthread_sigmask(SIG_BLOCK, &endings_, &before_);
    thread_ = std::thread([this] {
      for (;;) {
        siginfo_t came{};
        const int number = sigwaitinfo(&endings_, &came);
        if (number == SIGUSR2 && over_) return;
        if (number <= 0 || number == SIGUSR2) continue;
        seen_ = number;
        stop_.request_stop();
      }
    });
  }
  signals_while_waiting(const signals_while_waiting&) = delete;
  signals_while_waiting& operator=(const signals_while_waiting&) = delete;
  ~signals_while_waiting() { end(); }

  std::stop_token stop() const { return stop_.get_token(); }
  /// The signal that came, or 0. Signals are as they were before from then on.
  int end() {
    if (thread_.joinable()) {
      over_ = true;
      pthread_kill(thread_.native_handle(), SIGUSR2);
      thread_.join();
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    return seen_;
  }

 private:
  sigset_t endings_{}, before_{};
  std::stop_source stop_;
  std::atomic<int> seen_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Says on a terminal, a few times a second, what is waited for.
class waiting_line {
 public:
  waiting_line(const request& options, const std::string& name) {
    if (options.quiet || !line_.wanted()) return;
    thread_ = std::jthread([this, text = "kgate: waiting at gate '" + name + "' on " +
                                         options.on](const std::stop_token& stop) { show(stop, text); });
  }

 private:
  void show(const std::stop_token& stop, const std::string& text) {
    const time_point began = clock_type::now();
    std::unique_lock lock(mutex_);
    auto pause = std::chrono::milliseconds(300);
    while (!changed_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
      pause = std::chrono::milliseconds(250);
      line_.show(text + ", " + span_text(std::chrono::duration<double>(clock_type::now() - began).count()));
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  status_line line_;
  std::jthread thread_;
};

/// A slot of one gate, or several of it.
struct held_gate {
  std::unique_ptr<cluster_gate> gate;
  std::optional<cluster_gate::permit> permit;
};

std::unique_ptr<cluster_gate> open(const request& options, const gate_request& wanted) {
  cluster_options how = options_for(options);
  how.command = shown_command(options);
  const auto with = [&](int slots) { return std::make_unique<cluster_gate>(options.on, wanted.name, slots, how); };
  try {
    return with(options.existing ? 0 : wanted.slots);
  } catch (const gate_error& error) {
    if (error.code() != gate_errc::not_found || options.existing || wanted.slots != 0) throw;
  }
  return with(1);
}

/// Takes the slots of all gates in the order of their names, so that no two runs wait for each other: 0, or an exit
/// code.
int acquire(const request& options, std::vector<held_gate>& out) {
  out.resize(options.gates.size());
  std::vector<std::size_t> order(options.gates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return options.gates[a].name < options.gates[b].name; });
  const time_point deadline = options.try_once ? clock_type::now() : after(options.timeout_s);
  signals_while_waiting signals;
  int code = 0;
  for (const std::size_t i : order) {
    const gate_request& wanted = options.gates[i];
    out[i].gate = open(options, wanted);
    const waiting_line line(options, wanted.name);
    out[i].permit = out[i].gate->enter_until(signals.stop(), deadline, wanted.permits());
    if (out[i].permit) continue;
    code = refusal_code(options);
    if (!signals.stop().stop_requested() && !options.quiet)
      complain("no slot of gate '" + wanted.name + "' on " + options.on +
               (options.try_once ? " is free" : " became free in time"));
    break;
  }
  const int signal_number = signals.end();
  if (code == 0 && signal_number == 0) return 0;
  out.clear();
  if (signal_number != 0) die_of(signal_number);
  return code;
}

/// What the command is to find in its environment and arguments.
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

/// Descriptors that are open now and were not when the program began are closed in the command.
class inherited_descriptors {
 public:
  inherited_descriptors() : known_(all()) {}
  void close_others_on_exec() const {
    for (const int fd : all())
      if (!known_.contains(fd)) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

 private:
  static std::set<int> all() {
    std::set<int> out;
    if (DIR* const folder = opendir("/proc/self/fd")) {
      while (const dirent* entry = readdir(folder))
        if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != dirfd(folder)) out.insert(std::atoi(entry->d_name));
      closedir(folder);
    }
    return out;
  }
  std::set<int> known_;
};

/// Starts the command, which is killed if this process dies: nobody would be left to learn that its slot is lost.
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

}  // namespace

int run(const request& options) {
  if (options.lease) return run_leased(options);
  const inherited_descriptors inherited;
  std::vector<held_gate> held;
  if (const int code = acquire(options, held)) return code;
  prepared_command command(options.words, described(options, held));
  inherited.close_others_on_exec();
  const signal_watch signals;
  const started how = start_mortal(command, signals);
  if (how.process < 0) return failed_start(how, command);
  const auto slots = [&held] {
    slots_seen out;
    for (const held_gate& one : held) {
      out.lost = out.lost || one.permit->lost().stop_requested();
      out.connected = out.connected && one.permit->connected();
    }
    return out;
  };
  attendance present(options, how.process, slots);
  const int ended = present.attend(signals);
  bool lost = present.lost();
  for (held_gate& one : held) lost = !one.permit->release() || lost;
  held.clear();
  if (how.error != 0) return failed_start(how, command);
  return present.exit_code(lost, command.name(), ended);
}

}  // namespace kgate::tool::cluster
