// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What commands did at a gate in the last days, in a file of bounded size beside it: one record for each hour of a
/// week, with classes of waiting and running times that double. Recorded after the slot has been given back, so no
/// process waits for it, or with --exec by one in fourteen (unrecorded_waits.hpp); a record that cannot be written is
/// left out. Users who may write to the gate may write to the file: a record that no kgate writes is taken for none.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

inline constexpr std::size_t time_classes = 40;

/// How long something took, many times. Class i holds times from 2^i to 2^(i+1) microseconds, the first all below.
struct duration_record {
  std::array<std::uint32_t, time_classes> counts;
  std::uint64_t total_us;
  std::uint64_t longest_us;

  void add(std::uint64_t ns);
  void add(const duration_record& other);
  std::uint64_t count() const;
  /// Whether such times can have been added.
  bool consistent() const;
  /// The time within which a share of them was done, in seconds, at most a factor of two from the truth.
  double percentile(double share) const;
};

struct history_record {
  std::uint64_t hour;  ///< since 1970; 0: nothing yet
  std::uint32_t passages;
  std::uint32_t refusals;
  duration_record waited, held;

  void add(const history_record& other);
  bool consistent() const;
};

/// The commands held these slots and have ended.
void record_passages(std::vector<held_slot>& slots);
/// The commands go on without kgate, which will not learn how long they run.
void record_waits(std::vector<held_slot>& slots);
/// No slot was to be had in time.
void record_refusals(const request& options);

struct history {
  history_record week{};  ///< the last seven days
  history_record ever{};
};
/// The same for a gate between machines: `path` is that of this host's file, which is for this user alone.
void record_in(const std::string& path, const history_record& what);
history_record passage_record(std::uint64_t waited_ns, std::uint64_t held_ns);
history read_history_file(const std::string& path);

history read_history(const std::string& directory, const std::string& gate);
void remove_history(const std::string& directory, const std::string& gate);
/// Removes the histories of gates that are gone, as a program that removes its gate leaves them. How many.
int sweep_histories(const std::string& directory);

}  // namespace kgate::tool
