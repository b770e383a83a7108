// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kgate::tool {

/// A page that appears whole or not at all: it is written beside its place and then moved there. Whether that can work
/// is found out before the work begins. Of several pages all are staged before the first is moved.
class page_file {
 public:
  /// Throws usage_error if nothing can be written there.
  page_file(std::string_view option, std::string path);
  page_file(const page_file&) = delete;
  page_file& operator=(const page_file&) = delete;
  /// What was staged and not moved goes.
  ~page_file();

  /// Writes the text beside its place. Throws failure if not all of it arrives; what was there before then stays.
  void stage(std::string_view text);
  /// Moves it to its place. Throws failure if that cannot be done.
  void commit();
  void write(std::string_view text) {
    stage(text);
    commit();
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string staged_;
};

}  // namespace kgate::tool
