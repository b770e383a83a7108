// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/program.hpp"

#include <algorithm>
#include <stdexcept>

namespace kgate::lab {

void program::automaton::chunked::push_back(local_state s) {
  const std::size_t chunk = size_ >> bits;
  if (chunk == chunks_max)
    throw std::length_error("a process has more than 16 million local states: does its text lack live(...)?");
  if (!chunks_[chunk]) chunks_[chunk].reset(new local_state[std::size_t{1} << bits]);
  chunks_[chunk][size_ & ((std::size_t{1} << bits) - 1)] = std::move(s);
  ++size_;
}

program::program(std::unique_ptr<model> m, int N, int k, program_options options)
    : model_(std::move(m)), N_(N), k_(k), options_(std::move(options)), automata_(static_cast<std::size_t>(N)) {
  for (int p = 0; p < N_; ++p) start_of(p, 0);
}

program::outcome program::run(int p, const std::vector<code>& history) const {
  checker_machine::Process process(pid(p), history, options_.wrong);
  outcome result;
  try {
    model_->passage(process);
    result.finished = true;
  } catch (const checker_machine::Process::stopped_here&) {
    result.next = process.next();
  } catch (const checker_machine::Process::blocked_here&) {
  }
  result.last = process.last_effect();
  return result;
}

local_id program::intern(int p, int passage, const checker_machine::pending& next, local_id parent, code seen) {
  automaton& a = automata_[p];
  const auto [place, fresh] =
      a.by_key.try_emplace(std::to_string(passage) + '/' + next.key, static_cast<local_id>(a.states.size()));
  if (fresh) {
    local_state s;
    s.op = next.op;
    s.variable = next.variable;
    s.label = next.label;
    s.where = next.where;
    s.waiting = next.waiting;
    s.name = next.name;
    s.passage = passage;
    s.parent = parent;
    s.seen = seen;
    a.states.push_back(std::move(s));
  }
  return place->second;
}

local_id program::start_of(int p, int passage) {
  automaton& a = automata_[p];
  if (options_.passages > 0 && passage >= options_.passages_of(p)) {
    const auto [place, fresh] = a.by_key.try_emplace("done", static_cast<local_id>(a.states.size()));
    if (fresh) {
      local_state s;
      s.done = true;
      s.passage = passage;
      s.label = "0";
      s.starts_passage = true;
      a.states.push_back(std::move(s));
    }
    return place->second;
  }
  const local_id id = intern(p, passage, run(p, {}).next, 0, 0);
  a.states[id].starts_passage = true;
  return id;
}

std::vector<code> program::history(int p, local_id s) const {
  std::vector<code> seen;
  for (; !local(p, s).starts_passage; s = local(p, s).parent) seen.push_back(local(p, s).seen);
  std::reverse(seen.begin(), seen.end());
  return seen;
}

transition program::compute(int p, local_id s, code seen) {
  const local_state& from = local(p, s);
  std::vector<code> observations = history(p, s);
  observations.push_back(seen);
  const outcome after = run(p, observations);
  transition t;
  t.blocked = after.last.blocked;
  if (t.blocked) {
    t.next = s;
    return t;
  }
  if (after.last.written) {
    t.writes = true;
    t.written = *after.last.written;
  }
  if (after.finished) {
    t.next = start_of(p, options_.passages > 0 ? from.passage + 1 : 0);
  } else {
    t.next = intern(p, from.passage, after.next, s, seen);
  }
  return t;
}

transition program::step(int p, local_id s, code seen) {
  const std::scoped_lock lock(mutex_);
  return known_step(p, s, seen);
}

transition program::known_step(int p, local_id s, code seen) {
  automaton& a = automata_[p];
  const std::uint64_t key = (std::uint64_t{s} << 32) | seen;
  if (const auto known = a.steps.find(key); known != a.steps.end()) return known->second;
  const transition t = compute(p, s, seen);
  a.steps.emplace(key, t);
  return t;
}

local_id program::mirror(int q, local_id s, int p, const std::function<code(int, code)>& rename) {
  std::unique_lock lock(mutex_);
  if (local(q, s).done) return start_of(p, options_.passages_of(p));
  std::vector<std::pair<local_id, code>>
      path;  // local states of q from the passage's start to s, with what was seen at each
  for (local_id at = s; !local(q, at).starts_passage; at = local(q, at).parent)
    path.emplace_back(local(q, at).parent, local(q, at).seen);
  local_id here = start_of(p, local(q, s).passage);
  for (auto step_of = path.rbegin(); step_of != path.rend(); ++step_of) {
    const int variable = local(q, step_of->first).variable;
    code seen = step_of->second;
    if (variable >= 0) {
      lock.unlock();
      seen = rename(variable, seen);
      lock.lock();
    }
    here = known_step(p, here, seen).next;
  }
  return here;
}

code program::renamed_code(int v, code c, int target, const permutation& to) {
  const std::scoped_lock lock(mutex_);
  std::string bytes = variable(v).values.bytes(c);
  if (variable(v).names_process) {
    const auto p = from_bytes<process_id>(bytes);
    if (p.value < N()) bytes = to_bytes(pid(to(static_cast<int>(p.value))));
  }
  return model_->memory.at(target).values.intern(bytes);
}

}  // namespace kgate::lab
