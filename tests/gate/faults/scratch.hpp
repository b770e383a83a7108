// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A directory of a test's own, and the checks that every fault test ends with.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kgate/gate.hpp"

namespace kgate::faults {

class scratch {
 public:
  /// In memory where there is such a place: the tests make thousands of gates.
  explicit scratch(const char* base = nullptr) {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string pattern = std::string(base != nullptr ? base : memory ? "/dev/shm" : "/tmp") + "/kgate-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  gate_options options(const char* command = "") const { return {.directory = path_, .command = command}; }
  gate open(const char* name, int slots = 0, const char* command = "test") const {
    return gate(name, slots, options(command));
  }

 private:
  std::string path_;
};

/// All k slots can be taken, with different numbers, and no more than k.
inline void expect_whole(const scratch& where, const char* name, int k) {
  gate probe = where.open(name, 0, "probe");
  const gate_status before = probe.status();
  EXPECT_EQ(before.free, k);
  EXPECT_TRUE(before.holders.empty() && before.waiters.empty());
  std::vector<gate::permit> taken;
  std::set<int> slots;
  for (int i = 0; i < k; ++i) {
    std::optional<gate::permit> permit = probe.try_enter();
    ASSERT_TRUE(permit.has_value()) << "a permit was lost: only " << i << " of " << k << " can be taken";
    slots.insert(permit->slot());
    taken.push_back(std::move(*permit));
  }
  EXPECT_EQ(slots.size(), static_cast<std::size_t>(k));
  EXPECT_EQ(*slots.rbegin(), k - 1);
  EXPECT_FALSE(probe.try_enter().has_value()) << "more than " << k << " can be inside";
}

}  // namespace kgate::faults
