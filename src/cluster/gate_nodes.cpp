// SPDX-License-Identifier: Apache-2.0
#include "cluster/gate_nodes.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "cluster/secret.hpp"

namespace kgate::detail::cluster {

namespace {

/// Counts how often something is tried that others, or a connection that breaks, may bring to nothing. It is given up
/// after some ten seconds: what never comes to an end would flood the ensemble.
class attempts {
 public:
  explicit attempts(const std::string& path) : path_(path) {}
  void again() {
    constexpr int at_once = 10, in_all = 250;
    if (++count_ == in_all)
      throw gate_error({gate_errc::system, "what was asked for at " + path_ + " came to nothing " +
                                               std::to_string(in_all) + " times; try again"});
    if (count_ > at_once) std::this_thread::sleep_for(std::chrono::milliseconds(std::min(count_ - at_once, 50)));
  }
  int count() const { return count_; }

 private:
  const std::string& path_;
  int count_ = 0;
};

/// Makes a request until its answer is known.
template <class Request>
auto answer_to(session& s, Request&& request) {
  static const std::string name = "the ensemble";
  for (attempts tries(name);; tries.again()) {
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
node existing(session& s, const std::string& gate) {
  auto read = answer_to(s, [&] { return s.get(gate); });
  if (read.is == answer::no_node) throw_missing(gate);
  return std::move(read.value);
}
gate_node read_node(session& s, const std::string& gate) {
  node there = existing(s, gate);
  gate_reading says = reading_of(there, gate);
  return {std::move(there), std::move(says)};
}

/// Goes along the nodes of a path, from the top. `missing` is called for one that is not there, and says whether to go
/// on. Throws gate_error if one of them is a gate.
template <class F>
void walk(session& s, const std::string& root, F&& missing) {
  for (std::size_t end = root.find('/', 1);; end = root.find('/', end + 1)) {
    const std::string part = root.substr(0, end);
    const auto there = answer_to(s, [&] { return s.get(part); });
    if (is_gate_data(there.value.data))
      throw gate_error({gate_errc::bad_name, "the path " + root + " leads into the gate at " + part +
                                                 ", where only that gate's own nodes may be; use another path"});
    // A node that is there may be one that this user cannot create nodes beside.
    if (there.is == answer::no_node && !missing(part)) return;
    if (end == std::string::npos) return;
  }
}

void create_parents(session& s, const std::string& root) {
  walk(s, root, [&](const std::string& part) {
    answer_to(s, [&] { return s.transact({{write::kind::create_parent, part}}); });
    return true;
  });
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

[[noreturn]] void throw_without(const std::string& gate, const std::string& node) {
  throw gate_error({gate_errc::damaged, "the gate at " + gate + " is damaged: its node " + node +
                                            " is not there; `kgate remove --force` removes what is left of it"});
}

/// A node of that gate is not there: because the gate has been removed, or though it is there.
[[noreturn]] void throw_incomplete(session& s, const std::string& gate, const std::string& id,
                                   const std::string& node) {
  if (read_node(s, gate).says.id != id) throw_missing(gate);
  throw_without(gate, node);
}

std::vector<waiter_name> waiters_in_order(session& s, const std::string& gate, const std::string& id) {
  const std::string path = queue_of(gate, id);
  const auto names = answer_to(s, [&] { return s.children(path); });
  if (names.is != answer::ok) throw_incomplete(s, gate, id, path);
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
  if (names.is != answer::ok) throw_incomplete(s, gate, id, path);
  std::vector<int> out = slots_among(names.value, path).numbers;
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void check_whole(session& s, const std::string& gate, const std::string& id) {
  for (const std::string& path : {queue_of(gate, id), slots_of(gate, id)})
    if (answer_to(s, [&] { return s.get(path); }).is == answer::no_node) throw_incomplete(s, gate, id, path);
}

void check_path(session& s, const std::string& root) {
  walk(s, root, [](const std::string&) { return false; });
}

void throw_lost(const session& s) { throw session_lost({gate_errc::system, "the session is lost: " + s.loss()}); }

std::unique_ptr<session> open_session(const address& where, std::chrono::milliseconds connect_timeout) {
  return std::make_unique<session>(where, find_secret(""), connect_timeout);
}

namespace {

/// Changes what the gate's node says, until it has been answered that it says so.
template <class F>
void change_gate(session& s, const std::string& gate, F&& change) {
  for (attempts tries(gate);; tries.again()) {
    auto [there, next] = read_node(s, gate);
    if (!change(next)) return check_whole(s, gate, next.id);
    // The version alone could be that of a gate that was made since.
    const auto set = s.transact({{write::kind::check, queue_of(gate, next.id)},
                                 {write::kind::check, slots_of(gate, next.id)},
                                 {write::kind::set, gate, gate_data(next), there.version}});
    if (set.is == answer::ok) return;
    if (set.is == answer::expired || (set.is == answer::unknown && !s.await_connected())) throw_lost(s);
    if (set.is == answer::unknown) answer_to(s, [&] { return s.sync(gate); });
    if (set.is != answer::no_node) continue;
    for (const std::string& path : {queue_of(gate, next.id), slots_of(gate, next.id)})
      if (answer_to(s, [&] { return s.get(path); }).is == answer::no_node &&
          read_node(s, gate).says.id == next.id)  // else it is another gate by now
        throw_without(gate, path);
  }
}

}  // namespace

known_gate open_gate(session& s, const std::string& root, const std::string& name, int slots, bool by_default) {
  const std::string gate = root + "/" + name;
  std::vector<std::string> made;  // ids of gates that may have come to be
  for (attempts tries(gate);; tries.again()) {
    const auto read = answer_to(s, [&] { return s.get(gate); });
    if (read.is == answer::ok) {
      const gate_reading there = reading_of(read.value, gate);
      if (slots != 0 && !by_default && there.created_with == 0 && !there.resized) {
        change_gate(s, gate, [slots](gate_reading& now) {
          if (now.created_with != 0 || now.resized) return false;  // another was faster
          now.slots = slots;
          return now.resized = true;
        });
        continue;
      }
      if (slots != 0 && !by_default && slots != there.slots && !there.resized)
        throw gate_error({gate_errc::wrong_slots, "gate '" + name + "' has " + std::to_string(there.slots) +
                                                      (there.slots == 1 ? " slot" : " slots") + ", not " +
                                                      std::to_string(slots) +
                                                      "; leave the number out, or resize the gate"});
      const bool own = std::find(made.begin(), made.end(), there.id) != made.end();
      return {there.id, size_of(read.value, there), own};
    }
    if (slots == 0) throw gate_error({gate_errc::not_found, "there is no gate '" + name + "' at " + root});
    create_parents(s, root);
    answer_to(s, [&] {
      // Another id for each attempt: one whose answer was lost may have made a gate that is removed by now.
      const std::string id = made.emplace_back(make_gate_id(s.id(), s.next_request()));
      return s.transact({{write::kind::create, gate, gate_data({id, slots, by_default ? 0 : slots, false, {}})},
                         {write::kind::create, queue_of(gate, id)},
                         {write::kind::create, slots_of(gate, id)}});
    });
  }
}

known_gate read_gate(session& s, const std::string& gate) {
  const gate_node read = read_node(s, gate);
  return {read.says.id, size_of(read.there, read.says)};
}

void resize_gate(session& s, const std::string& gate, int slots) {
  if (slots < 1 || slots > slots_max)
    throw gate_error({gate_errc::bad_slots, "a gate has 1 to " + std::to_string(slots_max) + " slots"});
  change_gate(s, gate, [slots](gate_reading& there) {
    const bool as_it_is = there.slots == slots && there.resized;
    there.slots = slots;
    there.resized = true;
    return !as_it_is;
  });
}

void pause_gate(session& s, const std::string& gate, bool paused) {
  change_gate(s, gate, [paused](gate_reading& there) { return std::exchange(there.paused, paused) != paused; });
}

cluster_status read_status(session& s, const std::string& gate, const std::string& id) {
  cluster_status out;
  const gate_reading read = read_node(s, gate).says;
  if (!id.empty() && read.id != id) throw_missing(gate);
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

namespace {

/// All that has to go with a gate.
struct gate_parts {
  std::vector<std::string> leaves;  ///< nodes of waiters and holders
  std::vector<std::string> inner;   ///< q and s
};

/// Throws gate_error if anything else is there. `any_id`: whatever the gate's own id is.
gate_parts parts_of(session& s, const std::string& gate, const std::string& id, bool any_id) {
  gate_parts out;
  for (const std::string& name : answer_to(s, [&] { return s.children(gate); }).value) {
    const char kind = kind_of_part(name);
    if (kind == '\0' || !(any_id || std::string_view(name).substr(2) == id)) throw_foreign(gate, name);
    const std::string path = gate + "/" + name;
    const std::vector<std::string> names = answer_to(s, [&] { return s.children(path); }).value;
    if (kind == 'q')
      waiters_among(names, path);
    else
      slots_among(names, path);
    for (const std::string& one : names) out.leaves.push_back(path + "/" + one);
    out.inner.push_back(path);
  }
  return out;
}

}  // namespace

bool remove_gate(session& s, const std::string& gate, bool forced) {
  const node first = existing(s, gate);
  gate_reading says = read_gate_data(first.data);
  if (!forced || !says.ours) says = reading_of(first, gate);
  for (attempts tries(gate);; tries.again()) {
    const gate_parts parts = parts_of(s, gate, says.id, forced);
    const auto now = answer_to(s, [&] { return s.get(gate); });
    if (now.is == answer::no_node || now.value.czxid != first.czxid) throw_missing(gate);
    if (!forced) check_whole(s, gate, says.id);
    if (!forced && !parts.leaves.empty()) return false;
    std::vector<write> all;
    for (const auto* paths : {&parts.leaves, &parts.inner})
      for (const std::string& path : *paths) all.push_back({write::kind::remove, path});
    all.push_back({write::kind::remove, gate});
    const auto done = s.transact(all);
    if (done.is == answer::ok) return true;
    if (done.is == answer::expired || (done.is == answer::unknown && !s.await_connected())) throw_lost(s);
    if (done.is == answer::unknown) {
      answer_to(s, [&] { return s.sync(gate); });
      const auto left = answer_to(s, [&] { return s.get(gate); });
      if (left.is == answer::no_node || left.value.czxid != first.czxid) return true;
    }
    if (done.is == answer::changed)
      for (const std::string& leaf : parts.leaves)
        if (const auto below = answer_to(s, [&] { return s.children(leaf); }); !below.value.empty())
          throw_foreign(leaf, below.value.front());
    // One that many pass has always changed since it was read. None passes it while it is paused.
    if (forced && says.wrong.empty() && parts.inner.size() == 2 && tries.count() == 5)
      change_gate(s, gate,
                  [&](gate_reading& there) { return there.id == says.id && !std::exchange(there.paused, true); });
  }
}

bool is_gate_there(session& s, const std::string& gate) {
  const auto read = answer_to(s, [&] { return s.get(gate); });
  return read.is == answer::ok && is_gate_data(read.value.data);
}

std::vector<std::string> foreign_nodes(session& s, const std::string& gate, const std::string& id) {
  std::vector<std::string> out;
  for (const std::string& name : answer_to(s, [&] { return s.children(gate); }).value)
    if (name != "q-" + id && name != "s-" + id) out.push_back(gate + "/" + name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> gates_below(session& s, const std::string& root) {
  const auto names = answer_to(s, [&] { return s.children(root); });
  std::vector<std::string> out;
  if (names.is == answer::ok) out = names.value;
  std::erase_if(out, [](const std::string& name) { return name.starts_with(clock_prefix); });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kgate::detail::cluster
