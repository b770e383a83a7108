// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kgate::tool {

/// A file that the user wants a result in, opened before the work begins, so that a mistake shows at once. What was
/// there stays until write(); a file that was made for nothing is removed.
class output_file {
 public:
  /// Throws usage_error if it cannot be opened.
  output_file(std::string_view option, std::string path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// Throws failure if not all of the text arrives.
  void write(std::string_view text);

 private:
  std::string path_;
  int descriptor_;
  bool made_ = false;
  bool written_ = false;
};

}  // namespace kgate::tool
