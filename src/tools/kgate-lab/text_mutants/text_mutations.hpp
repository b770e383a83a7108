// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Errors made in the text of an algorithm, line by line: what a slip of the pen would make of it.
///
/// drop       a statement that accesses shared memory is left out
/// swap       it changes places with the next one
/// compare    < and <=, > and >=, == and != are exchanged
/// off-by-one a constant is one too large or too small
/// check      a condition is taken for true, or its second half is
/// value      true is written for false, or the other way round
/// initial    a variable begins with another value
/// home       a variable is at home with another process

#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

struct text_mutation {
  std::string kind;
  std::string
      change;        ///< "old line -> new line", without indentation and comments; tells it from the others of the text
  std::string text;  ///< the whole text with the error in it
};

/// All of a text, in its order. What only tells the checker what to forget (live, frame, pause) is left alone.
std::vector<text_mutation> text_mutations(std::string_view text);

}  // namespace kgate::tool
