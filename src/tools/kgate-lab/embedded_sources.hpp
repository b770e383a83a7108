// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The texts of the algorithms, put into the program when it is built.

#include <string_view>
#include <vector>

namespace kgate::tool {

struct embedded_source {
  std::string_view name;  ///< the header's name below include/kgate/algorithms
  std::string_view text;
};

const std::vector<embedded_source>& embedded_sources();

/// The headers that a text of the user's is compiled against, by the names they are included by.
const std::vector<embedded_source>& embedded_headers();

/// A text to start from; CLASS stands for its class.
std::string_view text_template();

}  // namespace kgate::tool
