// SPDX-License-Identifier: Apache-2.0
// kgate status, kgate list.
#include "tools/kgate/status.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tools/common/terminal.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate/json.hpp"
#include "tools/kgate/local_lease.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

view view_of(const std::string& name, const request& options) {
  view out{name, {}, {}};
  core gate;
  out.failure = open_existing(name, options, gate);
  if (!out.failure) {
    gate.heal_all();
    out.seen = take_snapshot(gate.cells().map(), &gate.file().locks());
  } else if (out.failure.code == gate_errc::no_permission) {
    location where;
    where.directory = options.dir;
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

bool is_stopped(int process, const std::string& host) {
  static const std::string here = [] {
    utsname names{};
    uname(&names);
    return std::string(names.nodename);
  }();
  if (process == 0 || host != here) return false;
  const std::string text = file_text("/proc/" + std::to_string(process) + "/stat");
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && (text[end + 2] == 'T' || text[end + 2] == 't');
}

json_value json_participant(const participant& who, bool inside) {
  json_value out = json_value::object();
  if (inside) {
    out["slot"] = who.slot < 0 ? json_value(nullptr) : json_value(who.slot);
    out["slots"] = who.slots;
  } else {
    out["position"] = who.position;
  }
  out["pid"] = who.process;
  out["command_pid"] = command_of(who) == 0 ? json_value(nullptr) : json_value(command_of(who));
  out["user"] = json_text(user_name(who.user));
  out["command"] = json_text(who.command);
  out["since"] = iso_time(who.since_ns);
  out["state"] = state_of(who, inside);
  out["host"] = json_text(who.host);
  out["weight"] = who.weight;
  return out;
}

json_value json_view(const view& gate) {
  json_value out = {{"name", gate.name},
                    {"slots", gate.seen.slots},
                    {"free", gate.seen.free_slots()},
                    {"over", gate.seen.slots_over()},
                    {"paused", gate.seen.paused},
                    {"overtake", gate.seen.overtakings},
                    {"holders", json_value::array()},
                    {"waiters", json_value::array()},
                    {"healed", gate.seen.healed}};
  for (const participant& who : gate.seen.holders) out["holders"].push_back(json_participant(who, true));
  for (const participant& who : gate.seen.waiters) out["waiters"].push_back(json_participant(who, false));
  return out;
}

std::string padded(const std::string& text, std::size_t width, bool right = false) {
  const std::size_t columns = columns_of(text);
  if (columns >= width) return text;
  const std::string space(width - columns, ' ');
  return right ? space + text : text + space;
}

/// "0", "0-3,7"
std::string slot_ranges(const std::vector<int>& slots) {
  std::string out;
  for (std::size_t i = 0; i < slots.size();) {
    std::size_t last = i;
    while (last + 1 < slots.size() && slots[last + 1] == slots[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(slots[i]) + (last > i ? "-" + std::to_string(slots[last]) : "");
    i = last + 1;
  }
  return out.empty() ? "-" : out;
}

std::string participant_line(const std::string& position, const participant& who, bool inside) {
  const std::string_view state = who.alive ? state_of(who, inside) : "dead";
  const bool remarkable = state != "running" && state != "waiting";
  return "  " + padded(position, 5, true) + "  " + padded(std::to_string(who.process), 7, true) + "  " +
         padded(command_of(who) == 0 ? "-" : std::to_string(command_of(who)), 7, true) + "  " +
         padded(displayable(user_name(who.user)), 10) + "  " + padded(span_text(seconds_since(who.since_ns)), 7, true) +
         "  " + (who.weight > 1 ? "(weight " + std::to_string(who.weight) + ") " : "") + displayable(who.command) +
         (remarkable ? "  [" + std::string(state) + "]" : "");
}

void arrange(std::vector<participant>& participants, const std::string& sort) {
  const auto by = [&](auto key) {
    std::stable_sort(participants.begin(), participants.end(),
                     [&](const participant& a, const participant& b) { return key(a) < key(b); });
  };
  if (sort == "time") by([](const participant& who) { return who.since_ns; });
  if (sort == "user") by([](const participant& who) { return who.user; });
  if (sort == "command") by([](const participant& who) { return who.command; });
}

}  // namespace

const char* state_of(const participant& who, bool inside) {
  if (is_stopped(command_of(who) != 0 ? command_of(who) : who.process, who.host)) return "stopped";
  if (!inside) return "waiting";
  if (who.command_process == token_offered) return "idle";
  return who.slot < 0 && who.command_process == 0 ? "starting" : "running";
}

int report_failures(const std::vector<view>& gates, const request& options) {
  int count = 0;
  for (const view& gate : gates) {
    if (!gate.failure) continue;
    complain(gate.failure, options);
    ++count;
  }
  return count;
}

int inside_of(const view& gate) {
  int count = 0;
  for (const participant& who : gate.seen.holders) count += who.weight;
  return count;
}

paint paint::for_stdout() { return {wants_colour(STDOUT_FILENO)}; }

std::string paint::operator()(const char* code, const std::string& text) const {
  return on && code != nullptr ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

std::vector<view> gate_views(const request& options) {
  std::vector<view> out;
  if (options.named) out.push_back(view_of(options.name(), options));
  for (const std::string& name : options.named ? std::vector<std::string>{} : names_in(directory_of(options))) {
    out.push_back(view_of(name, options));
    if (out.back().failure.code == gate_errc::not_found) out.pop_back();  // removed since it was listed
  }
  std::set<unsigned> users;
  for (const view& gate : out)
    for (const auto* both : {&gate.seen.holders, &gate.seen.waiters})
      for (const participant& who : *both) users.insert(who.user);
  learn_user_names(users);
  return out;
}

std::vector<view_line> lines_of(const view& gate, const std::string& sort) {
  std::vector<participant> holders = gate.seen.holders;
  std::vector<participant> waiters = gate.seen.waiters;
  arrange(holders, sort);
  arrange(waiters, sort);
  std::vector<view_line> out;
  out.push_back({gate.name + ": " + slots_taken(inside_of(gate), gate.seen.slots) + ", " +
                     std::to_string(waiters.size()) + " waiting" + (gate.seen.paused ? ", paused" : "") +
                     (gate.seen.healed != 0 ? ", " + std::to_string(gate.seen.healed) + " healed" : ""),
                 "1", &gate});
  if (!holders.empty()) out.push_back({"   slot    kgate  command  user          since  what", "2", &gate});
  for (const participant& who : holders)
    out.push_back({participant_line(slot_ranges(who.slots), who, true), "32", &gate, who, true, true});
  if (!waiters.empty()) out.push_back({"position   kgate  command  user         waited  what", "2", &gate});
  for (const participant& who : waiters)
    out.push_back({participant_line(std::to_string(who.position), who, false), "33", &gate, who, true, false});
  return out;
}

int status(const request& options) {
  if (!can_list(options)) return exit_failed;
  const std::vector<view> gates = gate_views(options);
  const int failures = report_failures(gates, options);
  const paint colour = paint::for_stdout();
  json_value document = json_document();
  json_value& list = document["gates"] = json_value::array();
  std::string out;
  for (const view& gate : gates) {
    if (gate.failure) continue;
    if (options.json)
      list.push_back(json_view(gate));
    else
      for (const view_line& line : lines_of(gate, "slot")) out += colour(line.colour, line.text) + "\n";
  }
  if (options.json)
    print_json(document);
  else if (gates.empty())
    complain("no gates in " + directory_of(options) + "; `kgate run" + gate_arguments(options, "NAME") +
             " -k K -- COMMAND` creates one");
  else
    print(out);
  return failures == 0 ? exit_ok : exit_failed;
}

int list(const request& options) {
  if (!can_list(options)) return exit_failed;
  const std::vector<view> gates = gate_views(options);
  const int failures = report_failures(gates, options);
  std::size_t widest = 4;
  for (const view& gate : gates) widest = std::max(widest, gate.name.size());
  std::string out = padded("NAME", widest) + "  SLOTS  INSIDE  WAITING\n";
  json_value document = json_document();
  json_value& all = document["gates"] = json_value::array();
  for (const view& gate : gates) {
    if (gate.failure) continue;
    const bool is_over = lease_through(directory_of(options), gate.name) == lease_state::over;
    if (is_over && !options.named && gate.seen.holders.empty() && gate.seen.waiters.empty()) continue;
    all.push_back({{"name", gate.name},
                   {"slots", gate.seen.slots},
                   {"inside", inside_of(gate)},
                   {"waiting", gate.seen.waiters.size()},
                   {"paused", gate.seen.paused}});
    out += padded(gate.name, widest) + padded(std::to_string(gate.seen.slots), 7, true) +
           padded(std::to_string(inside_of(gate)), 8, true) +
           padded(std::to_string(gate.seen.waiters.size()), 9, true) + (gate.seen.paused ? "  paused" : "") +
           (is_over ? "  of a lease that is over" : "") + "\n";
  }
  print(options, document, out);
  return failures == 0 ? exit_ok : exit_failed;
}

}  // namespace kgate::tool
