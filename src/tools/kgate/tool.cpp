// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/tool.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tools/common/numbers.hpp"
#include "tools/common/text.hpp"

namespace kgate::tool {

namespace {

/// Calls f with the first three fields of each line of a file like /etc/passwd.
template <class F>
void each_entry(std::FILE* file, F&& f) {
  char line[4096];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    std::vector<std::string> fields(3);
    std::size_t field = 0;
    for (const char* c = line; *c != '\0' && *c != '\n' && field < 3; ++c) {
      if (*c == ':')
        ++field;
      else
        fields[field] += *c;
    }
    f(fields);
  }
}

/// The number of the group in a file like /etc/group; empty if there is none.
std::string group_in(std::FILE* file, const std::string& group) {
  std::string found;
  each_entry(file, [&](const std::vector<std::string>& fields) {
    if (found.empty() && fields[0] == group) found = fields[2];
  });
  return found;
}

/// Files first, then getent, which knows the other sources of users (the tool is linked statically and cannot load
/// them).
std::string lookup_group(const std::string& group) {
  std::string found;
  if (std::FILE* file = std::fopen("/etc/group", "re")) {
    found = group_in(file, group);
    std::fclose(file);
  }
  if (found.empty() && group.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
                           std::string::npos) {
    if (std::FILE* pipe = popen(("getent group -- " + group + " 2>/dev/null").c_str(), "re")) {
      found = group_in(pipe, group);
      pclose(pipe);
    }
  }
  return found;
}

/// The names of users that were looked up, by number; a number where there is no name.
std::map<unsigned, std::string>& known_users() {
  static std::map<unsigned, std::string> all;
  return all;
}

volatile sig_atomic_t truncation_code = exit_failed;

void on_bus_error(int) {
  constexpr char text[] = "kgate: the gate's file was cut off while it was used; run `kgate doctor`\n";
  // The thread that watches other processes has no descriptors of the program (gate/death_watch.hpp). Opened again, a
  // file would be written from its start.
  const int error =
      write(STDERR_FILENO, text, sizeof text - 1) < 0 ? open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NOCTTY) : -1;
  if (error >= 0 && write(error, text, sizeof text - 1) < 0) _exit(truncation_code);
  _exit(truncation_code);
}

}  // namespace

void expect_truncation(int code) {
  truncation_code = code;
  signal(SIGBUS, on_bus_error);
}

void complain(std::string_view text) {
  const std::string line = "kgate: " + displayable(text) + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool flush_output() {
  static bool failed = false;
  if (!failed && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  if (!failed) complain("cannot write to standard output");
  failed = true;
  return false;
}

bool location_of(const request& options, detail::gates::location& out) {
  out.directory = options.dir;
  if (!options.group.empty()) {
    const std::optional<unsigned> number = group_number(options.group);
    if (!number) {
      complain("there is no group '" + options.group + "'");
      return false;
    }
    out.group = gid_t{*number};
    out.mode = 0660;
  }
  out.overtakings = options.overtake < 0 ? 0 : static_cast<unsigned>(options.overtake);
  if (options.mode >= 0) out.mode = static_cast<mode_t>(options.mode);
  return true;
}

std::string directory_of(const request& options) {
  detail::gates::location where;
  where.directory = options.dir;
  return detail::gates::directory_of(where);
}

std::string slots_taken(int inside, int slots) {
  return std::to_string(inside) + " of " + std::to_string(slots) + " slots taken" +
         (inside > slots ? " (" + std::to_string(inside - slots) + " over)" : "");
}

std::string gate_arguments(const request& options, std::string_view name) {
  std::string out = " -n " + std::string(name);
  if (!options.dir.empty()) {
    const bool plain = options.dir.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "/._-+,:@%") == std::string::npos;
    std::string quoted = options.dir;
    for (std::size_t at = 0; !plain && (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    out += " --dir " + (plain ? quoted : "'" + quoted + "'");
  }
  return out;
}

void complain(const gate_failure& failure, const request& options) {
  // The gates' own messages name gates without a directory: they do not know how the user named it.
  std::string text = failure.text;
  for (std::size_t at = 0; !options.dir.empty() && (at = text.find("kgate ", at)) != std::string::npos; at += 6) {
    const std::size_t name = text.find(" -n ", at);
    if (name == std::string::npos || text.find(' ', at + 6) != name) continue;
    const std::size_t end = std::min(text.find_first_of(" `", name + 4), text.size());
    if (text.compare(end, 7, " --dir ") == 0) continue;  // it has been said
    const std::string with = gate_arguments(options, text.substr(name + 4, end - name - 4));
    text.replace(name, end - name, with);
  }
  complain(text);
}

bool can_list(const request& options) {
  if (options.named) return true;
  const std::string directory = directory_of(options);
  if (DIR* const listing = opendir(directory.c_str())) {
    closedir(listing);
    return true;
  }
  const int error = errno;
  const char* const from_environment = std::getenv("KGATE_DIR");
  const bool is_named = !options.dir.empty() || (from_environment != nullptr && *from_environment != '\0');
  if (error == ENOENT && !is_named) return true;
  complain("cannot list " + directory + ": " + std::strerror(error));
  return false;
}

std::string no_such_gate(const request& options, const std::string& name) {
  const std::string directory = directory_of(options);
  const std::vector<std::string> names = detail::gates::names_in(directory);
  return "there is no gate '" + name + "' in " + directory + suggestion(name, {names.begin(), names.end()}, "");
}

gate_failure open_existing(const std::string& name, const request& options, detail::gates::core& gate) {
  detail::gates::location where;
  where.directory = options.dir;
  gate_failure failure = gate.open(name, 0, where);
  if (failure.code == gate_errc::not_found) failure.text = no_such_gate(options, name);
  return failure;
}

bool open_existing(const request& options, detail::gates::core& gate) {
  const gate_failure failure = open_existing(options.name(), options, gate);
  if (failure) complain(failure, options);
  return !failure;
}

void learn_user_names(const std::set<unsigned>& users) {
  std::map<std::string, unsigned> unknown;
  for (const unsigned user : users)
    if (known_users().count(user) == 0) unknown.emplace(std::to_string(user), user);
  const auto learn = [&](std::FILE* lines) {
    each_entry(lines, [&](const std::vector<std::string>& fields) {
      const auto found = unknown.find(fields[2]);
      if (found == unknown.end()) return;
      known_users().emplace(found->second, fields[0]);
      unknown.erase(found);
    });
  };
  if (std::FILE* file = unknown.empty() ? nullptr : std::fopen("/etc/passwd", "re")) {
    learn(file);
    std::fclose(file);
  }
  // Asking for one takes a third of a millisecond where there are many sources of users, and more where they are
  // remote: after a while numbers will do.
  constexpr std::size_t lookups_max = 100;
  constexpr std::int64_t asking_ns = 40'000'000;
  const std::int64_t until = detail::gates::now_ns() + asking_ns;
  while (!unknown.empty() && detail::gates::now_ns() < until) {
    std::string command = "getent passwd --";
    std::map<std::string, unsigned> later;
    while (unknown.size() > lookups_max) later.insert(unknown.extract(std::prev(unknown.end())));
    for (const auto& [text, user] : unknown) command += " " + text;
    if (std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "re")) {
      learn(pipe);
      pclose(pipe);
    }
    for (const auto& [text, user] : unknown) known_users().emplace(user, text);
    unknown = std::move(later);
  }
  for (const auto& [text, user] : unknown) known_users().emplace(user, text);
}

std::string user_name(unsigned user) {
  learn_user_names({user});
  return known_users().at(user);
}

std::optional<unsigned> group_number(const std::string& group) {
  const std::optional<unsigned> number = parse_id(group);
  return number ? number : parse_id(lookup_group(group));
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

std::string file_text(const std::string& path) {
  std::string out;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return out;
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, file)) > 0;) out.append(part, got);
  std::fclose(file);
  return out;
}

}  // namespace kgate::tool
