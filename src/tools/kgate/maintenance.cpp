// SPDX-License-Identifier: Apache-2.0
// kgate resize, remove, doctor.
#include "tools/kgate/tool.hpp"

namespace kgate::tool {

using namespace detail::gates;

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

finding examine(const std::string& name, const location& where) {
  core gate;
  bool renewed = false;
  {
    segment before;
    if (!before.open_read_only(name, where)) renewed = !seems_sound(before.map());
  }
  if (const gate_failure failure = gate.open(name, 0, where)) return {name, true, failure.text};
  const int healed = gate.heal_all();
  const snapshot seen = take_snapshot(gate.cells().map(), &gate.file().locks());
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

}  // namespace

int resize(const request& options) {
  location where;
  where.directory = options.dir;
  core gate;
  gate_failure failure = gate.open(options.name, 0, where);
  const int before = failure ? 0 : gate.slots();
  membership mine;
  if (!failure) failure = gate.join("kgate resize", mine);
  if (failure) {
    complain(failure.text);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  if (gate.resize(mine, options.slots) == outcome::retired) {
    complain("gate '" + options.name + "' was removed");
    return exit_failed;
  }
  if (options.json)
    print(json_done(options.name, "resized"));
  else
    print(options.name + ": " + std::to_string(options.slots) + " slots (before: " + std::to_string(before) + ")\n");
  return exit_ok;
}

int remove(const request& options) {
  location where;
  where.directory = options.dir;
  core gate;
  const gate_failure failure = gate.open(options.name, 0, where);
  const bool unreadable = failure.code == gate_errc::not_a_gate || failure.code == gate_errc::damaged;
  if (failure && !(options.force && unreadable)) {
    complain(failure.text);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  const gate_failure refused =
      failure ? remove_unreadable(path_of(directory_of(options), options.name)) : gate.remove(options.force);
  if (refused.code == gate_errc::in_use && !failure && !options.force) {
    complain("gate '" + options.name + "' is in use (kgate status -n " + options.name +
             "); remove it all the same with --force");
    return exit_failed;
  }
  if (refused) {
    complain(refused.text);
    return exit_failed;
  }
  print(options.json ? json_done(options.name, "removed") : options.name + ": removed\n");
  return exit_ok;
}

int doctor(const request& options) {
  const std::string directory = directory_of(options);
  location where;
  where.directory = options.dir;
  std::vector<std::string> names;
  if (options.name.empty())
    names = names_in(directory);
  else
    names.push_back(options.name);
  const int swept = options.name.empty() ? sweep_unfinished(directory, "") : 0;
  std::string out;
  int wrong = 0;
  for (const std::string& name : names) {
    const finding found = examine(name, where);
    wrong += found.wrong ? 1 : 0;
    if (options.json)
      out += (out.empty() ? "" : ",") + std::string("{\"gate\":") + json_string(found.gate) +
             ",\"ok\":" + (found.wrong ? "false" : "true") + ",\"finding\":" + json_string(found.text) + "}";
    else
      out += found.gate + ": " + found.text + "\n";
  }
  if (options.json) {
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
