// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/layout.hpp"

namespace kgate::lab {

namespace {

/// Hands out bits word by word; a field never crosses a word.
class packer {
 public:
  field next(unsigned bits) {
    if (used_ + bits > 64) {
      ++word_;
      used_ = 0;
    }
    const field f{static_cast<std::uint8_t>(word_), static_cast<std::uint8_t>(bits == 0 ? 0 : used_),
                  bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits)};
    used_ += bits;
    return f;
  }
  unsigned words() const { return word_ + 1; }

 private:
  unsigned word_ = 0;
  unsigned used_ = 0;
};

}  // namespace

layout::layout(const widths& w) {
  packer pack;
  for (const unsigned bits : w.local) local.push_back(pack.next(bits));
  for (const unsigned bits : w.variable) variable.push_back(pack.next(bits));
  for (unsigned i = 0; i < w.extra; ++i) extra.push_back(pack.next(1));
  words = pack.words();
}

}  // namespace kgate::lab
