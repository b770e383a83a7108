// SPDX-License-Identifier: Apache-2.0
// kgate lease --on, and kgate run --on --lease.
#include "kgate/lease.hpp"

#include <signal.h>
#include <unistd.h>

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
    std::thread([this, &lease, stop = std::move(stop)]() mutable {
      int number = 0;
      sigwait(&endings_, &number);
      stop.request_stop();
      sigwait(&endings_, &number);
      lease.abandon();
      _exit(exit_failed);
    }).detach();
  }

 private:
  sigset_t endings_{};
};

/// A job's slot: the local one, and what is lent there.
struct leased_slot {
  std::unique_ptr<lease_file> file;
  lent_slot mine;
};

/// The line with the names of the local gates, and the leases.
request local_request(const request& options, std::vector<leased_slot>& out) {
  request local = options;
  address where;
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  for (gate_request& one : local.gates) {
    if (const gate_failure failure = check_name(one.name)) throw gate_error(failure);
    if (one.weight > 1) throw gate_error({gate_errc::bad_slots, "--weight and --lease contradict each other"});
    const lease_location local_file = location_of(where, one.name, "", false);
    out.push_back({std::make_unique<lease_file>(local_file, false), {}});
    const auto size = static_cast<int>(out.back().file->words().slots.load());
    if (!out.back().file->has_lessor())
      throw gate_error({gate_errc::not_found, "the lease of gate '" + one.name +
                                                  "' on this host has ended; `kgate lease` makes another one"});
    if (one.slots != 0 && one.slots != size)
      throw gate_error({gate_errc::wrong_slots, "gate '" + one.name + "' has " + std::to_string(size) + " slots, not " +
                                                    std::to_string(one.slots)});
    one.name = local_file.gate;
    one.slots = 0;
    local.dir = local_file.directory;
  }
  local.existing = true;
  return local;
}

/// Whether all of them are lent here; `ended` if one will never be.
bool all_lent(std::vector<held_slot>& held, std::vector<leased_slot>& leases, bool& ended) {
  bool all = true;
  for (std::size_t i = 0; i < held.size(); ++i) {
    lease_file& file = *leases[i].file;
    const bool valid = file.words().is_valid();
    leases[i].mine = read_entry(file.words(), held[i].slots.front());
    const lent_slot& mine = leases[i].mine;
    if (valid && mine.fence != 0 && mine.epoch == mine.epoch_now) continue;
    all = false;
    ended = ended || !file.has_lessor() || file.words().closed.load() != 0;
  }
  return all;
}

/// Waits for a slot of each local gate that is lent: 0, or an exit code.
int acquire_leased(const request& options, std::vector<held_slot>& held, std::vector<leased_slot>& leases) {
  const request local = local_request(options, leases);
  const time_point deadline = after(options.timeout_s);
  for (;;) {
    request now = local;
    if (options.timeout_s >= 0)
      now.timeout_s = std::max(std::chrono::duration<double>(deadline - clock_type::now()).count(), 0.0);
    for (const leased_slot& one : leases) one.file->ring();
    if (const std::optional<int> code = acquire_slots(now, held)) return *code;
    bool ended = false;
    if (all_lent(held, leases, ended)) break;
    for (held_slot& one : held) one.leave();
    if (!ended) continue;  // between two leases
    complain("the lease of this host has ended; the command was not started");
    return exit_lost;
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
  ending_signals signals;
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
  there->serve(stop.get_token());
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
    for (const leased_slot& one : leases) out.lost = out.lost || !still_lent(one.file->words(), one.mine);
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
