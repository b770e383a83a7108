// SPDX-License-Identifier: Apache-2.0
#include "cluster/records.hpp"

#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace kgate::detail::cluster {

namespace {

constexpr std::string_view gate_mark = "kgate gate ";

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string session_and_number(std::uint64_t session, std::uint64_t number) {
  char text[64];
  std::snprintf(text, sizeof text, "%llx-%llu", static_cast<unsigned long long>(session),
                static_cast<unsigned long long>(number));
  return text;
}

bool is_session_and_number(std::string_view text) {
  const std::size_t dash = text.rfind('-');
  return dash != std::string_view::npos && number<std::uint64_t>(text.substr(0, dash), 16) &&
         number<std::uint64_t>(text.substr(dash + 1));
}

/// One line of text: control characters would begin another one, or reach a terminal.
std::string one_line(std::string_view text) {
  std::string out(text.substr(0, 256));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return out;
}

/// The value of the line KEY=VALUE, empty if there is none.
std::string_view value_of(std::string_view data, std::string_view key) {
  while (!data.empty()) {
    const std::size_t end = data.find('\n');
    const std::string_view line = data.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      return line.substr(key.size() + 1);
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  return {};
}

std::string own_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string own_user() {
  const passwd* const entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(geteuid());
}

}  // namespace

std::string gate_data(const gate_reading& gate) {
  return std::string(gate_mark) + std::to_string(layout_version) + "\nid=" + gate.id +
         "\nslots=" + std::to_string(gate.slots) + "\ncreated=" + std::to_string(gate.created_with) + "\n" +
         (gate.paused ? "paused=1\n" : "") + (gate.resized ? "resized=1\n" : "");
}

bool is_gate_data(std::string_view data) { return data.starts_with(gate_mark); }

gate_reading read_gate_data(std::string_view data) {
  gate_reading out;
  if (!is_gate_data(data)) {
    out.wrong = "a node that is no gate of kgate";
    return out;
  }
  const std::string_view first = data.substr(gate_mark.size(), data.find('\n') - gate_mark.size());
  const std::optional<int> version = number<int>(first);
  if (!version || *version != layout_version) {
    out.wrong = "a gate of another version of kgate ('" + one_line(first) + "', this one knows " +
                std::to_string(layout_version) + ")";
    return out;
  }
  out.ours = true;
  out.id = value_of(data, "id");
  out.slots = number<int>(value_of(data, "slots")).value_or(0);
  out.created_with = number<int>(value_of(data, "created")).value_or(out.slots);
  out.paused = value_of(data, "paused") == "1";
  out.resized = value_of(data, "resized") == "1" || (out.created_with != 0 && out.created_with != out.slots);
  if (out.slots < 1 || out.slots > slots_max) out.wrong = "a gate whose size is not 1 to " + std::to_string(slots_max);
  if (!is_session_and_number(out.id)) out.wrong = "a gate without an id";
  return out;
}

std::string make_gate_id(std::uint64_t session, std::uint64_t number) { return session_and_number(session, number); }
std::string queue_of(const std::string& gate, const std::string& id) { return gate + "/q-" + id; }
std::string slots_of(const std::string& gate, const std::string& id) { return gate + "/s-" + id; }
char kind_of_part(std::string_view node) {
  const bool known = (node.starts_with("q-") || node.starts_with("s-")) && is_session_and_number(node.substr(2));
  return known ? node.front() : '\0';
}

std::string to_data(const participant_data& who) {
  return "request=" + one_line(who.request) + "\nhost=" + one_line(who.host) + "\npid=" + std::to_string(who.process) +
         "\nuser=" + one_line(who.user) + "\ncommand=" + one_line(who.command) +
         "\nweight=" + std::to_string(who.weight) + "\n";
}

participant_data describe_self(const std::string& command, int weight) {
  participant_data who;
  who.host = own_host();
  who.process = getpid();
  who.user = own_user();
  who.command = command.empty() ? program_invocation_short_name : command;
  who.weight = weight;
  return who;
}

participant_data read_participant(std::string_view data) {
  participant_data out;
  out.request = one_line(value_of(data, "request"));
  out.host = one_line(value_of(data, "host"));
  out.process = number<int>(value_of(data, "pid")).value_or(0);
  out.user = one_line(value_of(data, "user"));
  out.command = one_line(value_of(data, "command"));
  out.weight = std::clamp(number<int>(value_of(data, "weight")).value_or(1), 1, slots_max);
  return out;
}

std::string waiter_name::node() const {
  char digits[16];
  std::snprintf(digits, sizeof digits, "_%010d", sequence);
  return request + digits;
}

std::optional<waiter_name> parse_waiter(std::string_view node) {
  const std::size_t line = node.rfind('_');
  if (!node.starts_with("w-") || line == std::string_view::npos) return std::nullopt;
  const std::optional<std::int32_t> sequence = number<std::int32_t>(node.substr(line + 1));
  const std::string_view request = node.substr(0, line);
  if (!sequence || line < 2 || !is_session_and_number(request.substr(2))) return std::nullopt;
  waiter_name out{std::string(request), *sequence};
  if (out.node() != node) return std::nullopt;
  return out;
}

std::string request_name(std::uint64_t session, std::uint64_t number) {
  return "w-" + session_and_number(session, number);
}

std::uint64_t session_of(std::string_view request) {
  const std::size_t dash = request.rfind('-');
  if (!request.starts_with("w-") || dash == std::string_view::npos || dash < 2) return 0;
  return number<std::uint64_t>(request.substr(2, dash - 2), 16).value_or(0);
}

std::optional<int> parse_slot(std::string_view node) {
  const std::optional<int> slot = number<int>(node);
  if (!slot || *slot < 0 || *slot >= slots_max || std::to_string(*slot) != node) return std::nullopt;
  return slot;
}

}  // namespace kgate::detail::cluster
