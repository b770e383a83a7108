// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/watched_program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/interrupt.hpp"

namespace kgate::tool {

watched_program::watched_program(const instance& of, const lab::program_name& name, double seconds_max,
                                 lab::program_options options)
    : monitor_(options.monitor) {
  lab::endless_run_watch::limits within;
  within.hurry = &catch_interrupts();
  if (seconds_max > 0)
    within.run_max =
        std::min(within.run_max, std::chrono::milliseconds(static_cast<long long>(seconds_max * 1000) + 500));
  watch_ = std::make_unique<lab::endless_run_watch>(*monitor_, within, [](const std::string& what) {
    std::fputs(("kgate-lab: " + what + "\n").c_str(), stderr);
    std::_Exit(static_cast<int>(exit_code::undecided));
  });
  guard_ = std::make_unique<crash_guard>(*monitor_);
  program_ = make_program(of, name, std::move(options));
}

}  // namespace kgate::tool
