// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>

#include "gate/core.hpp"

namespace kgate::detail::gates {

namespace {

template <std::size_t N>
std::string text_of(const std::array<char, N>& bytes) {
  return {bytes.data(), strnlen(bytes.data(), N)};
}

void identify(const member_info& info, participant& who) {
  identity seen{};
  if (!read_identity(info, seen)) {
    who.command.assign(1, '?');
    return;
  }
  who.process = seen.process;
  who.user = seen.user;
  who.host = text_of(seen.host);
  who.command = text_of(seen.command);
}

struct frame {
  word w;
  limit size;
  std::vector<std::pair<unsigned, state>> present;
  std::vector<unsigned> line;  ///< the queue, W's operation applied
  bool valid = true;
};

/// The queue by its links, as far as they make sense.
std::vector<unsigned> walk(const file_layout& map, unsigned members) {
  std::vector<unsigned> line;
  for (unsigned i = link{map.queue_bits.load()}.before(); i < members && line.size() < members;
       i = link{map.lines[i].link_bits.load()}.behind())
    line.push_back(i);
  return line;
}

/// Whether the queue is exactly the waiters.
bool fits(const frame& seen) {
  std::size_t waiting = 0;
  for (const auto& [i, s] : seen.present) waiting += s.where() == kind::waits ? 1 : 0;
  std::vector<unsigned> line = seen.line;
  std::sort(line.begin(), line.end());
  std::size_t found = 0;
  for (const auto& [i, s] : seen.present)
    if (s.where() == kind::waits && std::binary_search(line.begin(), line.end(), i)) ++found;
  return waiting == line.size() && found == waiting;
}

bool read_once(const file_layout& map, frame& out) {
  out.w = {map.word_bits.load()};
  const limit size{map.size_bits.load()};
  out.size = size;
  out.present.clear();
  out.valid = map.members_used.load() <= members_max;
  const unsigned n = std::min<unsigned>(map.members_used.load(), members_max);
  for (unsigned i = 0; i < n; ++i) {
    state s{map.state_bits[i].load()};
    if (i == out.w.subject()) {
      if (size.lacks(out.w)) out.size = limit::of(s.weight(), out.w.seq());
      s = effect(out.w.operation(), s);
    }
    if (s.where() == kind::waits || s.where() == kind::in) out.present.emplace_back(i, s);
  }
  out.line = walk(map, n);
  const op last = out.w.operation();
  if (last == op::grant || last == op::abandon) std::erase(out.line, out.w.subject());
  if (last == op::enqueue && (out.line.empty() || out.line.back() != out.w.subject()))
    out.line.push_back(out.w.subject());
  // Had the size been set meanwhile, its subject might have announced something else before it was read (G7).
  return limit{map.size_bits.load()} == size && word{map.word_bits.load()} == out.w;
}

/// The slots of those inside, by their numbers.
std::vector<std::vector<int>> slots_by_member(const file_layout& map, const frame& seen) {
  std::vector<std::vector<int>> out(members_max);
  std::vector<std::uint64_t> owners(members_max, 0);
  for (const auto& [i, s] : seen.present)
    if (s.where() == kind::in) owners[i] = slot_owner::of(i, s).bits;
  const int slots_used = static_cast<int>(std::min<std::uint32_t>(map.slots_used.load(), slots_max));
  for (int j = 0; j < slots_used; ++j) {
    const slot_owner owner{map.slot_bits[j].load(std::memory_order_relaxed)};
    if (owner.taken() && owner.member() < members_max && owners[owner.member()] == owner.bits)
      out[owner.member()].push_back(j);
  }
  return out;
}

}  // namespace

bool seems_sound(const file_layout& map) {
  frame seen;
  for (int tries = 0; tries < 1000; ++tries) {
    if (!read_once(map, seen)) continue;
    if (seen.w.operation() == op::retired) return true;  // those inside leave without changing the word
    int inside = 0;
    bool waiting = false;
    for (const auto& [i, s] : seen.present) {
      if (s.where() == kind::in) inside += s.weight();
      if (s.where() == kind::waits) waiting = true;
    }
    return seen.valid && seen.w.free() + inside == seen.size.permits() && seen.w.waiting() == waiting && fits(seen);
  }
  return true;
}

snapshot take_snapshot(const file_layout& map, lock_file* locks) {
  frame seen;
  snapshot result;
  for (int tries = 0; tries < 1000 && !result.settled; ++tries) result.settled = read_once(map, seen);
  result.slots = seen.size.slots();
  result.paused = seen.size.paused();
  result.overtakings = map.header.overtakings;
  result.free = seen.w.free();
  result.retired = seen.w.operation() == op::retired;
  result.healed = map.healed.load();
  std::map<unsigned, participant> waiting;
  int inside = 0;
  const std::vector<std::vector<int>> slots = slots_by_member(map, seen);
  for (const auto& [i, s] : seen.present) {
    participant who;
    who.member = i;
    who.state_bits = s.bits;
    who.command_process = map.lines[i].command.load(std::memory_order_relaxed);
    who.weight = s.weight();
    identify(map.info[i], who);
    who.alive = locks == nullptr || locks->alive(i);
    if (s.where() == kind::waits) {
      who.since_ns = map.lines[i].queued_ns.load();
      waiting.emplace(i, std::move(who));
      continue;
    }
    inside += s.weight();
    // One that was granted and has not noticed yet has its position in the queue to show.
    who.since_ns = std::max(map.lines[i].entered_ns.load(), map.lines[i].queued_ns.load());
    who.slots = slots[i];
    if (!who.slots.empty()) who.slot = who.slots.front();
    result.holders.push_back(std::move(who));
  }
  const auto show = [&](unsigned i) {
    const auto found = waiting.find(i);
    if (found == waiting.end()) return;
    found->second.position = static_cast<int>(result.waiters.size()) + 1;
    result.waiters.push_back(std::move(found->second));
    waiting.erase(found);
  };
  for (const unsigned i : seen.line) show(i);
  while (!waiting.empty()) show(waiting.begin()->first);  // a queue that is no list
  std::sort(result.holders.begin(), result.holders.end(),
            [](const participant& a, const participant& b) { return a.slot < b.slot; });
  result.sound = seen.valid && result.slots >= 1 && result.slots <= slots_max &&
                 result.free + inside == seen.size.permits() && seen.w.waiting() == !result.waiters.empty() &&
                 fits(seen);
  return result;
}

}  // namespace kgate::detail::gates
