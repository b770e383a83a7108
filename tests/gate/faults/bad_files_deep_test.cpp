// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/bad_files.hpp"

namespace kgate::faults {
namespace {

TEST(fuzz, deep) { fuzz(100'000, 60'000); }

}  // namespace
}  // namespace kgate::faults
