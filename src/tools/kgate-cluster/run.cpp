// SPDX-License-Identifier: Apache-2.0
// kgate run --on: wait for a slot between machines, run the command in it, give the slot back; end the command if the
// slot is lost.
#include "tools/kgate-cluster/acquire.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate-cluster/records.hpp"
#include "tools/kgate-cluster/start_mortal.hpp"

namespace kgate::tool::cluster {

int run(const request& options) {
  if (options.lease) return run_leased(options);
  const inherited_descriptors inherited;
  std::vector<held_gate> held;
  if (const int code = acquire(options, shown_command(options), held)) {
    if (code == refusal_code(options)) record_refusals_at(options);
    return code;
  }
  prepared_command command(options.words, described(options, held));
  inherited.close_others_on_exec();
  const signal_watch signals;
  const started how = start_mortal(command, signals);
  if (how.process < 0) return failed_start(how, command, options);
  const auto slots = [&held] {
    slots_seen out;
    for (const held_gate& one : held) {
      out.lost = out.lost || one.permit->lost().stop_requested();
      out.connected = out.connected && one.permit->connected();
    }
    return out;
  };
  const time_point entered = clock_type::now();
  attendance present(options, how.process, slots);
  const int ended = present.attend(signals);
  bool lost = present.lost();
  for (held_gate& one : held) lost = !one.permit->release() || lost;
  const clock_type::duration stayed = clock_type::now() - entered;
  if (how.error == 0) record_passages_at(options, held, stayed);
  held.clear();
  if (how.error != 0) return failed_start(how, command, options);
  return present.exit_code(lost, command.name(), ended);
}

}  // namespace kgate::tool::cluster
