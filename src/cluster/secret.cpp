// SPDX-License-Identifier: Apache-2.0
#include "cluster/secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kgate/gate_error.hpp"

namespace kgate::detail::cluster {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw gate_error({gate_errc::no_permission, why}); }

std::string first_line(const char* path) {
  const std::string name = std::string("the file of KGATE_ZK_AUTH_FILE, ") + path + ",";
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) refuse(name + " cannot be read: " + std::strerror(errno));
  struct stat about {};
  char text[1024];
  const bool known = fstat(fd, &about) == 0;
  const ssize_t size = known && S_ISREG(about.st_mode) ? read(fd, text, sizeof text) : -1;
  close(fd);
  if (size < 0) refuse(name + " cannot be read");
  if ((about.st_mode & 077) != 0) refuse(name + " can be read by others; chmod 600 it");
  const std::string all(text, static_cast<std::size_t>(size));
  const std::string line = all.substr(0, all.find('\n'));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// What a variable says, if it is set. One that is empty was meant to say something.
const char* setting(const char* name) {
  const char* const text = std::getenv(name);
  if (text != nullptr && *text == '\0')
    refuse(std::string(name) + " is set and empty; unset it if gates shall be open to all");
  return text;
}

}  // namespace

std::string find_secret(const std::string& given) {
  std::string secret = given;
  if (secret.empty())
    if (const char* direct = setting("KGATE_ZK_AUTH")) secret = direct;
  if (secret.empty())
    if (const char* path = setting("KGATE_ZK_AUTH_FILE")) {
      secret = first_line(path);
      if (secret.empty()) refuse("the file of KGATE_ZK_AUTH_FILE is empty; it must hold user:password");
    }
  const std::size_t colon = secret.find(':');
  if (!secret.empty() && (colon == std::string::npos || colon == 0 || colon + 1 == secret.size()))
    refuse("the secret for the ensemble must be user:password");
  return secret;
}

}  // namespace kgate::detail::cluster
