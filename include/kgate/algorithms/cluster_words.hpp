// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The words of cluster_recipe.hpp: what an ensemble answers, and how a request ends.

#include <cstdint>

namespace kgate::detail::cluster {

enum class answer : std::uint8_t { ok, no_node, exists, changed, unknown, expired };

template <class T>
struct answered {
  answer is = answer::unknown;
  T value{};
};

enum class event : std::uint8_t { changed, gone, given_up, expired };

struct gate_size {
  std::int32_t slots = 0;
  std::int32_t version = 0;
  friend bool operator==(gate_size, gate_size) = default;
};

enum class outcome : std::uint8_t {
  done,       ///< inside, or out after a release
  given_up,   ///< out: the time was over, or somebody asked to stop
  too_heavy,  ///< out: the weight is above k
  removed,    ///< out: somebody removed the gate, or the waiter's node
  lost        ///< the session has expired, and with it all that it had
};

/// The distance from sequence number b to a. They wrap around, so only the distance tells which one is older.
constexpr std::int32_t distance(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

}  // namespace kgate::detail::cluster
