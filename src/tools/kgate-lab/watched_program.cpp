// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/watched_program.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "lab/checker/audit/audit.hpp"
#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/supervisor.hpp"

namespace kgate::tool {

watched_program::watched_program(const instance& of, const lab::program_name& name, double seconds_max,
                                 lab::program_options options)
    : own_text_(!text_of(*of.algorithm.base).empty()), monitor_(options.monitor) {
  lab::endless_run_watch::limits within;
  within.hurry = &catch_interrupts();
  if (seconds_max > 0)
    within.run_max =
        std::min(within.run_max, std::chrono::milliseconds(static_cast<long long>(seconds_max * 1000) + 500));
  watch_ = std::make_unique<lab::endless_run_watch>(*monitor_, within, [](const std::string& what) {
    say_error({what.c_str()});
    end_at_once(exit_code::undecided);
  });
  guard_ = std::make_unique<crash_guard>(*monitor_);
  program_ = make_program(of, name, std::move(options));
}

void watched_program::require_remembering() const {
  if (!own_text_) return;
  try {
    if (const lab::audit_result r = lab::audit(*program_, {}); !r.difference.empty())
      throw usage_error("the text forgets what it uses (live, frame): " + r.difference);
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  }
}

}  // namespace kgate::tool
