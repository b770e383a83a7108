// SPDX-License-Identifier: Apache-2.0
// kgate stats: what the history of gates says.
#include "tools/kgate/history_report.hpp"
#include "tools/kgate/status.hpp"

namespace kgate::tool {

int stats(const request& options) {
  if (!can_list(options)) return exit_failed;
  const std::vector<view> views = gate_views(options);
  const int failures = report_failures(views, options);
  std::vector<gate_history> gates;
  for (const view& one : views)
    if (!one.failure)
      gates.push_back({one.name, one.seen.slots, inside_of(one), one.seen.waiters.size(), one.seen.paused,
                       one.seen.healed, read_history(directory_of(options), one.name)});
  report_histories(options, gates);
  return failures == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
