// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-cluster/acquire.hpp"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cluster/gate_nodes.hpp"
#include "tools/common/terminal.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"

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

}  // namespace

std::unique_ptr<cluster_gate> open_gate(const request& options, const gate_request& wanted,
                                        const std::string& command) {
  cluster_options how = options_for(options);
  how.command = command;
  const auto with = [&](int slots) { return std::make_unique<cluster_gate>(options.on, wanted.name, slots, how); };
  const int created_with = std::max(wanted.slots, 1);
  const bool may_create = !options.existing && wanted.permits() <= created_with;
  constexpr int tries_max = 100;
  for (int tries = 0;; ++tries) {
    try {
      return with(may_create ? wanted.slots : 0);
    } catch (const gate_error& error) {
      if (error.code() != gate_errc::not_found || tries == tries_max) throw;
      if (options.existing)
        throw gate_error({gate_errc::not_found, error.what() + std::string("; create it: kgate create") +
                                                    gate_arguments_on(options, wanted.name) + " -k K"});
      if (!may_create)  // before there is a gate that could not be used so
        throw gate_error({gate_errc::bad_slots, "a weight of " + std::to_string(wanted.permits()) + " is not in 1.." +
                                                    std::to_string(created_with) + ", the slots that gate '" +
                                                    wanted.name + "' would be created with"});
    }
    connection to(options);
    detail::cluster::open_gate(*to.session, to.where.root, wanted.name, 1, true);
  }
}

int acquire(const request& options, const std::string& command, std::vector<held_gate>& out) {
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
    out[i].gate = open_gate(options, wanted, command);
    const waiting_line line(options, wanted.name);
    const time_point began = clock_type::now();
    out[i].permit = out[i].gate->enter_until(signals.stop(), deadline, wanted.permits());
    out[i].waited = clock_type::now() - began;
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

}  // namespace kgate::tool::cluster
