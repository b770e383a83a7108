// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/tool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace kgate::tool {

namespace {

/// A field of the line of a file like /etc/passwd whose field `key_field` is `key`; empty if there is none.
std::string lookup(std::FILE* file, int key_field, const std::string& key, int wanted_field) {
  std::string found;
  char line[4096];
  while (found.empty() && std::fgets(line, sizeof line, file) != nullptr) {
    std::string fields[3];
    int field = 0;
    for (const char* c = line; *c != '\0' && *c != '\n' && field < 3; ++c) {
      if (*c == ':')
        ++field;
      else
        fields[field] += *c;
    }
    if (fields[key_field] == key) found = fields[wanted_field];
  }
  return found;
}

/// Files first, then getent, which knows the other sources of users (the tool is linked statically and cannot load
/// them).
std::string lookup(const char* database, int key_field, const std::string& key, int wanted_field) {
  std::string found;
  if (std::FILE* file = std::fopen((std::string("/etc/") + database).c_str(), "re")) {
    found = lookup(file, key_field, key, wanted_field);
    std::fclose(file);
  }
  if (found.empty() &&
      key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == std::string::npos) {
    if (std::FILE* pipe = popen((std::string("getent ") + database + " -- " + key + " 2>/dev/null").c_str(), "re")) {
      found = lookup(pipe, key_field, key, wanted_field);
      pclose(pipe);
    }
  }
  return found;
}

volatile sig_atomic_t truncation_code = exit_failed;

void on_bus_error(int) {
  constexpr char text[] = "kgate: the gate's file was cut off while it was used; run `kgate doctor`\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(truncation_code);
  _exit(truncation_code);
}

}  // namespace

void expect_truncation(int code) {
  truncation_code = code;
  signal(SIGBUS, on_bus_error);
}

void complain(std::string_view text) {
  const std::string line = "kgate: " + std::string(text) + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool location_of(const request& options, detail::gates::location& out) {
  out.directory = options.dir;
  if (!options.group.empty()) {
    const long number = group_number(options.group);
    if (number < 0) {
      complain("there is no group '" + options.group + "'");
      return false;
    }
    out.group = static_cast<gid_t>(number);
    out.mode = 0660;
  }
  out.overtakings = static_cast<unsigned>(options.overtake);
  if (options.mode >= 0) out.mode = static_cast<mode_t>(options.mode);
  return true;
}

std::string directory_of(const request& options) {
  detail::gates::location where;
  where.directory = options.dir;
  return detail::gates::directory_of(where);
}

std::string name_of(const request& options) { return options.name.empty() ? "default" : options.name; }

std::string user_name(unsigned user) {
  static unsigned last_user = ~0U;
  static std::string last_name;
  if (user != last_user) {
    last_name = lookup("passwd", 2, std::to_string(user), 0);
    if (last_name.empty()) last_name = std::to_string(user);
    last_user = user;
  }
  return last_name;
}

long group_number(const std::string& group) {
  char* end = nullptr;
  const long number = std::strtol(group.c_str(), &end, 10);
  if (!group.empty() && *end == '\0' && number >= 0) return number;
  const std::string found = lookup("group", 0, group, 2);
  return found.empty() ? -1 : std::strtol(found.c_str(), nullptr, 10);
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20 || c == 0x7F) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else if (c < 0x80) {
      out += text[i];
    } else {
      // Only whole UTF-8 sequences: a command line may hold any bytes, and may have been cut off inside a character.
      const std::size_t length = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
      bool whole = length != 0 && c < 0xF5 && i + length <= text.size();
      for (std::size_t j = 1; whole && j < length; ++j)
        whole = (static_cast<unsigned char>(text[i + j]) & 0xC0) == 0x80;
      if (whole) {
        out += text.substr(i, length);
        i += length - 1;
      } else {
        out += "\\ufffd";
      }
    }
  }
  return out + "\"";
}

std::string iso_time(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000U);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string span_text(double seconds) {
  const long s = seconds < 0 ? 0 : static_cast<long>(seconds);
  char text[40];
  if (s < 60)
    std::snprintf(text, sizeof text, "%lds", s);
  else if (s < 3600)
    std::snprintf(text, sizeof text, "%ldm%02lds", s / 60, s % 60);
  else if (s < 86400)
    std::snprintf(text, sizeof text, "%ldh%02ldm", s / 3600, s / 60 % 60);
  else
    std::snprintf(text, sizeof text, "%ldd%ldh", s / 86400, s / 3600 % 24);
  return text;
}

double seconds_since(std::uint64_t wall_ns) {
  std::timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         static_cast<double>(wall_ns) * 1e-9;
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return out;
}

}  // namespace kgate::tool
