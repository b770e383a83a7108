// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The properties the checker decides: one table for the checker, the tool, its help, the manual and the tests.

#include <span>
#include <string_view>
#include <vector>

namespace kgate::lab {

/// The kind of run that shows a violation, as a trace has it.
enum class shown_by {
  finite,   ///< its last step or the state it ends in
  endless,  ///< what repeats for ever
  either,   ///< what repeats for ever, or an end at which no process that ought to move can
};

/// What a property may need, where its verdict depends on that.
inline constexpr std::string_view needs_atomic_registers = "atomic registers";
inline constexpr std::string_view needs_doorway = "the end of a doorway";
inline constexpr std::string_view needs_invariant = "an invariant beside the text";
inline constexpr std::string_view needs_names = "a name in Private";

struct property {
  std::string_view id;
  std::string_view says;     ///< of all runs of the algorithm
  std::string_view source;   ///< the paper that defines it
  std::string_view needs{};  ///< of the algorithm's text, empty if nothing
  std::string_view decided;  ///< how
  shown_by evidence = shown_by::finite;
  bool by_symmetry = false;  ///< can be decided on states reduced by symmetry
  bool progress = false;     ///< promised for a number of crashes
  bool basic = false;        ///< judged if nothing else is asked for
};

/// In the order in which they are judged and printed.
std::span<const property> properties();

std::vector<std::string_view> property_ids();

/// Null if there is none of that id.
const property* find_property(std::string_view id);

}  // namespace kgate::lab
