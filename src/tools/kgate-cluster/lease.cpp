// SPDX-License-Identifier: Apache-2.0
// kgate lease --on, and kgate run --on --lease.
#include "kgate/lease.hpp"

#include <signal.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "cluster/lease_file.hpp"
#include "cluster/lease_job.hpp"
#include "cluster/session.hpp"
#include "tools/kgate-cluster/attendance.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"

namespace kgate::tool::cluster {

namespace {

using namespace detail::cluster;

/// The first signal asks the lease to end, the second ends it.
class ending_signals {
 public:
  ending_signals() {
    sigemptyset(&endings_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&endings_, one);
    pthread_sigmask(SIG_BLOCK, &endings_, nullptr);
  }
  void attend(host_lease& lease, std::stop_source stop) {
    lease_ = &lease;
    std::thread([this, stop = std::move(stop)]() mutable {
      int number = 0;
      sigwait(&endings_, &number);
      stop.request_stop();
      sigwait(&endings_, &number);
      const std::scoped_lock lock(mutex_);
      if (lease_ != nullptr) lease_->abandon();
      _exit(exit_failed);
    }).detach();
  }
  /// It ends: no signal is about that lease any more, but one that ends this process.
  void forget() {
    const std::scoped_lock lock(mutex_);
    lease_ = nullptr;
  }

 private:
  sigset_t endings_{};
  std::mutex mutex_;
  host_lease* lease_ = nullptr;
};

/// A job's slot: the local one, and what is lent there.
struct leased_slot {
  std::unique_ptr<lease_file> file;
  lent_slot mine;
};

std::string lease_text(const std::string& name) { return "the lease of gate '" + name + "' on this host"; }

/// The lease of this host, once it lends through a local gate: that may take a moment while it begins.
leased_slot open_lease(const lease_location& location, time_point deadline) {
  for (;;) {
    leased_slot out{std::make_unique<lease_file>(location), {}};
    if (!out.file->is_open())
      throw gate_error(
          {gate_errc::not_found, lease_text(location.name) + " has ended; `kgate lease` makes another one"});
    detail::gates::location where;
    where.directory = location.directory;
    detail::gates::segment local;
    const std::uint64_t id = out.file->words().local_gate.load();
    if (id != 0 && !local.open_read_only(location.gate, where) && local.id() == id) return out;
    if (clock_type::now() >= deadline)
      throw gate_error({gate_errc::not_found, lease_text(location.name) + " has not begun, or its local gate '" +
                                                  location.gate + "' was removed"});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// The line with the names of the local gates, and the leases.
request local_request(const request& options, time_point deadline, std::vector<leased_slot>& out) {
  request local = options;
  address where;
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  out.clear();
  for (gate_request& one : local.gates) {
    if (const gate_failure failure = check_name(one.name)) throw gate_error(failure);
    if (one.weight > 1) throw gate_error({gate_errc::bad_slots, "--weight and --lease contradict each other"});
    const lease_location there = location_of(where, one.name, "", false);
    out.push_back(open_lease(there, deadline));
    const auto size = static_cast<int>(out.back().file->words().slots.load());
    if (one.slots != 0 && one.slots != size)
      throw gate_error({gate_errc::wrong_slots, "gate '" + one.name + "' has " + std::to_string(size) +
                                                    (size == 1 ? " slot" : " slots") + ", not " +
                                                    std::to_string(one.slots)});
    one.lease_of = one.name;
    one.name = there.gate;
    one.slots = 0;
    local.dir = there.directory;
  }
  local.existing = true;
  return local;
}

/// Whether all of them are lent here.
bool all_lent(std::vector<held_slot>& held, std::vector<leased_slot>& leases) {
  bool all = true;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const lease_words& words = leases[i].file->words();
    const bool valid = words.is_valid();  // L3
    leases[i].mine = read_entry(words, held[i].slots.front());
    const lent_slot& mine = leases[i].mine;
    const bool is_its_gate = held[i].gate.file().id() == words.local_gate.load();  // L6
    all = all && is_its_gate && valid && mine.fence != 0 && mine.epoch == mine.epoch_now;
  }
  return all;
}

void give_back(std::vector<held_slot>& held) {
  for (held_slot& one : held) {
    one.leave();
    close(one.lock_fd);
  }
  held.clear();
}

/// Waits for a slot of each local gate that is lent: 0, or an exit code.
int acquire_leased(const request& options, std::vector<held_slot>& held, std::vector<leased_slot>& leases) {
  const time_point deadline = options.try_once ? clock_type::now() : after(options.timeout_s);
  request now = local_request(options, deadline, leases);
  for (;;) {
    if (options.timeout_s >= 0)
      now.timeout_s = std::max(std::chrono::duration<double>(deadline - clock_type::now()).count(), 0.0);
    for (const leased_slot& one : leases) one.file->ring();
    const std::optional<int> code = acquire_slots(now, held);
    if (code && *code != lease_gone) return *code;
    if (!code && all_lent(held, leases)) break;
    if (!code) give_back(held);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // as lease_job::served
    try {
      now = local_request(options, deadline, leases);
    } catch (const gate_error& error) {
      if (error.code() != gate_errc::not_found) throw;
      complain(std::string(error.what()) + "; the command was not started");
      return exit_lost;
    }
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i].wanted = options.gates[i];
    held[i].slots = {leases[i].mine.slot};
    held[i].gate_slots = static_cast<int>(leases[i].file->words().slots.load());
    held[i].token = leases[i].mine.fence;
  }
  return 0;
}

}  // namespace

int lease(const request& options) {
  static ending_signals signals;  // its thread lives as long as the process
  lease_options how;
  how.cluster = options_for(options);
  how.cluster.command = "kgate lease";
  const auto open = [&](int slots) { return std::make_unique<host_lease>(options.on, options.name(), slots, how); };
  std::unique_ptr<host_lease> there;
  try {
    there = open(options.existing ? 0 : options.slots());
  } catch (const gate_error& error) {
    if (error.code() != gate_errc::not_found || options.existing || options.slots() != 0) throw;
    there = open(1);
  }
  if (!options.quiet) {
    print(there->local_gate() + "\n");
    std::fflush(stdout);
  }
  std::stop_source stop;
  signals.attend(*there, stop);
  try {
    there->serve(stop.get_token());
  } catch (...) {
    signals.forget();
    throw;
  }
  signals.forget();
  if (there->gate_exists()) return exit_ok;
  complain("gate '" + options.name() + "' was removed");
  return exit_failed;
}

int run_leased(const request& options) {
  static std::vector<held_slot> held;
  std::vector<leased_slot> leases;
  if (const int code = acquire_leased(options, held, leases)) return code;
  prepared_command command(options.words, held);
  const auto leave_all = [] {
    for (held_slot& one : held) one.leave();
  };
  const signal_watch signals;
  const started how = start(command, held, signals, true);
  if (how.process < 0) {
    leave_all();
    return failed_start(how, command, options);
  }
  const auto slots = [&leases] {
    slots_seen out;
    for (const leased_slot& one : leases) {
      if (still_lent(one.file->words(), one.mine)) continue;
      out.lost = true;
      if (!one.file->is_open()) out.why = "the lease of this host has ended";
    }
    return out;
  };
  attendance present(options, how.process, slots);
  const int ended = present.attend(signals);
  const bool lost = present.lost() || slots().lost;
  leave_all();
  if (how.error != 0 || how.lost) return failed_start(how, command, options);
  return present.exit_code(lost, command.name(), ended);
}

}  // namespace kgate::tool::cluster
