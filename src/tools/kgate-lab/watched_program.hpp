// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A program whose text is watched from before its first run: a loop without end in it, or a crash, ends the tool,
/// with a sentence that names the label.

#include <memory>

#include "lab/checker/model/program.hpp"
#include "lab/checker/model/run_monitor.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/crash_guard.hpp"

namespace kgate::tool {

class watched_program {
 public:
  /// `seconds_max`: the time limit of what is to be done with it; 0: none. The first Ctrl-C is heeded too.
  watched_program(const instance& of, const lab::program_name& name, double seconds_max = 0,
                  lab::program_options options = {});

  lab::program& operator*() const { return *program_; }

  /// Of a text in a file, once it has been explored or walked: throws usage_error if it forgets what it uses, so that
  /// nothing that was found would be true. The catalogue's texts are audited by tests.
  void require_remembering() const;

 private:
  bool own_text_;
  std::shared_ptr<lab::run_monitor> monitor_;
  std::unique_ptr<crash_guard> guard_;
  std::unique_ptr<lab::endless_run_watch> watch_;
  std::unique_ptr<lab::program> program_;
};

}  // namespace kgate::tool
