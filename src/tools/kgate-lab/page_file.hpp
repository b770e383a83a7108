// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kgate::tool {

/// A page that appears whole or not at all: it is written beside its place and then moved there. Whether that can work is
/// found out before the work begins.
class page_file {
 public:
  /// Throws usage_error if nothing can be written there.
  page_file(std::string_view option, std::string path);

  /// Throws failure if not all of the text arrives; what was there before then stays.
  void write(std::string_view text) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kgate::tool
