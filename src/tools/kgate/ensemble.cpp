// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/ensemble.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kgate::tool {

int become_cluster_program(char** argv, const request& options) {
  const std::string_view name = options.command->name;
  const int code = name == "run" || name == "hold" || name == "jobserver" ? exit_error : exit_failed;
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) {
    complain(std::string("cannot find the program kgate-cluster: ") + std::strerror(errno));
    return code;
  }
  const std::string here(self, static_cast<std::size_t>(length));
  const std::string beside = here.substr(0, here.rfind('/') + 1) + "kgate-cluster";
  execv(beside.c_str(), argv);
  if (errno == ENOENT)
    complain("gates between machines need the program kgate-cluster, which is not installed beside kgate");
  else
    complain("cannot run " + beside + ": " + std::strerror(errno));
  return code;
}

}  // namespace kgate::tool
