// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One exploration of processes at a gate, and its verdicts.

#include <cstdint>
#include <string>
#include <vector>

#include "checker/script_verdict.hpp"
#include "gate/lab/gate_scripts.hpp"

namespace kgate::lab {

/// The acts as letters: a stop, b enter, c enter_two, d attempt, e give_up, f take_slot, g touch, h enlarge, i shrink,
/// j shrink_more, k rejoin, l retire, m pause, n dismiss, o stay_inside, p vanish,
/// q give_up_end, r enlarge_end, s become, t end_queued.
inline std::vector<gate_act> acts(const std::string& letters) {
  std::vector<gate_act> among;
  for (const char letter : letters) among.push_back(static_cast<gate_act>(letter - 'a'));
  return among;
}

template <template <class> class Protocol, template <class> class ShortPath = detail::gates::short_path,
          template <class, class> class Dozing = detail::gates::dozing>
script_verdict explore_scripts(const gate_scripts& what, int deaths,
                               std::uint64_t memory_max = std::uint64_t{6} << 30) {
  program p(make_scripted_gate<Protocol, ShortPath, Dozing>(what), what.processes, what.k,
            program_options{.passages = 1, .wrong = {}, .deaths_max = deaths});
  return judge_scripts(p, "gate scripts", what.processes, what.k, memory_max);
}

}  // namespace kgate::lab
