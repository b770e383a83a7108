// SPDX-License-Identifier: Apache-2.0
// kgate jobserver --on: a jobserver for make and its like whose tokens are slots between machines.
//
// As for gates of one machine one token is offered as long as it is not taken: when it is, the next slot is queued for;
// when tokens come back, all but one are given back. If the slots are lost, the command is ended.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "tools/kgate-cluster/acquire.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate-cluster/start_mortal.hpp"
#include "tools/kgate/jobserver_tokens.hpp"
#include "tools/kgate/make_flags.hpp"

namespace kgate::tool::cluster {

namespace {

using namespace std::chrono_literals;

constexpr auto offer_max = 1s;     ///< how long a token is offered in vain before the ensemble is asked if one waits
constexpr auto withdrawn = 500ms;  ///< how long before the next offer, if one does

/// The slots behind the tokens, and the thread that queues for the next one.
class cluster_tokens {
 public:
  cluster_tokens(cluster_gate& gate, const token_pipe& pipe) : gate_(gate), pipe_(pipe) {
    thread_ = std::jthread([this](const std::stop_token& stop) { acquire_wanted(stop); });
  }
  cluster_tokens(const cluster_tokens&) = delete;
  cluster_tokens& operator=(const cluster_tokens&) = delete;
  ~cluster_tokens() {
    want(false);
    thread_.request_stop();
  }

  /// Whether one more token is wanted. A request that has not been granted is withdrawn.
  void want(bool wanted) {
    const std::scoped_lock lock(mutex_);
    if (wanted == wanted_) return;
    wanted_ = wanted;
    if (wanted)
      withdrawal_ = std::stop_source();
    else
      withdrawal_.request_stop();
    changed_.notify_all();
  }
  /// One slot goes back to the gate. False if there is none.
  bool give_back() {
    std::optional<cluster_gate::permit> one;
    const std::scoped_lock lock(mutex_);
    if (held_.empty()) return false;
    one.emplace(std::move(held_.back()));
    held_.pop_back();
    return true;
  }
  bool any() {
    const std::scoped_lock lock(mutex_);
    return !held_.empty();
  }

 private:
  void acquire_wanted(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return wanted_; })) {
      const std::stop_token withdrawal = withdrawal_.get_token();
      lock.unlock();
      std::optional<cluster_gate::permit> got;
      try {
        got = gate_.enter(withdrawal);
      } catch (const gate_error&) {
        std::this_thread::sleep_for(offer_max);  // cancelled, or the session is lost: that ends the command
      }
      lock.lock();
      if (!got) continue;
      held_.push_back(std::move(*got));
      wanted_ = false;
      if (!pipe_.put()) held_.pop_back();
    }
  }

  cluster_gate& gate_;
  const token_pipe& pipe_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;
  std::stop_source withdrawal_;
  std::vector<cluster_gate::permit> held_;
  std::jthread thread_;
};

/// Serves tokens until the command has ended, and all that had tokens.
class token_server {
 public:
  token_server(cluster_gate& gate, const token_pipe& pipe, cluster_tokens& tokens)
      : gate_(gate), pipe_(pipe), tokens_(tokens) {}

  /// Between two checks of the command.
  void settle() {
    const time_point now = clock_type::now();
    int tokens = pipe_.tokens();
    for (; tokens > 1 && pipe_.take(); --tokens) tokens_.give_back();
    if (tokens == 0) {
      offered_since_ = now;
      tokens_.want(now >= withdrawn_until_);
      return;
    }
    tokens_.want(false);
    if (now - offered_since_ < offer_max) return;
    offered_since_ = now;
    if (!somebody_waits() || !pipe_.take()) return;
    tokens_.give_back();
    withdrawn_until_ = now + withdrawn;
  }

  /// The command has ended: tokens in the pipe go back at once, the others when they come back, or when no process is
  /// left that could have them.
  void collect(const std::stop_token& lost) {
    tokens_.want(false);
    while (!lost.stop_requested()) {
      while (pipe_.tokens() > 0 && pipe_.take()) tokens_.give_back();
      if (!tokens_.any()) return;
      const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
      if (reaped < 0 && errno == ECHILD) return;
      if (reaped <= 0) std::this_thread::sleep_for(20ms);
    }
  }

 private:
  bool somebody_waits() {
    try {
      return !gate_.status().waiters.empty();
    } catch (const gate_error&) {
      return false;
    }
  }

  cluster_gate& gate_;
  const token_pipe& pipe_;
  cluster_tokens& tokens_;
  time_point offered_since_ = clock_type::now(), withdrawn_until_{};
};

}  // namespace

int jobserver(const request& options) {
  const inherited_descriptors inherited;
  std::vector<held_gate> held;
  if (const int code = acquire(options, shown_command(options), held)) return code;
  cluster_gate& gate = *held.front().gate;
  cluster_gate::permit& own = *held.front().permit;
  inherited.close_others_on_exec();
  token_pipe pipe;
  if (!pipe.open(options.style == "fifo")) {
    complain("cannot make the jobserver's " + options.style + ": " + std::strerror(errno));
    return exit_error;
  }
  const signal_watch signals;
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the command leaves behind may have tokens: the end of it shall be seen
  const char* const flags = std::getenv("MAKEFLAGS");
  std::vector<std::string> texts;
  prepared_command command(
      without_jobs(options.words, texts), described(options, held),
      {"MAKEFLAGS=" + with_jobserver(flags != nullptr ? flags : "", own.gate_slots(), pipe.auth())});
  const started how = start_mortal(command, signals);
  if (how.process < 0) return failed_start(how, command, options);
  std::optional<cluster_tokens> tokens(std::in_place, gate, pipe);
  token_server serving(gate, pipe, *tokens);
  attendance present(options, how.process, [&] {
    serving.settle();
    return slots_seen{own.lost().stop_requested(), own.connected()};
  });
  present.check_every(10ms);
  const int ended = present.attend(signals);
  if (how.error == 0) serving.collect(own.lost());
  const bool lost = !own.release() || present.lost();
  tokens.reset();
  held.clear();  // ends the session, and with it all that is left of it
  if (how.error != 0) return failed_start(how, command, options);
  return present.exit_code(lost, command.name(), ended);
}

}  // namespace kgate::tool::cluster
