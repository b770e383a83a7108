// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/this_machine.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/experiments/native_queue.hpp"

namespace kgate::lab {

nlohmann::json this_machine() {
  std::string processor = "unknown";
  std::ifstream about("/proc/cpuinfo");
  for (std::string line; std::getline(about, line);)
    if (line.starts_with("model name") && line.find(':') != std::string::npos) {
      processor = line.substr(line.find(':') + 2);
      break;
    }
  utsname system{};
  ::uname(&system);
#ifdef __clang__
  const std::string compiler = std::string("clang ") + __VERSION__;
#else
  const std::string compiler = std::string("gcc ") + __VERSION__;
#endif
  return {{"processor", processor},
          {"processors", native_processors()},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"compiler", compiler},
          {"version", KGATE_VERSION}};
}

}  // namespace kgate::lab
