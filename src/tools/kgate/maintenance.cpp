// SPDX-License-Identifier: Apache-2.0
// kgate create, resize, remove, doctor.
#include <optional>

#include "tools/kgate/history.hpp"
#include "tools/kgate/jobserver_tokens.hpp"
#include "tools/kgate/json.hpp"
#include "tools/kgate/local_lease.hpp"
#include "tools/kgate/tool.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

std::string slots_text(int slots) { return std::to_string(slots) + (slots == 1 ? " slot" : " slots"); }

/// What was done to a gate, as text or JSON.
void report(const request& options, const char* done, const std::string& text, const json_value& more = {}) {
  if (!options.json) {
    print(options.name() + ": " + displayable(text) + "\n");
    return;
  }
  json_value document = json_document();
  document["gate"] = options.name();
  document["done"] = done;
  if (!more.is_null()) document.update(more);
  print_json(document);
}

/// A finding of the doctor.
struct finding {
  std::string gate;
  bool wrong;  ///< it is still so
  std::string text;
  bool absent = false;  ///< there is no such gate
};

/// Nothing if a gate that was not asked for by name has gone since it was listed.
std::optional<finding> examine(const std::string& name, const request& options) {
  core gate;
  bool renewed = false;
  {
    location where;
    where.directory = options.dir;
    segment before;
    if (!before.open_read_only(name, where)) renewed = !seems_sound(before.map());
  }
  if (const gate_failure failure = open_existing(name, options, gate)) {
    if (failure.code == gate_errc::not_found && !options.named) return std::nullopt;
    return finding{name, true, failure.text, failure.code == gate_errc::not_found};
  }
  const int healed = gate.heal_all();
  const snapshot seen = take_snapshot(gate.cells().map(), &gate.file().locks());
  if (renewed)
    return finding{
        name, false,
        "its counts contradicted each other; nobody used it, so it was renewed with " + slots_text(seen.slots)};
  const std::string counts = std::to_string(seen.holders.size()) + " inside, " + std::to_string(seen.waiters.size()) +
                             " waiting, " + slots_text(seen.slots) + (seen.paused ? ", paused" : "");
  if (healed > 0)
    return finding{name, false,
                   "healed " + std::to_string(healed) + (healed == 1 ? " participant that" : " participants that") +
                       " had died; " + counts};
  return finding{name, false, "in order: " + counts};
}

}  // namespace

int create(const request& options) {
  location where;
  if (!location_of(options, where)) return exit_usage;
  const auto exists = [&] {  // should it come or go in between, what is said of it is of a moment ago
    core there;
    return !there.open(options.name(), 0, where);
  };
  const bool existed = exists();
  const int slots = options.slots() == 0 ? 1 : options.slots();
  core gate;
  const gate_failure failure = existed && options.slots() == 0
                                   ? gate.open(options.name(), 0, where)
                                   : open_with_size({options.name(), slots, 0}, where, gate);
  if (failure) {
    complain(failure, options);
    return exit_failed;
  }
  if (options.slots() != 0 && gate.slots() != slots) {
    complain("gate '" + options.name() + "' exists and was resized to " + slots_text(gate.slots()) + ", not " +
             std::to_string(slots) + "; change it: kgate resize" + gate_arguments(options, options.name()) + " -k " +
             std::to_string(slots));
    return exit_failed;
  }
  if (existed) compare_with_options(options, options.gates.front(), gate);
  const std::string path = gate.file().path();
  report(options, existed ? "exists" : "created",
         (existed ? "exists already: " : "created: ") + slots_text(gate.slots()) + ", " + path,
         {{"slots", gate.slots()}, {"path", json_text(path)}});
  return exit_ok;
}

int resize(const request& options) {
  core gate;
  if (!open_existing(options, gate)) return exit_failed;
  if (is_lent_through(directory_of(options), options.name())) return exit_failed;
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
  if (result == outcome::damaged) {
    complain(gate.scribbled_failure(), options);
    return exit_failed;
  }
  report(options, "resized", slots_text(options.slots()) + " (before: " + std::to_string(before) + ")");
  return exit_ok;
}

int remove(const request& options) {
  core gate;
  const std::string path = path_of(directory_of(options), options.name());
  gate_failure failure = open_existing(options.name(), options, gate);
  if (failure.code == gate_errc::no_permission && options.force && let_owner_in(path))
    failure = open_existing(options.name(), options, gate);
  const bool unreadable = failure.code == gate_errc::not_a_gate || failure.code == gate_errc::damaged;
  if (failure && !(options.force && unreadable)) {
    complain(failure, options);
    return exit_failed;
  }
  if (is_lent_through(directory_of(options), options.name())) return exit_failed;
  const gate_failure refused = failure ? remove_unreadable(path) : gate.remove(options.force);
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
  if (!can_list(options)) return exit_failed;
  const std::string directory = directory_of(options);
  const int swept = options.named ? 0
                                  : sweep_leases(directory) + sweep_unfinished(directory, "") +
                                        sweep_histories(directory) + sweep_fifos();
  std::vector<std::string> names;
  if (options.named)
    names.push_back(options.name());
  else
    names = names_in(directory);
  std::string out;
  int wrong = 0;
  json_value document = json_document();
  document["directory"] = json_text(directory);
  document["swept"] = swept;
  json_value& findings = document["findings"] = json_value::array();
  for (const std::string& name : names) {
    const std::optional<finding> found = examine(name, options);
    if (!found) continue;
    if (found->absent && !options.json) {
      complain(found->text);
      return exit_failed;
    }
    wrong += found->wrong ? 1 : 0;
    findings.push_back({{"gate", found->gate}, {"ok", !found->wrong}, {"finding", json_text(found->text)}});
    out += found->gate + ": " + displayable(found->text) + "\n";
  }
  if (swept > 0)
    out += displayable(directory) + ": removed " + std::to_string(swept) + " left-over file" + (swept == 1 ? "" : "s") +
           "\n";
  print(options, document, out.empty() ? "no gates in " + displayable(directory) + "\n" : out);
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
