// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A text in a file may end the program in ways that nothing inside can notice: then nothing would have been said, and
/// the exit code would be the text's. So the work is done in a child, which says when it ends of its own will.

#include <initializer_list>
#include <optional>

#include "tools/kgate-lab/exit_code.hpp"

namespace kgate::tool {

/// Whether a command line names a text in a file.
bool names_a_text(int argc, char** argv);

/// Forks. In the child: nothing. In the parent: the exit code, once the child has ended, and whatever it started with
/// it. To be called before there are threads.
std::optional<int> supervise();

/// In the child: what follows is its own end. Without a supervisor nothing happens. Signal handlers may call it.
void ends_by_itself();

/// One line on stderr made of the parts, and, if the result was to be JSON, an object with the field "error" instead of
/// it. Signal handlers may call it.
void say_error(std::initializer_list<const char*> parts);

/// From now on say_error() writes that object.
void errors_as_json();

/// Ends at once, without destructors, as the tool's own end.
[[noreturn]] void end_at_once(exit_code code);

}  // namespace kgate::tool
