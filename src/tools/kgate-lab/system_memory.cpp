// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/system_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace kgate::tool {

std::uint64_t system_memory() {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // Version 2 and version 1 of control groups; a limit that is not set reads as "max" or as a huge number.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace kgate::tool
