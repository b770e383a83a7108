// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Algorithms of the user's own, in files: compiled against headers that travel inside the tool, and loaded into it.
/// Wherever the tool takes an algorithm's id it takes FILE.hpp, or FILE.hpp:CLASS, with or without "+names".

#include <optional>
#include <string>
#include <string_view>

#include "catalog/row.hpp"

namespace kgate::tool {

/// Whether the id names a file.
bool is_text_file(std::string_view id);

/// Compiles and loads the file, once however often it is asked for. Throws usage_error if there is no such file, no
/// compiler, or the text does not compile; what the compiler said is then on stderr.
catalog::choice load_text_file(const std::string& id);

/// The same, for make_arena(): the text on the scheduled machine, which takes a second compilation.
void load_scheduled_text(const std::string& id);

/// Where a row that was loaded has its text from.
struct text_source {
  std::string_view file, class_name, text;
  bool with_names = false;
};
/// None if the row is the catalogue's.
std::optional<text_source> source_of(const catalog::row& row);

/// The text of a row that was loaded from a file; empty if the row is the catalogue's.
std::string_view text_of(const catalog::row& row);

}  // namespace kgate::tool
