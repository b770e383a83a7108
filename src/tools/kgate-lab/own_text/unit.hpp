// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A translation unit compiled against the headers that travel inside the tool, and loaded into it.

#include <filesystem>
#include <string>
#include <vector>

#include "tools/kgate-lab/own_text/compiler.hpp"

namespace kgate::tool {

struct loaded_unit {
  compilation made;
  void* library = nullptr;  ///< for dlsym, if it compiled; stays until the tool ends
};

/// Throws usage_error if there is no compiler, std::runtime_error if what was compiled cannot be loaded.
loaded_unit load_unit(const std::string& text, const std::vector<std::filesystem::path>& include_folders = {});

}  // namespace kgate::tool
