// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the parts of the short-name queue (flbb79_fifo.hpp, which says what each is for) consist of: the shared
/// variable, a worker's state, the supervisor's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/algorithms/flbb79_short_names.hpp"
#include "kgate/algorithms/flbb79_supervisor.hpp"

namespace kgate::flbb79 {

inline constexpr int exposed_max = 2 * permits_max + 2 * robustness_max - 1;
inline constexpr int colours_max = 2 * permits_max + 3 * robustness_max + 3;
inline constexpr int fifo_processes_max = 12;

/// A ticket on the long side; number 0: none.
struct long_name {
  std::uint8_t colour = 0;
  std::uint8_t number = 0;
  friend constexpr bool operator==(long_name, long_name) = default;
};

enum class entry_status : std::uint8_t { none, waits, inside, left };

struct exposed_entry {
  std::uint8_t colour = 0;
  std::uint8_t name = 0;
  entry_status is = entry_status::none;
  friend constexpr bool operator==(const exposed_entry&, const exposed_entry&) = default;
};

struct colour_state {
  name_map map;
  bool called = false;
  friend constexpr bool operator==(const colour_state&, const colour_state&) = default;
};

/// What a line of conversation shows, and which may change it: idle, want, down0/1 and cancel are the process's to
/// answer, call any called process's, the rest the supervisor's.
enum class line : std::uint8_t { idle, call, up0, up1, want, down0, down1, got, done, cancel };

struct fifo_value {
  std::uint8_t issue = 0, number = 0;
  std::uint8_t length = 0, enabled = 0;
  std::array<exposed_entry, exposed_max> exposed{};
  std::array<colour_state, colours_max> colours{};
  std::array<line, robustness_max> talk{};

  friend bool operator==(const fifo_value&, const fifo_value&) = default;
};

inline std::string to_string(const fifo_value& v) {
  std::string text = "issue " + std::to_string(v.issue) + "/" + std::to_string(v.number) + " queue";
  for (std::size_t i = 0; i < v.length; ++i) {
    const exposed_entry& e = v.exposed[i];
    text += (i == v.enabled ? " |" : "") + std::string(" ") + std::to_string(e.colour) + "." + std::to_string(e.name) +
            "?wil"[static_cast<int>(e.is)];
  }
  text += " talk ";
  for (const line each : v.talk) text += "-c01w01gdx"[static_cast<int>(each)];
  return text;
}

struct fifo_worker {
  region where = region::remainder;
  long_name mine;         ///< its ticket; inside: its short name
  std::uint8_t talk = 0;  ///< 1 + its line of conversation; 0: none
  std::uint8_t bits = 0;  ///< sent, then received
  bool receives = false;
  long_name given;  ///< what has been received of the new ticket
};

/// What the supervisor knows of one line: `old` of a process while it is received, `fresh` while it is sent.
struct fifo_talk {
  enum class stage : std::uint8_t { free, receives, sends } at = stage::free;
  std::uint8_t bits = 0;
  long_name old, fresh;
  friend bool operator==(const fifo_talk&, const fifo_talk&) = default;
};

struct fifo_supervisor {
  /// The step it takes next: copy an arrival, prepare the head of `hidden`, look at a line, shift the queue, enable.
  enum class program : std::uint8_t { copy, prepare, talk, shift, enable } at = program::copy;
  std::uint8_t looks_at = 0;  ///< the line to look at
  std::uint8_t issue = 0, copied = 0;
  std::uint8_t length = 0;  ///< of hidden
  bool converses = false;
  std::uint8_t first = 0, second = 0,
               given = 0;      ///< colours to give to the head and to the others, how many of the latter
  std::uint8_t remaining = 0;  ///< called and not yet renamed
  std::array<long_name, fifo_processes_max> hidden{};
  std::array<bool, fifo_processes_max> mapped{};  ///< of each in hidden: its colour has a map
  std::array<fifo_talk, robustness_max> talks{};

  friend bool operator==(const fifo_supervisor&, const fifo_supervisor&) = default;
};

}  // namespace kgate::flbb79
