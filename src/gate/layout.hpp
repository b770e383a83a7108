// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file of a gate, as every participant maps it. Change anything here and `version` must change.
///
/// The file is as long as a gate can become, and has holes: the first page, the pages of its slots and, for each member
/// that joins, those of its record are given space before they are used (segment.hpp), so a full disk is an error and
/// never a SIGBUS. A new gate takes three or four pages.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kgate/algorithms/gate_word.hpp"
#include "kgate/detail/cache_line.hpp"

namespace kgate::detail::gates {

inline constexpr std::array<char, 8> magic{'K', 'G', 'A', 'T', 'E', '\r', '\n', '\x1a'};
inline constexpr std::uint32_t version = 7;
/// Tokens begin at the time of creation in nanoseconds; no gate gets so far.
inline constexpr std::uint64_t tokens_max = std::uint64_t{1} << 63;

/// What never changes after creation, guarded by a checksum over all of it.
struct file_header {
  std::array<char, 8> magic_bytes;
  std::uint32_t version_number;
  std::uint32_t members;
  std::uint64_t file_bytes;
  std::uint64_t created_ns;
  std::array<char, 40> boot;   ///< the kernel's boot id: a gate from before a reboot is recognised by it
  std::uint32_t overtakings;   ///< b: how many newcomers may pass the queue between two grants
  std::uint32_t default_size;  ///< 1: created with a size that was not asked for
  std::uint64_t id;            ///< by chance; names the gate's lock files
  std::array<char, 32> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(file_header) == 128);

/// What a member writes about its passages, on a cache line of its own.
struct alignas(cache_line) member_line {
  std::atomic<std::uint64_t> link_bits;         ///< its neighbours in the queue
  std::atomic<std::uint64_t> queued_ns;         ///< wall clock; when it began to wait
  std::atomic<std::uint64_t> entered_ns;        ///< wall clock; when it got in
  std::atomic<std::uint32_t> bell;              ///< what it sleeps on (bell_rung, bell_asleep ...)
  std::atomic<std::int32_t> command;            ///< the process of the command that it started, 0 if there is none
  std::atomic<std::uint32_t> leaves_by_ending;  ///< it will not leave: its end is no death that counts
  /// The tool's: waits that are still to be added to the history (tools/kgate/unrecorded_waits.hpp). They outlive the
  /// member: the next one with its number adds them.
  std::array<std::atomic<std::uint16_t>, 14> unrecorded;
};
static_assert(sizeof(member_line) == 64);
inline constexpr std::uint32_t bell_rung = 1, bell_asleep = 2, bell_listens = 4, bell_over = 8;

/// What a member is. Those that wait for it watch the process, if its PID namespace is theirs; the rest is shown
/// to users, and nothing depends on it.
struct identity {
  std::uint64_t pid_namespace;  ///< inode; 0 if unknown
  std::uint32_t user;
  std::int32_t process;
  std::array<char, 48> host;
  std::array<char, 120> command;
};

/// An identity in words, so that it can be read while it is written; `version` is odd meanwhile, and another one
/// afterwards.
struct alignas(cache_line) member_info {
  static constexpr std::size_t words = sizeof(identity) / sizeof(std::uint64_t);

  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> dismissed;  ///< the last bits of the passage, plus one, in which it was last taken out
  std::atomic<std::uint64_t> word_bits[words];
};
static_assert(sizeof(identity) == 184 && sizeof(member_info) == 192);
/// The word of an identity that may follow later: until then that process cannot be watched.
inline constexpr std::size_t identity_namespace = 0;
static_assert(offsetof(identity, pid_namespace) == identity_namespace * sizeof(std::uint64_t));

/// False if it is being replaced by another one just now, again and again.
inline bool read_identity(const member_info& info, identity& out) {
  for (int tries = 0; tries < 100; ++tries) {
    const std::uint32_t before = info.version.load(std::memory_order_acquire);
    std::uint64_t words[member_info::words];
    // Acquire, so that the second read of version comes after them.
    for (std::size_t i = 0; i < member_info::words; ++i) words[i] = info.word_bits[i].load(std::memory_order_acquire);
    if ((before & 1) != 0 || info.version.load(std::memory_order_relaxed) != before) continue;
    std::memcpy(&out, words, sizeof out);
    return true;
  }
  return false;
}

/// How a gate counts overtaking: header.overtakings is b, or this: all members together may pass a waiter so often, but
/// b is never below the least, which is what keeps a thousand members from a change of process with every passage.
inline constexpr std::uint32_t overtakings_shared = 0xFFFFFFFF;
inline constexpr std::uint32_t overtakings_in_all = 256;
inline constexpr std::uint32_t overtakings_least = 4;

/// Where newcomers may pass the queue, the members have so many short passages between them without looking whether one
/// calls; twice, for each may have looked just before one calls, and look once before too many call.
inline constexpr std::uint32_t passages_in_all = 128;

struct file_layout {
  alignas(cache_line) file_header header;
  alignas(cache_line) std::atomic<std::uint64_t> queue_bits;
  std::atomic<std::uint64_t> size_bits;
  std::atomic<std::uint64_t> passed_bits;
  std::atomic<std::uint64_t> healed;
  std::atomic<std::uint64_t> tokens;
  std::atomic<std::uint32_t> members_used;
  std::atomic<std::uint32_t> slots_used;   ///< the largest size there was
  std::atomic<std::uint32_t> number_hint;  ///< where a newcomer begins to look for a number
  std::atomic<std::uint32_t> woken_seq;    ///< the seq of the operation whose subject was last woken
  std::atomic<std::uint64_t> looked_ns;    ///< wall clock; when a waiter last looked for dead holders
  // The first members' states share the word's line: a change of the word reads the last subject's state and writes
  // its own, and has the line already.
  alignas(cache_line) std::atomic<std::uint64_t> word_bits;
  std::atomic<std::uint64_t> call_bits;
  std::atomic<std::uint64_t> state_bits[members_max];
  std::atomic<std::uint64_t> slot_bits[slots_max + 1];
  member_line lines[members_max];
  member_info info[members_max];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The size, counting a resize that W names as applied. Not valid if the file is damaged.
inline limit size_of(const file_layout& map) {
  for (int tries = 0; tries < 1000; ++tries) {
    const word w{map.word_bits.load()};
    const limit size{map.size_bits.load()};
    if (!size.lacks(w)) return size;
    if (w.subject() >= members_max) break;
    const state subject{map.state_bits[w.subject()].load()};
    if (limit{map.size_bits.load()} == size && word{map.word_bits.load()} == w)
      return limit::of(subject.weight(), w.seq());
  }
  return {};
}
static_assert(offsetof(file_layout, queue_bits) == sizeof(file_header));

}  // namespace kgate::detail::gates
