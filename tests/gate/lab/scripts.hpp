// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One exploration of processes at a gate, and its verdicts.

#include <gtest/gtest.h>

#include <string>

#include "gate/lab/gate_scripts.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// The acts as letters: a stop, b enter, c enter_two, d attempt, e give_up, f take_slot, g touch, h enlarge, i shrink,
/// j shrink_more, k rejoin, l retire, m pause, n dismiss, o linger.
inline std::vector<gate_act> acts(const std::string& letters) {
  std::vector<gate_act> among;
  for (const char letter : letters) among.push_back(static_cast<gate_act>(letter - 'a'));
  return among;
}

struct script_verdict {
  bool holds = true;
  bool violated = false;  ///< by a run that was judged again; undecided is neither
  std::uint64_t states = 0;
  std::string text;
};

template <template <class> class Protocol, template <class> class ShortPath = detail::gates::short_path>
script_verdict explore_scripts(const gate_scripts& what, int deaths,
                               std::uint64_t memory_max = std::uint64_t{6} << 30) {
  program p(make_scripted_gate<Protocol, ShortPath>(what), what.processes, what.k,
            program_options{.passages = 1, .wrong = {}, .deaths_max = deaths});
  check_request request;
  request.of = {"gate scripts", what.processes, what.k, 1, {}};
  request.properties = {"invariant", "deadlock-free", "starvation-free"};
  request.crashes = 0;
  request.limits.threads = 2;
  request.limits.memory_max = memory_max;
  const check_result result = check(p, request);
  script_verdict out;
  out.states = result.states;
  for (const property_result& one : result.properties) {
    if (one.is == verdict::holds) continue;  // within one passage, which is all that a script has
    out.holds = false;
    out.text += one.name + " " + to_string(one.is) + " " + one.why + "\n";
    if (!one.counterexample) continue;
    const std::string wrong = validate(*one.counterexample, p);
    EXPECT_EQ(wrong, "") << one.name;
    out.violated |= one.is == verdict::violated && wrong.empty();
    out.text += describe(*one.counterexample, p);
  }
  return out;
}

}  // namespace kgate::lab
