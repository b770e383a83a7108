// SPDX-License-Identifier: Apache-2.0
// The audit finds a text that forgets what it uses, and none in the catalogue.

#include "lab/checker/audit/audit.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "checker/checked_programs.hpp"

namespace kgate::lab {
namespace {

TEST(Audit, FindsAForgottenLiveValue) {
  auto p = toy<toys::forgetful>(3, 3);
  EXPECT_NE(audit(*p, {}).difference, "");
}

TEST(Audit, FindsNothingInTheCatalogue) {
  for (const catalog::row* row : algorithm_rows()) {
    for (const bool with_names : {false, true}) {
      const catalog::choice algorithm{row, with_names};
      for (const auto& [N, k] : {std::pair{3, 1}, std::pair{4, 2}, std::pair{5, 3}}) {
        if (!catalog::limits_error(*row, N, k).empty()) continue;
        program_options options;
        options.passages = row->bounded_variables ? 0 : 3;
        program p(make_model(algorithm, N, k), N, k, options);
        EXPECT_EQ(
            audit(p, {.seed = static_cast<std::uint64_t>(N), .accesses = 40'000, .walks = 6, .steps = 300}).difference,
            "")
            << algorithm.id();
      }
    }
  }
}

}  // namespace
}  // namespace kgate::lab
