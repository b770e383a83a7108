// SPDX-License-Identifier: Apache-2.0
// kgate status, list, top, wait and drain --on.
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "cluster/gate_nodes.hpp"
#include "cluster/records.hpp"
#include "tools/common/terminal.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate/json.hpp"

namespace kgate::tool::cluster {

namespace {

using namespace detail::cluster;

std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int one : numbers) text += (text.empty() ? "" : ",") + std::to_string(one);
  return text;
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string line_of(const std::string& position, const cluster_participant& who) {
  return padded_left(position, 7) + padded_left(displayable(who.host), 16) +
         padded_left(std::to_string(who.process), 9) + padded_left(displayable(who.user), 12) +
         padded_left(span_text(age_of(who)), 9) + "  " + displayable(who.command) +
         (who.weight > 1 ? " (weight " + std::to_string(who.weight) + ")" : "");
}

int inside_of(const view& gate) { return gate.seen.slots - gate.seen.free + gate.seen.over; }

std::string text_of(const std::vector<view>& gates) {
  std::string out;
  for (const view& gate : gates) {
    out += gate.name + ": " + slots_taken(inside_of(gate), gate.seen.slots) + ", " +
           std::to_string(gate.seen.waiters.size()) + " waiting" + (gate.seen.paused ? ", paused" : "") + "\n";
    if (!gate.seen.holders.empty()) out += "   slot            host    kgate        user    since  what\n";
    for (const cluster_participant& who : gate.seen.holders) out += line_of(list_of(who.slots), who) + "\n";
    if (!gate.seen.waiters.empty()) out += "position           host    kgate        user   waited  what\n";
    for (const cluster_participant& who : gate.seen.waiters) out += line_of(std::to_string(who.position), who) + "\n";
  }
  return out;
}

json_value json_of(const cluster_participant& who, bool inside) {
  json_value out = json_value::object();
  if (inside) {
    out["slot"] = who.slots.empty() ? json_value(nullptr) : json_value(who.slots.front());
    out["slots"] = who.slots;
    out["token"] = who.token;
  } else {
    out["position"] = who.position;
  }
  out["pid"] = who.process;
  out["command_pid"] = nullptr;
  out["user"] = json_text(who.user);
  out["command"] = json_text(who.command);
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(who.since.time_since_epoch());
  out["since"] = iso_time(static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0)));
  out["state"] = inside ? "running" : "waiting";
  out["host"] = json_text(who.host);
  out["weight"] = who.weight;
  out["request"] = json_text(who.request);
  return out;
}

json_value json_of(const view& gate) {
  json_value out = {{"name", gate.name},
                    {"slots", gate.seen.slots},
                    {"free", gate.seen.free},
                    {"over", gate.seen.over},
                    {"paused", gate.seen.paused},
                    {"overtake", 0},
                    {"holders", json_value::array()},
                    {"waiters", json_value::array()},
                    {"healed", 0}};
  for (const cluster_participant& who : gate.seen.holders) out["holders"].push_back(json_of(who, true));
  for (const cluster_participant& who : gate.seen.waiters) out["waiters"].push_back(json_of(who, false));
  return out;
}

void arrange(std::vector<cluster_participant>& all, const std::string& key) {
  std::stable_sort(all.begin(), all.end(), [&](const cluster_participant& a, const cluster_participant& b) {
    if (key == "time") return a.since < b.since;
    if (key == "user") return a.user < b.user;
    if (key == "command") return a.command < b.command;
    return false;
  });
}

gate_views sorted_views(const request& options, connection& to) {
  gate_views out = read_views(options, to);
  for (view& gate : out.gates) {
    arrange(gate.seen.holders, options.sort);
    arrange(gate.seen.waiters, options.sort);
  }
  return out;
}

/// Until the gate is so, or the time is over.
template <class Done>
int wait_until(const request& options, connection& to, Done&& done) {
  const auto began = std::chrono::steady_clock::now();
  const std::string gate = to.where.root + "/" + options.name(), id = read_gate(*to.session, gate).id;
  for (;;) {
    try {
      if (done(read_status(*to.session, gate, id))) return exit_ok;
    } catch (const gate_error& error) {
      if (error.code() != gate_errc::not_found) throw;
      complain("gate '" + options.name() + "' was removed while somebody was inside or waited");
      return exit_lost;
    }
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (options.timeout_s >= 0 && waited >= options.timeout_s) return exit_timed_out;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// Keys one by one, without being shown.
class raw_input {
 public:
  raw_input() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    set_ = true;
  }
  raw_input(const raw_input&) = delete;
  raw_input& operator=(const raw_input&) = delete;
  ~raw_input() {
    if (set_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  /// The key that was pressed within a second, or 0. q if there is no keyboard any more.
  char key() const {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    if (!set_ || poll(&keys, 1, 1000) <= 0) {
      if (!set_) std::this_thread::sleep_for(std::chrono::seconds(1));
      return '\0';
    }
    char pressed = 0;
    return read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : 'q';
  }

 private:
  termios before_{};
  bool set_ = false;
};

}  // namespace

connection::connection(const request& options) {
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  session = open_session(where, connect_timeout());
}

std::vector<std::string> gate_names(const request& options, connection& to) {
  if (!options.named) return gates_below(*to.session, to.where.root);
  if (const gate_failure failure = check_name(options.name())) throw gate_error(failure);
  return {options.name()};
}

int gate_views::report() const {
  for (const std::string& one : failures) complain(one);
  return failures.empty() ? exit_ok : exit_failed;
}

gate_views read_views(const request& options, connection& to) {
  gate_views out;
  for (const std::string& name : gate_names(options, to)) {
    const std::string gate = to.where.root + "/" + name;
    try {
      if (!options.named && !is_gate_there(*to.session, gate)) continue;  // removed meanwhile, or something else's
      out.gates.push_back({name, read_status(*to.session, gate)});
    } catch (const gate_error& error) {
      if (options.named || error.code() == gate_errc::system) throw;
      if (error.code() == gate_errc::not_found) continue;
      out.failures.push_back("gate '" + displayable(name) + "': " + displayable(error.what()));
    }
  }
  return out;
}

double age_of(const cluster_participant& who) {
  const double seconds = std::chrono::duration<double>(std::chrono::system_clock::now() - who.since).count();
  return std::max(seconds, 0.0);  // the servers' clock may be ahead
}

int status(const request& options) {
  connection to(options);
  const gate_views seen = read_views(options, to);
  const std::vector<view>& gates = seen.gates;
  const int code = seen.report();
  if (options.json) {
    json_value document = json_document();
    json_value& list = document["gates"] = json_value::array();
    for (const view& gate : gates) list.push_back(json_of(gate));
    print_json(document);
  } else if (gates.empty() && code == exit_ok) {
    complain("no gates below " + to.where.root + " on " + options.on +
             "; `kgate run --on ADDRESS -n NAME -k K -- COMMAND` creates one");
  } else {
    print(text_of(gates));
  }
  return code;
}

int list(const request& options) {
  connection to(options);
  json_value document = json_document();
  json_value& all = document["gates"] = json_value::array();
  std::string out = "SLOTS  INSIDE  WAITING  NAME\n";
  const gate_views seen = read_views(options, to);
  const int code = seen.report();
  for (const view& gate : seen.gates) {
    all.push_back({{"name", gate.name},
                   {"slots", gate.seen.slots},
                   {"inside", inside_of(gate)},
                   {"waiting", gate.seen.waiters.size()},
                   {"paused", gate.seen.paused}});
    out += padded_left(std::to_string(gate.seen.slots), 5) + padded_left(std::to_string(inside_of(gate)), 8) +
           padded_left(std::to_string(gate.seen.waiters.size()), 9) + "  " + gate.name +
           (gate.seen.paused ? " (paused)" : "") + "\n";
  }
  if (options.json)
    print_json(document);
  else
    print(out);
  return code;
}

int top(const request& options) {
  connection to(options);
  if (options.once || !terminal_width(STDOUT_FILENO) || terminal_is_dumb()) {
    const gate_views seen = sorted_views(options, to);
    print(text_of(seen.gates));
    return seen.report();
  }
  const raw_input keys;
  request shown = options;
  for (char key = '\0'; key != 'q'; key = keys.key()) {
    for (const char* const order : {"slot", "time", "user", "command"})
      if (key == order[0]) shown.sort = order;
    const gate_views seen = sorted_views(shown, to);
    std::string text = "\033[H\033[J" + options.on + ", by " + (shown.sort.empty() ? "slot" : shown.sort) +
                       " (s, t, u, c: by slot, time, user, command; q ends)\n" + text_of(seen.gates);
    for (const std::string& one : seen.failures) text += one + "\n";
    print(text);
    std::fflush(stdout);
  }
  return exit_ok;
}

int wait(const request& options) {
  connection to(options);
  if (const gate_failure failure = check_name(options.name())) throw gate_error(failure);
  return wait_until(options, to, [&](const cluster_status& seen) {
    const auto is_it = [&](const cluster_participant& who) { return options.pid == 0 || who.process == options.pid; };
    return std::none_of(seen.holders.begin(), seen.holders.end(), is_it) &&
           std::none_of(seen.waiters.begin(), seen.waiters.end(), is_it);
  });
}

int drain(const request& options) {
  connection to(options);
  if (const gate_failure failure = check_name(options.name())) throw gate_error(failure);
  pause_gate(*to.session, to.where.root + "/" + options.name(), true);
  const int code = wait_until(options, to, [](const cluster_status& seen) { return seen.holders.empty(); });
  if (code == exit_timed_out)
    complain("somebody is still inside gate '" + options.name() + "', which stays paused; `kgate resume" +
             gate_arguments_on(options, options.name()) + "` lets others in again");
  return code;
}

}  // namespace kgate::tool::cluster
