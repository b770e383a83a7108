// SPDX-License-Identifier: Apache-2.0
#include "cluster/gate_nodes.hpp"

#include <algorithm>
#include <utility>

#include "cluster/secret.hpp"

namespace kgate::detail::cluster {

namespace {

/// Makes a request until its answer is known.
template <class Request>
auto answer_to(session& s, Request&& request) {
  for (;;) {
    auto got = request();
    if (got.is == answer::expired || (got.is == answer::unknown && !s.await_connected())) throw_lost(s);
    if (got.is != answer::unknown) return got;
  }
}

[[noreturn]] void throw_missing(const std::string& gate) {
  throw gate_error({gate_errc::not_found, "there is no gate at " + gate});
}

/// The gate's own node and what it says.
struct gate_node {
  node there;
  gate_reading says;
};
gate_node read_node(session& s, const std::string& gate) {
  auto read = answer_to(s, [&] { return s.get(gate); });
  if (read.is == answer::no_node) throw_missing(gate);
  gate_reading says = reading_of(read.value, gate);
  return {std::move(read.value), std::move(says)};
}

void create_parents(session& s, const std::string& root) {
  for (std::size_t end = root.find('/', 1);; end = root.find('/', end + 1)) {
    const std::string part = root.substr(0, end);
    // A node that is there may be one that this user cannot create nodes beside.
    if (answer_to(s, [&] { return s.get(part); }).is == answer::no_node)
      answer_to(s, [&] { return s.transact({{write::kind::create_parent, part}}); });
    if (end == std::string::npos) return;
  }
}

cluster_participant describe(const node& there) {
  const participant_data who = read_participant(there.data);
  cluster_participant out;
  out.host = who.host;
  out.process = who.process;
  out.user = who.user;
  out.command = who.command;
  out.weight = who.weight;
  out.request = who.request;
  out.session = there.owner;
  out.since = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::milliseconds(there.created_ms)));
  return out;
}

/// A node of that gate is not there: because the gate has been removed, or though it is there.
[[noreturn]] void throw_incomplete(session& s, const std::string& gate, const std::string& id) {
  if (read_node(s, gate).says.id != id) throw_missing(gate);
  throw_without_queue(gate);
}

std::vector<waiter_name> waiters_in_order(session& s, const std::string& gate, const std::string& id) {
  const std::string path = queue_of(gate, id);
  const auto names = answer_to(s, [&] { return s.children(path); });
  if (names.is != answer::ok) throw_incomplete(s, gate, id);
  std::vector<waiter_name> out = waiters_among(names.value, path);
  if (out.empty()) return out;
  // Any of them is a point of reference: the distances between waiters are far below half of all numbers.
  const std::int32_t from = out.front().sequence;
  std::sort(out.begin(), out.end(), [from](const waiter_name& a, const waiter_name& b) {
    return distance(a.sequence, from) < distance(b.sequence, from);
  });
  return out;
}

std::vector<int> slots_held(session& s, const std::string& gate, const std::string& id) {
  const std::string path = slots_of(gate, id);
  const auto names = answer_to(s, [&] { return s.children(path); });
  if (names.is != answer::ok) throw_incomplete(s, gate, id);
  std::vector<int> out = slots_among(names.value, path).numbers;
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void throw_without_queue(const std::string& gate) {
  throw gate_error({gate_errc::not_a_gate, "at " + gate +
                                               " there is a gate without its nodes q and s; delete that node, "
                                               "or use another path or name"});
}

void throw_lost(const session& s) { throw session_lost({gate_errc::system, "the session is lost: " + s.loss()}); }

std::unique_ptr<session> open_session(const address& where, std::chrono::milliseconds connect_timeout) {
  return std::make_unique<session>(where, find_secret(""), connect_timeout);
}

known_gate open_gate(session& s, const std::string& root, const std::string& name, int slots) {
  const std::string gate = root + "/" + name;
  for (;;) {
    const auto read = answer_to(s, [&] { return s.get(gate); });
    if (read.is == answer::ok) {
      const gate_reading there = reading_of(read.value, gate);
      if (slots != 0 && slots != there.slots && slots != there.created_with)
        throw gate_error({gate_errc::wrong_slots, "gate '" + name + "' has " + std::to_string(there.slots) +
                                                      " slots, not " + std::to_string(slots) +
                                                      "; leave the number out, or resize the gate"});
      return {there.id, size_of(read.value, there)};
    }
    if (slots == 0)
      throw gate_error(
          {gate_errc::not_found, "there is no gate '" + name + "' at " + root + "; a number of slots would create it"});
    create_parents(s, root);
    answer_to(s, [&] {
      // Another id for each attempt: one whose answer was lost may have made a gate that is removed by now.
      const std::string id = make_gate_id(s.id(), s.next_request());
      return s.transact({{write::kind::create, gate, gate_data({id, slots, slots, false, {}})},
                         {write::kind::create, queue_of(gate, id)},
                         {write::kind::create, slots_of(gate, id)}});
    });
  }
}

known_gate read_gate(session& s, const std::string& gate) {
  const gate_node read = read_node(s, gate);
  return {read.says.id, size_of(read.there, read.says)};
}

namespace {

/// Changes what the gate's node says, until it has been answered that it says so.
template <class F>
void change_gate(session& s, const std::string& gate, F&& change) {
  for (;;) {
    auto [there, next] = read_node(s, gate);
    if (!change(next)) return;
    // The version alone could be that of a gate that was made since.
    const auto set = s.transact(
        {{write::kind::check, slots_of(gate, next.id)}, {write::kind::set, gate, gate_data(next), there.version}});
    if (set.is == answer::ok) return;
    if (set.is == answer::expired || (set.is == answer::unknown && !s.await_connected())) throw_lost(s);
    if (set.is == answer::unknown) answer_to(s, [&] { return s.sync(gate); });
  }
}

}  // namespace

void resize_gate(session& s, const std::string& gate, int slots) {
  if (slots < 1 || slots > slots_max)
    throw gate_error({gate_errc::bad_slots, "a gate has 1 to " + std::to_string(slots_max) + " slots"});
  change_gate(s, gate, [slots](gate_reading& there) { return std::exchange(there.slots, slots) != slots; });
}

void pause_gate(session& s, const std::string& gate, bool paused) {
  change_gate(s, gate, [paused](gate_reading& there) { return std::exchange(there.paused, paused) != paused; });
}

cluster_status read_status(session& s, const std::string& gate) {
  cluster_status out;
  const gate_reading read = read_node(s, gate).says;
  out.slots = read.slots;
  out.paused = read.paused;
  const std::vector<int> held = slots_held(s, gate, read.id);
  for (const int slot : held) {
    const auto there = answer_to(s, [&] { return s.get(slots_of(gate, read.id) + "/" + std::to_string(slot)); });
    if (there.is != answer::ok) continue;
    const auto same = std::find_if(out.holders.begin(), out.holders.end(), [&](const cluster_participant& one) {
      return one.token == there.value.czxid && one.session == there.value.owner;
    });
    if (same != out.holders.end()) {
      same->slots.push_back(slot);
      continue;
    }
    out.holders.push_back(describe(there.value));
    out.holders.back().slots.push_back(slot);
    out.holders.back().token = there.value.czxid;
  }
  const int spare = out.slots - static_cast<int>(held.size());
  out.free = std::max(spare, 0);
  out.over = std::max(-spare, 0);
  for (const waiter_name& one : waiters_in_order(s, gate, read.id)) {
    const auto there = answer_to(s, [&] { return s.get(queue_of(gate, read.id) + "/" + one.node()); });
    if (there.is != answer::ok) continue;
    out.waiters.push_back(describe(there.value));
    out.waiters.back().request = one.request;
    out.waiters.back().position = static_cast<int>(out.waiters.size());
  }
  return out;
}

bool cancel_waiter(session& s, const std::string& gate, std::string_view request) {
  const std::string id = read_node(s, gate).says.id;
  for (const waiter_name& one : waiters_in_order(s, gate, id))
    if (one.request == request)
      return answer_to(s, [&] {
               return s.transact({{write::kind::remove, queue_of(gate, id) + "/" + one.node()}});
             }).is == answer::ok;
  return false;
}

bool remove_gate(session& s, const std::string& gate, bool forced) {
  const std::string id = read_node(s, gate).says.id;
  const std::string q = queue_of(gate, id), held = slots_of(gate, id);
  for (;;) {
    const std::vector<waiter_name> waiters = waiters_in_order(s, gate, id);
    const std::vector<int> slots = slots_held(s, gate, id);
    if (!forced && !(waiters.empty() && slots.empty())) return false;
    std::vector<write> all;
    for (const waiter_name& one : waiters) all.push_back({write::kind::remove, q + "/" + one.node()});
    for (const int slot : slots) all.push_back({write::kind::remove, held + "/" + std::to_string(slot)});
    for (const std::string& path : {q, held, gate}) all.push_back({write::kind::remove, path});
    const auto done = s.transact(all);
    if (done.is == answer::ok) return true;
    if (done.is == answer::expired || (done.is == answer::unknown && !s.await_connected())) throw_lost(s);
    if (done.is != answer::unknown) continue;
    answer_to(s, [&] { return s.sync(gate); });
    if (answer_to(s, [&] { return s.get(held); }).is == answer::no_node) return true;
  }
}

std::vector<std::string> gates_below(session& s, const std::string& root) {
  const auto names = answer_to(s, [&] { return s.children(root); });
  std::vector<std::string> out;
  if (names.is == answer::ok) out = names.value;
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kgate::detail::cluster
