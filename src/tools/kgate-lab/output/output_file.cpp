// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/output/terminal.hpp"

namespace kgate::tool {

output_file::output_file(std::string_view option, std::string path) : path_(std::move(path)) {
  made_ = ::access(path_.c_str(), F_OK) != 0;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw usage_error(
        fmt::format("{} needs a file that can be written, not '{}': {}", option, path_, std::strerror(errno)));
}

output_file::~output_file() {
  ::close(descriptor_);
  if (made_ && !written_) ::unlink(path_.c_str());
}

void output_file::write(std::string_view text) {
  struct stat about {};
  const bool regular = ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
  if ((regular && ::ftruncate(descriptor_, 0) != 0) || !write_all(descriptor_, text))
    throw failure(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  written_ = true;
}

}  // namespace kgate::tool
