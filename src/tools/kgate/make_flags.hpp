// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What GNU make gets on its command line and in MAKEFLAGS, so that it uses the jobserver it is given.

#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

/// The words of a command, if it is make without its own -j, which would make it start a jobserver of its own. A word
/// that several options share, such as -kj4, is replaced by one that `texts` keeps.
std::vector<char*> without_jobs(const std::vector<char*>& words, std::vector<std::string>& texts);

/// MAKEFLAGS with this jobserver instead of any other, before the variables behind `--`.
std::string with_jobserver(std::string_view flags, int slots, const std::string& auth);

}  // namespace kgate::tool
