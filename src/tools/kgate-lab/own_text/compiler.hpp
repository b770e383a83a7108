// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The C++ compiler of this machine.

#include <filesystem>
#include <string>
#include <vector>

namespace kgate::tool {

/// A folder of its own for temporary files, removed with everything in it.
class scratch_folder {
 public:
  /// Throws std::system_error.
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct compilation {
  bool found = true;  ///< there is a compiler
  bool succeeded = false;
  std::string compiler;  ///< which one
  std::string said;      ///< on its stderr
};

/// Makes a shared object of one source: by $CXX if that is set, else by c++, g++ or clang++, whichever is there first.
compilation compile_shared(const std::filesystem::path& source, const std::filesystem::path& output,
                           const std::vector<std::filesystem::path>& include_folders);

}  // namespace kgate::tool
