// SPDX-License-Identifier: Apache-2.0
// kgate create, resize, remove, doctor.
#include "tools/kgate/history.hpp"
#include "tools/kgate/jobserver_tokens.hpp"
#include "tools/kgate/json.hpp"
#include "tools/kgate/tool.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

/// What was done to a gate, as text or JSON.
void report(const request& options, const char* done, const std::string& text) {
  if (!options.json) {
    print(options.name() + ": " + text + "\n");
    return;
  }
  json_value document = json_document();
  document["gate"] = options.name();
  document["done"] = done;
  print_json(document);
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
  if (const gate_failure failure = open_existing(name, where, gate)) return {name, true, failure.text};
  const int healed = gate.heal_all();
  const snapshot seen = take_snapshot(gate.cells().map(), &gate.file().locks());
  if (renewed)
    return {name, false,
            "its counts contradicted each other; nobody used it, so it was renewed with " + std::to_string(seen.slots) +
                " slots"};
  const std::string counts = std::to_string(seen.holders.size()) + " inside, " + std::to_string(seen.waiters.size()) +
                             " waiting, " + std::to_string(seen.slots) + " slots" + (seen.paused ? ", paused" : "");
  if (healed > 0)
    return {name, false,
            "cleared away " + std::to_string(healed) + (healed == 1 ? " participant that" : " participants that") +
                " had died; " + counts};
  return {name, false, "in order: " + counts};
}

}  // namespace

int create(const request& options) {
  location where;
  if (!location_of(options, where)) return exit_usage;
  core gate;
  const int slots = options.slots() == 0 ? 1 : options.slots();
  if (const gate_failure failure = gate.open(options.name(), slots, where)) {
    complain(failure, options);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  if (gate.slots() != slots) {
    complain("gate '" + options.name() + "' exists and was resized to " + std::to_string(gate.slots()) +
             " slots; change it: kgate resize" + gate_arguments(options, options.name()) + " -k " +
             std::to_string(slots));
    return exit_failed;
  }
  report(options, "created", std::to_string(slots) + " slots, " + gate.file().path());
  return exit_ok;
}

int resize(const request& options) {
  core gate;
  if (!open_existing(options, gate)) return exit_failed;
  const int before = gate.slots();
  membership mine;
  if (const gate_failure failure = gate.join("kgate resize", mine)) {
    complain(failure, options);
    return exit_failed;
  }
  const outcome result = gate.resize(mine, options.slots());
  if (result == outcome::refused) {
    complain("no room for " + std::to_string(options.slots()) + " slots of gate '" + options.name() + "'");
    return exit_failed;
  }
  if (result == outcome::retired) {
    complain("gate '" + options.name() + "' was removed");
    return exit_failed;
  }
  report(options, "resized", std::to_string(options.slots()) + " slots (before: " + std::to_string(before) + ")");
  return exit_ok;
}

int remove(const request& options) {
  location where;
  where.directory = options.dir;
  core gate;
  const gate_failure failure = open_existing(options.name(), where, gate);
  const bool unreadable = failure.code == gate_errc::not_a_gate || failure.code == gate_errc::damaged;
  if (failure && !(options.force && unreadable)) {
    complain(failure, options);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_failed;
  }
  const gate_failure refused =
      failure ? remove_unreadable(path_of(directory_of(options), options.name())) : gate.remove(options.force);
  if (refused.code == gate_errc::in_use && !failure && !options.force) {
    const std::string it = gate_arguments(options, options.name());
    complain("gate '" + options.name() + "' is in use, see `kgate status" + it +
             "`; remove it all the same: kgate remove" + it + " --force");
    return exit_failed;
  }
  if (refused) {
    complain(refused, options);
    return exit_failed;
  }
  remove_history(directory_of(options), options.name());
  report(options, "removed", "removed");
  return exit_ok;
}

int doctor(const request& options) {
  const std::string directory = directory_of(options);
  location where;
  where.directory = options.dir;
  std::vector<std::string> names;
  if (options.named)
    names.push_back(options.name());
  else
    names = names_in(directory);
  const int swept = options.named ? 0 : sweep_unfinished(directory, "") + sweep_histories(directory) + sweep_fifos();
  std::string out;
  int wrong = 0;
  json_value document = json_document();
  document["directory"] = json_text(directory);
  document["swept"] = swept;
  json_value& findings = document["findings"] = json_value::array();
  for (const std::string& name : names) {
    const finding found = examine(name, where);
    wrong += found.wrong ? 1 : 0;
    findings.push_back({{"gate", found.gate}, {"ok", !found.wrong}, {"finding", json_text(found.text)}});
    out += found.gate + ": " + found.text + "\n";
  }
  if (swept > 0)
    out += directory + ": removed " + std::to_string(swept) + " left-over file" + (swept == 1 ? "" : "s") + "\n";
  if (options.json)
    print_json(document);
  else
    print(out.empty() ? "no gates in " + directory + "\n" : out);
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
