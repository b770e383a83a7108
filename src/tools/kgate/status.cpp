// SPDX-License-Identifier: Apache-2.0
// kgate status, kgate list.
#include "tools/kgate/status.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/common/terminal.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

view view_of(const std::string& name, const location& where) {
  view out{name, {}, {}};
  core gate;
  out.failure = gate.open(name, 0, where);
  if (!out.failure) {
    gate.heal_all();
    out.seen = take_snapshot(gate.cells().map(), &gate.file().locks());
  } else if (out.failure.code == gate_errc::no_permission) {
    segment file;
    if (const gate_failure failure = file.open_read_only(name, where)) return out;
    out.failure = {};
    out.seen = take_snapshot(file.map());
  }
  if (!out.failure && out.seen.settled && !out.seen.sound)
    out.failure = {
        gate_errc::damaged,
        "gate '" + name + "' is damaged: its counts contradict each other; run `kgate doctor -n " + name + "`"};
  return out;
}

std::string json_participant(const participant& who, bool inside) {
  std::string out = "{";
  if (inside)
    out += "\"slot\":" + (who.slot < 0 ? std::string("null") : std::to_string(who.slot));
  else
    out += "\"position\":" + std::to_string(who.position);
  out += ",\"pid\":" + std::to_string(who.process) + ",\"user\":" + json_string(user_name(who.user)) +
         ",\"command\":" + json_string(who.command) + ",\"since\":" + json_string(iso_time(who.since_ns)) +
         ",\"host\":" + json_string(who.host) + ",\"weight\":" + std::to_string(who.weight);
  return out + "}";
}

std::string json_participants(const std::vector<participant>& participants, bool inside) {
  std::string out = "[";
  for (const participant& who : participants) out += (out.size() > 1 ? "," : "") + json_participant(who, inside);
  return out + "]";
}

std::string json_view(const view& gate) {
  return "{\"name\":" + json_string(gate.name) + ",\"slots\":" + std::to_string(gate.seen.slots) +
         ",\"holders\":" + json_participants(gate.seen.holders, true) +
         ",\"waiters\":" + json_participants(gate.seen.waiters, false) +
         ",\"healed\":" + std::to_string(gate.seen.healed) + "}";
}

std::string padded(std::string text, std::size_t width, bool right = false) {
  if (text.size() >= width) return text;
  const std::string space(width - text.size(), ' ');
  return right ? space + text : text + space;
}

std::string participant_line(const std::string& place, const participant& who) {
  return "  " + padded(place, 5, true) + "  " + padded(std::to_string(who.process), 7, true) + "  " +
         padded(printable(user_name(who.user)), 10) + "  " + padded(span_text(seconds_since(who.since_ns)), 7, true) +
         "  " + (who.weight > 1 ? "(weight " + std::to_string(who.weight) + ") " : "") + printable(who.command) +
         (who.alive ? "" : "  [dead]");
}

void arrange(std::vector<participant>& participants, const std::string& sort) {
  if (sort == "time")
    std::stable_sort(participants.begin(), participants.end(),
                     [](const participant& a, const participant& b) { return a.since_ns < b.since_ns; });
  else if (sort == "user")
    std::stable_sort(participants.begin(), participants.end(),
                     [](const participant& a, const participant& b) { return a.user < b.user; });
  else if (sort == "command")
    std::stable_sort(participants.begin(), participants.end(),
                     [](const participant& a, const participant& b) { return a.command < b.command; });
}

/// Says what could not be seen. How many there were.
int report_failures(const std::vector<view>& gates) {
  int failures = 0;
  for (const view& gate : gates) {
    if (!gate.failure) continue;
    complain(gate.failure.text);
    ++failures;
  }
  return failures;
}

int inside_of(const view& gate) { return gate.seen.slots - gate.seen.free; }

}  // namespace

paint paint::for_stdout() { return {wants_colour(STDOUT_FILENO)}; }

std::string paint::operator()(const char* code, const std::string& text) const {
  return on ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

std::vector<view> gate_views(const request& options) {
  location where;
  where.directory = options.dir;
  std::vector<view> out;
  if (!options.name.empty()) {
    out.push_back(view_of(options.name, where));
    return out;
  }
  for (const std::string& name : names_in(directory_of(options))) {
    out.push_back(view_of(name, where));
    if (out.back().failure.code == gate_errc::not_found) out.pop_back();  // removed since it was listed
  }
  return out;
}

std::vector<std::string> lines_of(const view& gate, const std::string& sort, const paint& colour, std::size_t width) {
  std::vector<participant> holders = gate.seen.holders;
  std::vector<participant> waiters = gate.seen.waiters;
  arrange(holders, sort);
  arrange(waiters, sort);
  std::vector<std::string> out;
  const auto add = [&](const std::string& line, const char* code) {
    std::string text = line;
    if (width != 0 && text.size() > width) text.resize(width);
    out.push_back(code != nullptr ? colour(code, text) : text);
  };
  add(gate.name + ": " + std::to_string(inside_of(gate)) + " of " + std::to_string(gate.seen.slots) + " slots taken, " +
          std::to_string(waiters.size()) + " waiting" +
          (gate.seen.healed != 0 ? ", " + std::to_string(gate.seen.healed) + " healed" : ""),
      "1");
  if (!holders.empty()) add("   slot      pid  user          since  command", "2");
  for (const participant& who : holders)
    add(participant_line(who.slot < 0 ? "-" : std::to_string(who.slot), who), "32");
  if (!waiters.empty()) add("  place      pid  user         waited  command", "2");
  for (const participant& who : waiters) add(participant_line(std::to_string(who.position), who), "33");
  return out;
}

int status(const request& options) {
  const std::vector<view> gates = gate_views(options);
  const int failures = report_failures(gates);
  const paint colour = paint::for_stdout();
  std::string out;
  for (const view& gate : gates) {
    if (gate.failure) continue;
    if (options.json) {
      out += (out.empty() ? "" : ",") + json_view(gate);
      continue;
    }
    for (const std::string& line : lines_of(gate, "slot", colour, 0)) out += line + "\n";
  }
  if (options.json)
    print("{\"gates\":[" + out + "]}\n");
  else if (gates.empty())
    complain("no gates in " + directory_of(options) + "; `kgate run -n NAME -k K -- COMMAND` creates one");
  else
    print(out);
  return failures == 0 ? exit_ok : exit_failed;
}

int list(const request& options) {
  const std::vector<view> gates = gate_views(options);
  const int failures = report_failures(gates);
  std::string out;
  std::size_t widest = 4;
  for (const view& gate : gates) widest = std::max(widest, gate.name.size());
  if (!options.json) out = padded("NAME", widest) + "  SLOTS  INSIDE  WAITING\n";
  bool first = true;
  for (const view& gate : gates) {
    if (gate.failure) continue;
    if (options.json)
      out += (first ? "" : ",") + std::string("{\"name\":") + json_string(gate.name) +
             ",\"slots\":" + std::to_string(gate.seen.slots) + ",\"inside\":" + std::to_string(inside_of(gate)) +
             ",\"waiting\":" + std::to_string(gate.seen.waiters.size()) + "}";
    else
      out += padded(gate.name, widest) + padded(std::to_string(gate.seen.slots), 7, true) +
             padded(std::to_string(inside_of(gate)), 8, true) +
             padded(std::to_string(gate.seen.waiters.size()), 9, true) + "\n";
    first = false;
  }
  print(options.json ? "{\"gates\":[" + out + "]}\n" : out);
  return failures == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
