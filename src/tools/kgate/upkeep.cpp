// SPDX-License-Identifier: Apache-2.0
// kgate resize, remove, doctor.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

using namespace gate_detail;

namespace {

std::string json_done(const std::string& name, const char* what) {
  return "{\"gate\":" + json_string(name) + ",\"done\":" + json_string(what) + "}\n";
}

/// A finding of the doctor.
struct finding {
  std::string gate;
  bool wrong;  ///< it is still so
  std::string text;
};

finding examine(const std::string& name, const place& where) {
  core gate;
  bool renewed = false;
  {
    segment before;
    if (!before.open_to_look(name, where)) renewed = !seems_sound(before.map());
  }
  if (const gate_failure failure = gate.open(name, 0, where)) return {name, true, failure.text};
  const int healed = gate.heal_all();
  const picture seen = look(gate.cells().map(), gate.file().fd());
  if (renewed)
    return {name, false,
            "its counts contradicted each other; nobody used it, so it was renewed with " + std::to_string(seen.slots) +
                " slots"};
  const std::string counts = std::to_string(seen.holders.size()) + " inside, " + std::to_string(seen.waiters.size()) +
                             " waiting, " + std::to_string(seen.slots) + " slots";
  if (healed > 0)
    return {name, false,
            "cleared away " + std::to_string(healed) + (healed == 1 ? " participant that" : " participants that") +
                " had died; " + counts};
  return {name, false, "in order: " + counts};
}

/// Files that a creation cut short left behind. A minute is long for a creation.
int sweep(const std::string& directory) {
  int swept = 0;
  DIR* const listing = opendir(directory.c_str());
  if (listing == nullptr) return 0;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.size() < 6 || file.front() != '.' || file.substr(file.size() - 4) != ".new") continue;
    struct stat there {};
    if (fstatat(dirfd(listing), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(there.st_mode) ||
        time(nullptr) - there.st_mtime < 60)
      continue;
    if (unlinkat(dirfd(listing), entry->d_name, 0) == 0) ++swept;
  }
  closedir(listing);
  return swept;
}

}  // namespace

int resize(const request& asked) {
  place where;
  where.directory = asked.dir;
  core gate;
  gate_failure failure = gate.open(asked.name, 0, where);
  const int before = failure ? 0 : gate.slots();
  membership mine;
  if (!failure) failure = gate.join("kgate resize", mine);
  if (failure) {
    complain(failure.text);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  if (gate.resize(mine, asked.slots) == outcome::retired) {
    complain("gate '" + asked.name + "' was removed");
    return exit_failed;
  }
  if (asked.json)
    print(json_done(asked.name, "resized"));
  else
    print(asked.name + ": " + std::to_string(asked.slots) + " slots (before: " + std::to_string(before) + ")\n");
  return exit_ok;
}

int remove(const request& asked) {
  place where;
  where.directory = asked.dir;
  core gate;
  const gate_failure failure = gate.open(asked.name, 0, where);
  const bool unreadable = failure.code == gate_errc::not_a_gate || failure.code == gate_errc::damaged;
  if (failure && !(asked.force && unreadable)) {
    complain(failure.text);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  if (failure) {
    if (unlink(path_of(directory_of(asked), asked.name).c_str()) != 0) {
      complain("cannot remove " + path_of(directory_of(asked), asked.name));
      return exit_failed;
    }
  } else if (!gate.remove(asked.force)) {
    complain("gate '" + asked.name + "' is in use (kgate status -n " + asked.name +
             "); remove it all the same with --force");
    return exit_failed;
  }
  print(asked.json ? json_done(asked.name, "removed") : asked.name + ": removed\n");
  return exit_ok;
}

int doctor(const request& asked) {
  const std::string directory = directory_of(asked);
  place where;
  where.directory = asked.dir;
  std::vector<std::string> names;
  if (asked.name.empty())
    names = names_in(directory);
  else
    names.push_back(asked.name);
  const int swept = asked.name.empty() ? sweep(directory) : 0;
  std::string out;
  int wrong = 0;
  for (const std::string& name : names) {
    const finding found = examine(name, where);
    wrong += found.wrong ? 1 : 0;
    if (asked.json)
      out += (out.empty() ? "" : ",") + std::string("{\"gate\":") + json_string(found.gate) +
             ",\"ok\":" + (found.wrong ? "false" : "true") + ",\"finding\":" + json_string(found.text) + "}";
    else
      out += found.gate + ": " + found.text + "\n";
  }
  if (asked.json) {
    print("{\"directory\":" + json_string(directory) + ",\"swept\":" + std::to_string(swept) + ",\"findings\":[" + out +
          "]}\n");
  } else {
    if (swept > 0)
      out += directory + ": removed " + std::to_string(swept) + " unfinished file" + (swept == 1 ? "" : "s") + "\n";
    print(out.empty() ? "no gates in " + directory + "\n" : out);
  }
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
