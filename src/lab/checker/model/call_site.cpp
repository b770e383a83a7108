// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/call_site.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace kgate::lab {

std::uint32_t site_number(const call_site& at) {
  static std::mutex mutex;
  static std::map<std::tuple<std::uint_least32_t, std::uint_least32_t, std::string, std::string>, std::uint32_t>
      numbers;
  const std::scoped_lock lock(mutex);
  return numbers
      .try_emplace({at.line(), at.column(), at.file_name(), at.function_name()},
                   static_cast<std::uint32_t>(numbers.size() + 1))
      .first->second;
}

}  // namespace kgate::lab
