// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The commands of kgate-lab. Each is a file of its own with a function that adds its options to the tool and returns
/// what to run when the user chose it.

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/kgate-lab/exit_code.hpp"

namespace kgate::tool {

struct command {
  CLI::App* options = nullptr;
  std::function<exit_code()> run;
};

command add_list(CLI::App& tool);
command add_explain(CLI::App& tool);
command add_check(CLI::App& tool);
command add_replay(CLI::App& tool);
command add_rmr(CLI::App& tool);
command add_space(CLI::App& tool);
command add_experiment(CLI::App& tool);
command add_report(CLI::App& tool);
command add_new(CLI::App& tool);
command add_mutate(CLI::App& tool);
command add_search(CLI::App& tool);
command add_export(CLI::App& tool);
command add_step(CLI::App& tool);

/// In the order in which --help shows them.
inline constexpr command (*commands[])(CLI::App&) = {add_list,   add_explain, add_new, add_check, add_search,
                                                     add_mutate, add_export,  add_rmr, add_space, add_experiment,
                                                     add_report, add_replay,  add_step};

}  // namespace kgate::tool
