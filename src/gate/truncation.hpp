// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A gate's file that is cut off under those that map it, which is a SIGBUS for them.

#include <cstddef>

namespace kgate::detail::gates {

/// From now on a SIGBUS in a mapping that is remembered (remember_mapping) puts empty pages of this process's own in
/// its place: a reader finds the gate damaged. All others go to the handler that was there before. Those that are
/// asleep at a gate already wake once, to sleep with a time limit.
void guard_mappings();
/// Whether that was asked for.
bool guards_mappings() noexcept;

/// Says that a mapping begins at `start`; all have the length of a file_layout. As many as there is room for.
void remember_mapping(const void* start, bool writable) noexcept;
void forget_mapping(const void* start) noexcept;

}  // namespace kgate::detail::gates
