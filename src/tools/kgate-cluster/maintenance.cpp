// SPDX-License-Identifier: Apache-2.0
// kgate create, resize, pause, resume, remove, cancel and doctor --on.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cluster/gate_nodes.hpp"
#include "cluster/records.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"
#include "tools/kgate-cluster/records.hpp"
#include "tools/kgate/json.hpp"

namespace kgate::tool::cluster {

namespace {

using namespace detail::cluster;

void report(const request& options, const char* done, const std::string& text, const json_value& more = {}) {
  if (!options.json) {
    print(options.name() + ": " + text + "\n");
    return;
  }
  json_value document = json_document();
  document["gate"] = options.name();
  document["done"] = done;
  if (!more.is_null()) document.update(more);
  print_json(document);
}

std::string slots_text(int slots) { return std::to_string(slots) + (slots == 1 ? " slot" : " slots"); }

/// What the doctor found, one line each.
class findings {
 public:
  void add(bool ok, const std::string& about, const std::string& text, bool is_gate = false) {
    wrong_ += ok ? 0 : 1;
    const json_value name = json_text(about);
    list_.push_back({{"about", name}, {"gate", is_gate ? name : nullptr}, {"ok", ok}, {"finding", json_text(text)}});
    text_ += about + ": " + displayable(text) + "\n";
  }
  int print_all(const request& options) const {
    json_value document = json_document();
    document["ensemble"] = json_text(options.on);
    document["findings"] = list_;
    if (options.json)
      print_json(document);
    else
      print(text_);
    return wrong_ == 0 ? exit_ok : exit_failed;
  }

 private:
  int wrong_ = 0;
  json_value list_ = json_value::array();
  std::string text_;
};

/// Each server on its own: one that is down shows only here, for sessions use the others.
void examine_servers(const address& where, findings& out) {
  for (std::size_t at = 0; at < where.hosts.size();) {
    const std::size_t end = std::min(where.hosts.find(',', at), where.hosts.size());
    address one = where;
    one.hosts = where.hosts.substr(at, end - at);
    at = end + 1;
    const auto began = std::chrono::steady_clock::now();
    try {
      const auto s = open_session(one, std::min(connect_timeout(), std::chrono::milliseconds(3000)));
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
      const bool is_as_wanted = s->timeout() == one.session;
      out.add(true, one.hosts,
              "answered after " + std::to_string(std::lround(ms)) + " ms; sessions last " +
                  std::to_string(s->timeout().count()) + " ms without contact" +
                  (is_as_wanted ? "" : ", not the " + std::to_string(one.session.count()) + " ms that were asked for"));
    } catch (const gate_error& error) {
      out.add(false, one.hosts, error.what());
    }
  }
}

/// The servers' clock, from the time they give to a node. Ages in `kgate status` are wrong by the difference.
void examine_clock(connection& to, findings& out) {
  const std::string path = to.where.root + "/" + std::string(clock_prefix) + std::to_string(to.session->id());
  answered<node> made;
  const auto before = std::chrono::system_clock::now();
  try {
    check_path(*to.session, to.where.root);
    if (to.session->transact({{write::kind::create_ephemeral, path}}).is != answer::ok) return;
    made = to.session->get(path);
    to.session->transact({{write::kind::remove, path}});
  } catch (const gate_error& error) {
    if (made.is != answer::ok) return out.add(false, "clock", std::string("not examined: ") + error.what());
    out.add(false, to.where.root,
            std::string("who creates a gate here cannot remove it: ") + error.what() +
                "; let all delete there, as paths that kgate makes now do (it was made by an earlier version)");
  }
  if (made.is != answer::ok) return;
  const auto here = std::chrono::duration_cast<std::chrono::milliseconds>(before.time_since_epoch()).count();
  const std::int64_t apart = made.value.created_ms - here;
  const bool near = apart > -2000 && apart < 2000;
  out.add(near, "clock",
          "the servers' clock is " + std::to_string(apart) + " ms ahead of this machine's" +
              (near ? "" : "; ages that `kgate status` shows are wrong by that"));
}

/// Nodes of q or s that no session owns, or another one than their name says: they would block the gate for ever.
int orphans(session& s, const std::string& path, findings& out, const std::string& gate) {
  int found = 0;
  const auto names = s.children(path);
  const std::string below = path + "/";
  for (const std::string& name : names.value) {
    const std::string node = below + name;
    const auto there = s.get(node);
    if (there.is != answer::ok) continue;
    const std::string request = read_participant(there.value.data).request;
    if (there.value.owner != 0 && session_of(request) == there.value.owner) continue;
    ++found;
    out.add(false, gate, node + " belongs to no session of kgate; delete that node if nobody needs it", true);
  }
  return found;
}

void examine_gate(const std::string& name, connection& to, findings& out) {
  const std::string gate = to.where.root + "/" + name;
  try {
    const cluster_status seen = read_status(*to.session, gate);
    const std::string id = read_gate(*to.session, gate).id;
    int wrong =
        orphans(*to.session, queue_of(gate, id), out, name) + orphans(*to.session, slots_of(gate, id), out, name);
    for (const std::string& path : foreign_nodes(*to.session, gate, id)) {
      ++wrong;
      out.add(false, name, path + " does not belong to the gate, which cannot be removed while that node is there",
              true);
    }
    if (wrong > 0) return;
    const bool open_to_all = to.session->access_rules(gate).value.find("world:anyone:31") != std::string::npos;
    out.add(true, name,
            "in order: " + slots_taken(seen.slots - seen.free + seen.over, seen.slots) + ", " +
                std::to_string(seen.waiters.size()) + " waiting" + (seen.paused ? ", paused" : "") +
                (open_to_all ? "; everybody who reaches the ensemble may use and remove it" : ""),
            true);
  } catch (const gate_error& error) {
    out.add(false, name, error.what(), true);
  }
}

}  // namespace

int create(const request& options) {
  connection to(options);
  const std::string& name = options.name();
  const std::string path = to.where.root + "/" + name;
  const known_gate there = detail::cluster::open_gate(*to.session, to.where.root, name, std::max(options.slots(), 1),
                                                      options.slots() == 0 && is_gate_there(*to.session, path));
  check_whole(*to.session, path, there.id);
  const int slots = there.size.slots;
  if (options.slots() != 0 && slots != options.slots()) {
    complain("gate '" + name + "' exists and was resized to " + slots_text(slots) + ", not " +
             std::to_string(options.slots()) + "; change it: kgate resize" + gate_arguments_on(options, name) + " -k " +
             std::to_string(options.slots()));
    return exit_failed;
  }
  report(options, there.made ? "created" : "exists",
         (there.made ? "created: " : "exists already: ") + slots_text(slots) + ", " + path,
         {{"slots", slots}, {"path", path}});
  return exit_ok;
}

int resize(const request& options) {
  cluster_gate(options.on, options.name(), 0, options_for(options)).resize(options.slots());
  report(options, "resized", slots_text(options.slots()) + " from now on");
  return exit_ok;
}

int pause(const request& options) {
  cluster_gate(options.on, options.name(), 0, options_for(options)).pause();
  report(options, "paused", "paused");
  return exit_ok;
}

int resume(const request& options) {
  cluster_gate(options.on, options.name(), 0, options_for(options)).resume();
  report(options, "resumed", "resumed");
  return exit_ok;
}

int remove(const request& options) {
  if (!cluster_gate(options.on, options.name(), 0, options_for(options)).remove(options.force)) {
    complain("gate '" + options.name() + "' is in use; remove it all the same: --force");
    return exit_failed;
  }
  forget_history(options, options.name());
  report(options, "removed", "removed");
  return exit_ok;
}

int cancel(const request& options) {
  cluster_gate gate(options.on, options.name(), 0, options_for(options));
  const cluster_status seen = gate.status();
  const auto is_it = [&](const cluster_participant& who) { return who.process == options.pid; };
  json_value cancelled = json_value::array();
  std::string out;
  // From the end, so that none that is about to be cancelled is granted on the way.
  for (auto who = seen.waiters.rbegin(); who != seen.waiters.rend(); ++who) {
    if (!(options.all || is_it(*who)) || !gate.cancel(who->request)) continue;
    cancelled.push_back(who->process);
    out +=
        options.name() + ": process " + std::to_string(who->process) + " of " + displayable(who->host) + " cancelled\n";
  }
  const bool inside = std::any_of(seen.holders.begin(), seen.holders.end(), is_it);
  if (cancelled.empty() && !options.all) {
    complain("process " + std::to_string(options.pid) + (inside ? " is inside gate '" : " does not wait at gate '") +
             options.name() + "'" + (inside ? "; only those who wait can be cancelled" : ""));
    return exit_failed;
  }
  if (options.json) {
    json_value document = json_document();
    document["gate"] = options.name();
    document["done"] = "cancelled";
    document["cancelled"] = cancelled;
    print_json(document);
  } else {
    print(out);
  }
  return exit_ok;
}

int doctor(const request& options) {
  address where;
  if (const gate_failure failure = parse_address(options.on, where)) throw gate_error(failure);
  findings out;
  examine_servers(where, out);
  try {
    connection to(options);
    examine_clock(to, out);
    for (const std::string& name : gate_names(options, to)) examine_gate(name, to, out);
  } catch (const gate_error& error) {
    out.add(false, "ensemble", error.what());
  }
  return out.print_all(options);
}

}  // namespace kgate::tool::cluster
