// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace kgate {

/// The number of a process (a thread, an OS process, a machine: whatever takes part), 0..N-1.
///
/// A type of its own, so that the checker knows which values of shared variables are process numbers and must be
/// renamed when processes are (symmetry), and so that no text adds two of them.
struct process_id {
  std::uint16_t value = 0;

  friend constexpr auto operator<=>(process_id, process_id) = default;
};

/// No process: the home of a variable that is local to none, the empty value of a variable that names a process.
inline constexpr process_id nobody{0xFFFF};

/// The largest N that process_id can number (`nobody` takes one value).
inline constexpr int processes_max = 0xFFFF;

constexpr process_id pid(int value) { return process_id{static_cast<std::uint16_t>(value)}; }

inline std::string to_string(process_id p) { return p == nobody ? "nobody" : "p" + std::to_string(p.value); }

}  // namespace kgate
