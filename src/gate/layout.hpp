// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file of a gate, as every participant maps it. Change anything here and `version` must change.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/cache_line.hpp"
#include "kgate/algorithms/gate_word.hpp"

namespace kgate::gate_detail {

inline constexpr std::array<char, 8> magic{'K', 'G', 'A', 'T', 'E', '\r', '\n', '\x1a'};
inline constexpr std::uint32_t version = 3;

/// What never changes after creation, guarded by a checksum over all of it.
struct file_header {
  std::array<char, 8> magic_bytes;
  std::uint32_t version_number;
  std::uint32_t members;
  std::uint64_t file_bytes;
  std::uint64_t created_ns;
  std::array<char, 40> boot;  ///< the kernel's boot id: a gate from before a reboot is recognised by it
  std::uint32_t overtakings;  ///< b: how many newcomers may pass the queue between two who are let in from it
  std::array<char, 44> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(file_header) == 128);

/// What a member writes about its passages, on a cache line of its own.
struct alignas(cache_line) member_line {
  std::atomic<std::uint64_t> order;
  std::atomic<std::uint64_t> queued_ns;   ///< wall clock; when it began to wait
  std::atomic<std::uint64_t> entered_ns;  ///< wall clock; when it got in
  std::atomic<std::uint32_t> parked;      ///< it sleeps, or is about to: granting it takes a wake-up
};

/// Who a member is. For people: nothing depends on it.
struct identity {
  std::uint32_t user;
  std::int32_t process;
  std::array<char, 48> host;
  std::array<char, 120> command;
};

/// An identity in words, so that a reader may look while it is written; `version` is odd meanwhile, and another one afterwards.
struct alignas(cache_line) member_info {
  static constexpr std::size_t words = sizeof(identity) / sizeof(std::uint64_t);

  std::atomic<std::uint32_t> version;
  std::atomic<std::uint64_t> word_bits[words];
};
static_assert(sizeof(identity) == 176 && sizeof(member_info) == 192);

struct file_layout {
  alignas(cache_line) file_header header;
  // The first members' states share the word's line: whoever changes the word reads the last subject's state and writes its
  // own, and has the line already.
  alignas(cache_line) std::atomic<std::uint64_t> word_bits;
  std::atomic<std::uint64_t> state_bits[members_max];
  alignas(cache_line) std::atomic<std::uint64_t> size_bits;
  std::atomic<std::uint64_t> passed_bits;
  std::atomic<std::uint64_t> healed;
  std::atomic<std::uint64_t> tokens;
  std::atomic<std::uint32_t> members_used;
  member_line lines[members_max];
  std::atomic<std::uint64_t> slot_bits[slots_max + 1];
  member_info info[members_max];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(offsetof(file_layout, word_bits) == sizeof(file_header));

/// Bytes of the file, far behind its end, that participants lock. Member i's own byte is held by the process that
/// joined, the one after it by a command it started.
inline constexpr std::int64_t lock_base = std::int64_t{1} << 40;
inline constexpr std::int64_t maintenance_byte = lock_base - 1;
constexpr std::int64_t member_byte(unsigned i) { return lock_base + 2 * std::int64_t{i}; }
constexpr std::int64_t command_byte(unsigned i) { return member_byte(i) + 1; }

}  // namespace kgate::gate_detail
