// SPDX-License-Identifier: Apache-2.0
// kgate stats --on: what commands of this host did at gates between machines.
#include <unistd.h>

#include "cluster/gate_nodes.hpp"
#include "cluster/lease_file.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate-cluster/records.hpp"
#include "tools/kgate/history_report.hpp"

namespace kgate::tool::cluster {

using namespace detail::cluster;

std::string history_path(const request& options, const std::string& gate) {
  address where;
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  const lease_location location = location_of(where, gate, "", true);
  return location.directory + "/." + location.gate + ".cluster-history";  // not of a gate of this host
}

namespace {

/// What cannot be recorded is left out: the command has run.
void record(const request& options, const std::string& gate, const history_record& what) {
  try {
    record_in(history_path(options, gate), what);
  } catch (const gate_error&) {
    return;
  }
}

}  // namespace

void record_passages_at(const request& options, const std::vector<held_gate>& held, clock_type::duration stayed) {
  const auto ns = [](clock_type::duration time) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  };
  for (std::size_t i = 0; i < held.size(); ++i)
    record(options, options.gates[i].name, passage_record(ns(held[i].waited), ns(stayed)));
}

void record_refusals_at(const request& options) {
  history_record what{};
  what.refusals = 1;
  for (const gate_request& one : options.gates) record(options, one.name, what);
}

void forget_history(const request& options, const std::string& gate) {
  try {
    unlink(history_path(options, gate).c_str());
  } catch (const gate_error&) {
    return;  // the gate is removed all the same
  }
}

int stats(const request& options) {
  connection to(options);
  std::vector<gate_history> gates;
  const gate_views all = read_views(options, to);
  for (const auto& [name, seen] : all.gates)
    gates.push_back({name, seen.slots, seen.slots - seen.free + seen.over, seen.waiters.size(), seen.paused,
                     std::nullopt, read_history_file(history_path(options, name))});
  report_histories(options, gates);
  return all.report();
}

}  // namespace kgate::tool::cluster
