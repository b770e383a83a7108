// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A command that runs in slots which can be lost: how it is attended to until it has ended.

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate/launch.hpp"

namespace kgate::tool::cluster {

using clock_type = std::chrono::steady_clock;
using time_point = clock_type::time_point;

inline time_point after(double seconds) {
  if (seconds < 0 || seconds > 1e9) return time_point::max();
  return clock_type::now() + std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

/// What is known of the slots of a command.
struct slots_seen {
  bool lost = false;
  bool connected = true;
  const char* why = "the ensemble has not been reached for the session's time-out";  ///< it is lost
};

/// Asks a command to end, and then makes it.
class ending {
 public:
  ending(pid_t command, double grace_s) : command_(command), grace_s_(grace_s) {}

  void begin(bool at_once) {
    if (begun_) return;
    begun_ = true;
    send(at_once ? SIGKILL : SIGTERM);
    next_ = at_once ? time_point::max() : after(grace_s_);
  }
  /// Once the time is over.
  void act() {
    if (clock_type::now() < next_) return;
    send(SIGKILL);
    next_ = time_point::max();
  }

 private:
  void send(int signal_number) const {
    kill(command_, signal_number);
    kill(command_, SIGCONT);
  }
  pid_t command_;
  double grace_s_;
  bool begun_ = false;
  time_point next_ = time_point::max();
};

/// Waits for the command, passing signals on, and watches over its slots.
class attendance {
 public:
  attendance(const request& options, pid_t command, std::function<slots_seen()> slots)
      : options_(options), slots_(std::move(slots)), command_(command), end_(command, options.grace_s) {}

  /// Its wait status.
  int attend(const signal_watch& signals) {
    const time_point witness_at = clock_type::now() + std::chrono::milliseconds(10);
    const time_point limit = after(options_.time_limit_s);
    bool witnessed = false;
    for (;;) {
      siginfo_t came{};
      const timespec tick{0, check_every_.count()};
      int ended = 0;
      if (sigtimedwait(&signals.watched(), &came, &tick) > 0 && handle_signal(came, command_, witness_, ended))
        return ended;
      watch_slots();
      if (clock_type::now() >= limit && !exceeded_) {
        exceeded_ = true;
        end_.begin(false);
      }
      end_.act();
      if (!witnessed && clock_type::now() >= witness_at) {
        witness_.start(options_.line);
        witnessed = true;
      }
    }
  }
  bool lost() const { return lost_; }
  /// How often it checks the slots; a tenth of a second if this is not called.
  void check_every(std::chrono::milliseconds time) { check_every_ = time; }

  /// How the tool ends once the slots are given back. `lost`: they were, at the latest when they were given back.
  int exit_code(bool lost, const char* name, int wait_status) const {
    if (lost && options_.on_loss != "ignore") {
      if (!lost_) complain("the slot was lost before the command ended");
      return exit_session_lost;
    }
    if (exceeded_) {
      if (!options_.quiet) complain(std::string("'") + name + "' ran longer than --time-limit and was ended");
      return exit_time_limit;
    }
    return pass_on(wait_status);
  }

 private:
  void watch_slots() {
    const slots_seen now = slots_();
    if (now.lost && !lost_) lose(now.why);
    const bool connected = now.connected;
    if (connected != connected_ && !lost_ && !options_.quiet)
      complain(connected ? "connected to the ensemble again; the slot is still held"
                         : "the connection to the ensemble is uncertain; the slot is lost unless it comes back within "
                           "the session's time-out");
    connected_ = connected;
  }
  void lose(const char* why) {
    lost_ = true;
    const bool ignored = options_.on_loss == "ignore";
    complain(std::string("the slot is lost: ") + why +
             (ignored ? "; the command goes on without it" : "; the command is ended"));
    if (!ignored) end_.begin(options_.on_loss == "kill");
  }

  const request& options_;
  std::function<slots_seen()> slots_;
  pid_t command_;
  ending end_;
  group_witness witness_;  // ends with this object: slots are given back before
  std::chrono::nanoseconds check_every_{100'000'000};
  bool connected_ = true, lost_ = false, exceeded_ = false;
};

}  // namespace kgate::tool::cluster
