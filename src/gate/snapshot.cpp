// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "gate/core.hpp"

namespace kgate::detail::gates {

namespace {

template <std::size_t N>
std::string text_of(const std::array<char, N>& bytes) {
  return {bytes.data(), strnlen(bytes.data(), N)};
}

/// Who the member is, unless it is being replaced by another one just now.
void identify(const member_info& info, participant& who) {
  for (int tries = 0; tries < 100; ++tries) {
    const std::uint32_t before = info.version.load(std::memory_order_acquire);
    std::uint64_t words[member_info::words];
    // Acquire, so that the second read of version comes after them.
    for (std::size_t i = 0; i < member_info::words; ++i) words[i] = info.word_bits[i].load(std::memory_order_acquire);
    if ((before & 1) != 0 || info.version.load(std::memory_order_relaxed) != before) continue;
    identity seen{};
    std::memcpy(&seen, words, sizeof seen);
    who.process = seen.process;
    who.user = seen.user;
    who.host = text_of(seen.host);
    who.command = text_of(seen.command);
    return;
  }
  who.command.assign(1, '?');
}

struct frame {
  word w;
  limit size;
  std::vector<std::pair<unsigned, state>> present;
  bool valid = true;
};

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
    out.valid &= s.valid();
    if (s.where() == kind::waits || s.where() == kind::in) out.present.emplace_back(i, s);
  }
  // Had the size been set meanwhile, its subject might have announced something else before it was read (G7).
  return limit{map.size_bits.load()} == size && word{map.word_bits.load()} == out.w;
}

/// The slots of those inside, by their numbers.
std::vector<std::vector<int>> slots_by_member(const file_layout& map, const frame& seen) {
  std::vector<std::vector<int>> out(members_max);
  std::vector<std::uint64_t> owners(members_max, 0);
  for (const auto& [i, s] : seen.present)
    if (s.where() == kind::in) owners[i] = slot_owner::of(i, s).bits;
  for (int j = 0; j < slots_max; ++j) {
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
    int inside = 0;
    bool waiting = false;
    for (const auto& [i, s] : seen.present) {
      if (s.where() == kind::in) inside += s.weight();
      if (s.where() == kind::waits) waiting = true;
    }
    return seen.valid && seen.w.free() + inside == seen.size.permits() && seen.w.waiting() == waiting;
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
  std::vector<std::pair<std::uint64_t, participant>> queue;
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
      queue.emplace_back(map.lines[i].order.load(), std::move(who));
      continue;
    }
    inside += s.weight();
    // One that was granted and has not noticed yet has its place in the queue to show.
    who.since_ns = std::max(map.lines[i].entered_ns.load(), map.lines[i].queued_ns.load());
    who.slots = slots[i];
    if (!who.slots.empty()) who.slot = who.slots.front();
    result.holders.push_back(std::move(who));
  }
  std::sort(queue.begin(), queue.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [order, who] : queue) {
    who.position = static_cast<int>(result.waiters.size()) + 1;
    result.waiters.push_back(std::move(who));
  }
  std::sort(result.holders.begin(), result.holders.end(),
            [](const participant& a, const participant& b) { return a.slot < b.slot; });
  result.sound = seen.valid && result.slots >= 1 && result.slots <= slots_max &&
                 result.free + inside == seen.size.permits() && seen.w.waiting() == !result.waiters.empty();
  return result;
}

}  // namespace kgate::detail::gates
