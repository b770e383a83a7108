// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/page_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/output/terminal.hpp"

namespace kgate::tool {

namespace {

/// A new file beside `path`; -1 with errno set if there can be none. Its name replaces the pattern.
int make_beside(const std::string& path, std::string& name) {
  name = path + ".XXXXXX";
  return ::mkostemp(name.data(), O_CLOEXEC);
}

}  // namespace

page_file::page_file(std::string_view option, std::string path) : path_(std::move(path)) {
  struct stat about {};
  std::string name;
  int error = 0;
  if (path_.empty()) {
    error = ENOENT;
  } else if (::stat(path_.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
  } else if (const int descriptor = make_beside(path_, name); descriptor >= 0) {
    ::close(descriptor);
    ::unlink(name.c_str());
  } else {
    error = errno;
  }
  if (error != 0)
    throw usage_error(
        fmt::format("{} needs a file that can be written, not '{}': {}", option, path_, std::strerror(error)));
}

page_file::~page_file() {
  if (!staged_.empty()) ::unlink(staged_.c_str());
}

void page_file::stage(std::string_view text) {
  std::string name;
  const int descriptor = make_beside(path_, name);
  if (descriptor >= 0) staged_ = name;
  // mkostemp makes a private file; a page is as readable as any other file its owner makes.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool done = descriptor >= 0 && ::fchmod(descriptor, 0666 & ~mask) == 0 && write_all(descriptor, text);
  int error = done ? 0 : errno;
  if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) throw failure(fmt::format("cannot write '{}': {}", path_, std::strerror(error)));
}

void page_file::commit() {
  if (std::rename(staged_.c_str(), path_.c_str()) != 0)
    throw failure(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  staged_.clear();
}

}  // namespace kgate::tool
