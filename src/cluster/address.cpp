// SPDX-License-Identifier: Apache-2.0
#include "cluster/address.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "gate/location.hpp"

namespace kgate::detail::cluster {

namespace {

using gates::visible;

constexpr const char* form = "zk://HOST[:PORT][,HOST[:PORT]]...[/PATH][?session=TIME]";

gate_failure bad(std::string_view text, const std::string& why) {
  return {gate_errc::bad_name, "'" + visible(text) + "' is no address of an ensemble: " + why + "; it is " + form};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-'; }

bool is_number(std::string_view text, int low, int high, int& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= low && out <= high;
}

/// HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT, with the port that is usual if there is none.
bool add_host(std::string_view text, std::string& out) {
  std::string_view host = text, port = "2181";
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    host = text.substr(1, end - 1);  // the library takes what is before the last colon
    if (!std::all_of(host.begin(), host.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.' || c == '%'; }))
      return false;
    text.remove_prefix(end + 1);
    if (!text.empty() && text.front() != ':') return false;
    if (!text.empty()) port = text.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (host.empty() || !std::all_of(host.begin(), host.end(), is_word)) return false;
  }
  int number = 0;
  if (!is_number(port, 1, 65535, number)) return false;
  out += (out.empty() ? "" : ",") + std::string(host) + ":" + std::to_string(number);
  return true;
}

bool is_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > 512) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == ".." || !std::all_of(part.begin(), part.end(), is_word)) return false;
    path.remove_prefix(part.size());
  }
  return true;
}

bool read_session(std::string_view text, std::chrono::milliseconds& out) {
  int scale = 1000;
  if (text.ends_with("ms")) {
    scale = 1;
    text.remove_suffix(2);
  } else if (text.ends_with("s")) {
    text.remove_suffix(1);
  } else if (text.ends_with("m")) {
    scale = 60'000;
    text.remove_suffix(1);
  }
  int number = 0;
  if (!is_number(text, 1, 600'000, number)) return false;
  out = std::chrono::milliseconds(std::int64_t{number} * scale);
  return out >= std::chrono::milliseconds(500) && out <= std::chrono::minutes(10);
}

}  // namespace

gate_failure parse_address(std::string_view text, address& out) {
  constexpr std::string_view scheme = "zk://";
  std::string_view rest = text;
  if (!rest.starts_with(scheme)) return bad(text, "it does not begin with zk://");
  rest.remove_prefix(scheme.size());
  if (const std::size_t question = rest.find('?'); question != std::string_view::npos) {
    constexpr std::string_view key = "session=";
    const std::string_view query = rest.substr(question + 1);
    if (!query.starts_with(key)) return bad(text, "after '?' only session=TIME is known");
    if (!read_session(query.substr(key.size()), out.session))
      return bad(text, "the session's time-out must be 500ms to 10m, as in session=5s");
    rest = rest.substr(0, question);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    std::string_view path = rest.substr(slash);
    if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    if (path != "/") {
      if (!is_path(path)) return bad(text, "the path must be parts of A-Z a-z 0-9 . _ - with a / before each");
      if (path == "/zookeeper" || path.starts_with("/zookeeper/"))
        return bad(text, "what is below /zookeeper is the servers' own");
      out.root = path;
    }
    rest = rest.substr(0, slash);
  }
  out.hosts.clear();
  while (true) {
    const std::size_t comma = rest.find(',');
    if (!add_host(rest.substr(0, comma), out.hosts))
      return bad(text, "'" + visible(rest.substr(0, comma)) + "' is no HOST or HOST:PORT");
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

gate_failure check_name(std::string_view name) {
  const bool begins_well = !name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) != 0;
  if (begins_well && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_word)) return {};
  return {gate_errc::bad_name, "'" + visible(name) +
                                   "' is no name of a gate: 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or "
                                   "digit"};
}

}  // namespace kgate::detail::cluster
