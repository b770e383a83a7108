// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Mutants of the algorithms' texts: made by text_mutations, compiled many at a time, each judged in a process of its
/// own, for a wrong text may do anything.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/kgate-lab/arguments.hpp"

namespace kgate::tool {

/// Where a text is judged; passages of each process, 0: without limit. By all runs, or by so many random ones.
struct text_size {
  int N = 0, k = 0, passages = 0;
  int walks = 0;
};

/// A text of which mutants are made, and where they are judged.
struct text_target {
  std::string_view id;           ///< the row whose promises are judged; may end in +names
  std::string_view header;       ///< the text that is changed, one of the row's
  std::string_view part;         ///< the class or function in it that is changed; empty: all of it
  std::string_view algorithm;    ///< the algorithm, in the words of the header's namespace, over the machine M
  std::vector<text_size> sizes;  ///< one after another, until it is noticed
};
const std::vector<text_target>& text_targets();
/// The text of a row that was loaded from a file, judged at one size by what it promises and its invariant. What it
/// refers to stays until the tool ends.
text_target target_in_file(const catalog::choice& algorithm, const text_size& size);

enum class fate { killed, survived, undecided };

struct text_mutant {
  const text_target* of = nullptr;
  std::string kind, change, text;
  fate is = fate::undecided;
  std::string why;     ///< what noticed it, or the limit that was reached
  text_size at{};      ///< where that was, or the last size
  double seconds = 0;  ///< what judging it took
};

/// All mutants of a target that compile. Throws usage_error if the unchanged text does not keep its promises there.
std::vector<text_mutant> mutants_of(const text_target& of);

/// Of each mutant at each size.
struct text_limits {
  double seconds_max = 0;
  std::uint64_t memory_max = 0;
};

/// Compiles and judges the mutants, which are of one target. Those that do not compile are taken out.
void judge(std::vector<text_mutant>& mutants, const text_limits& limits);

}  // namespace kgate::tool
