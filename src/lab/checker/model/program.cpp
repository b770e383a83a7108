// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace kgate::lab {

namespace {

/// Leaves `pattern` where the next call will have its local variables, so that what it reads uninitialised differs from
/// run to run.
[[gnu::noinline]] void fill_stack(unsigned char pattern) {
  unsigned char below[8192];
  std::memset(below, pattern, sizeof below);
  asm volatile("" : : "r"(below) : "memory");  // nothing is optimised away
}

/// Local states are first reached on short ways; only a text that never forgets gets so far.
constexpr int observed_max = 2000;

std::string where_in(const char* label) {
  return *label == '\0' ? "before its first access" : std::string("after label ") + label;
}

bool same(const program::outcome& a, const program::outcome& b) {
  return a.finished == b.finished && a.last.blocked == b.last.blocked && a.last.written == b.last.written &&
         a.next.key == b.next.key;
}

}  // namespace

void program::automaton::chunked::push_back(local_state s) {
  const std::size_t chunk = size_ >> bits;
  if (chunk == chunks_max)
    throw std::length_error("a process has more than 16 million local states: does its text lack live(...)?");
  if (!chunks_[chunk]) chunks_[chunk].reset(new local_state[std::size_t{1} << bits]);
  chunks_[chunk][size_ & ((std::size_t{1} << bits) - 1)] = std::move(s);
  ++size_;
}

program::program(std::unique_ptr<model> m, int N, int k, program_options options)
    : model_(std::move(m)),
      N_(N),
      k_(k),
      options_(std::move(options)),
      hidden_(*model_),
      automata_(static_cast<std::size_t>(N)) {
  for (int p = 0; p < N_; ++p) {
    start_of(p, 0);
    if (!mortal()) continue;
    local_state none;
    none.done = true;
    none.label = "dead";
    none.starts_passage = true;
    automata_[p].states.push_back(none);
  }
}

std::string program::broken_invariant(const state_view& s) const {
  const std::scoped_lock lock(mutex_);
  const monitored_part runs(*options_.monitor, "invariant");
  std::string broken;
  try {
    broken = model_->invariant(s);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const text_error&) {
    throw;
  } catch (const std::exception& e) {
    throw text_error(std::string("the invariant throws an exception: ") + e.what());
  } catch (...) {
    throw text_error("the invariant throws something");
  }
  if (const char* changed = hidden_.changed())
    throw text_error(std::string("the invariant changes ") + changed + ": it may only look at the state");
  return broken;
}

code program::after_death(int p, code value) {
  const std::scoped_lock lock(mutex_);
  value_table& values = model_->memory.at(model_->deaths->variable).values;
  return values.intern(model_->deaths->after_death_of(values.bytes(value), p));
}

program::outcome program::run(int p, const std::vector<code>& history, std::vector<checker_machine::made>* accesses,
                              const checker_machine::calling& calls) const {
  checker_machine::run_options how;
  how.forgets = options_.remember_accesses == 0;
  how.accesses = accesses;
  how.calls = calls;
  fill_stack(0x5A);
  return run(p, history, how);
}

void program::require_pure(int p, const std::vector<code>& history, const checker_machine::calling& calls) const {
  std::vector<checker_machine::made> accesses;
  const outcome once = run(p, history, &accesses);
  outcome otherwise;
  std::vector<checker_machine::made> changed;
  const auto differs = [&](std::size_t until) {
    checker_machine::calling some = calls;
    some.until = until;
    changed.clear();
    otherwise = run(p, history, &changed, some);
    return !same(once, otherwise) || accesses != changed;
  };
  std::size_t low = calls.from;  // so many accesses make no difference
  std::size_t high = std::min(calls.until, history.size());
  if (low >= high || !differs(high)) return;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (differs(middle) ? high : low) = middle;
  }
  differs(high);
  const std::string label = low < accesses.size() ? std::string(accesses[low].label) : once.label;
  const bool waits = low < accesses.size() ? accesses[low].op == operation::await : once.last.blocked;
  throw text_error(
      fmt::format("the {} given at label {} is not pure: what process {} does after it depends on {}",
                  waits ? "predicate" : "function", label, p,
                  calls.refused != nullptr ? "the values that it was called on before" : "how often it is called"));
}

program::outcome program::run(int p, const std::vector<code>& history, const checker_machine::run_options& how) const {
  checker_machine::run_options watched = how;
  if (how.monitor == nullptr) watched.monitor = options_.monitor.get();
  checker_machine::Process process(pid(p), history, options_.wrong, watched);
  options_.monitor->process.store(p, std::memory_order_relaxed);
  options_.monitor->label.store("", std::memory_order_relaxed);
  options_.monitor->begun.fetch_add(1);
  const struct run_ends {
    run_monitor& of;
    ~run_ends() { of.ended.store(of.begun.load()); }
  } ends{*options_.monitor};
  outcome result;
  bool blocked = false;
  try {
    model_->passage(process);
    result.finished = true;
  } catch (const checker_machine::Process::stopped_here&) {
    result.next = process.next();
  } catch (const checker_machine::Process::blocked_here&) {
    blocked = true;
  } catch (const checker_machine::Process::not_observable&) {
    // The text is elsewhere than the history says; a comparison of the runs shows that it made fewer accesses.
    result.last.blocked = blocked = true;
    result.label = process.label();
    return result;
  } catch (const checker_machine::bad_index& wrong) {
    throw text_error("process " + std::to_string(p) + " uses element " + std::to_string(wrong.index) +
                     " of an array of " + std::to_string(wrong.size) + " variables, at or after label " +
                     (*process.label() != '\0' ? process.label() : "none"));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const text_error&) {
    throw;
  } catch (const std::invalid_argument&) {  // what the memory cannot do
    throw;
  } catch (const std::exception& e) {
    throw text_error("process " + std::to_string(p) + " throws an exception, " + where_in(process.label()) + ": " +
                     e.what());
  } catch (...) {
    throw text_error("process " + std::to_string(p) + " throws something, " + where_in(process.label()));
  }
  result.last = process.last_effect();
  result.label = process.label();
  const std::string& stopped = process.next().key;
  if (stopped == "caught" || (result.finished && !stopped.empty()) || (!blocked && result.last.blocked))
    throw text_error("process " + std::to_string(p) + " catches what ends its runs, at or before label " +
                     result.label + ": no access may be made inside a 'catch (...)'");
  if (const char* changed = hidden_.changed())
    throw text_error("process " + std::to_string(p) + " changes " + changed + ", at or before label " + result.label +
                     ": what processes share must be an M::Var, what they keep must be in Private");
  return result;
}

program::outcome program::run_twice(int p, const std::vector<code>& history) const {
  checker_machine::run_options how;
  how.forgets = options_.remember_accesses == 0;
  fill_stack(0x00);
  outcome first = run(p, history, how);
  const int other = (p + 1) % N_;
  const auto newest = static_cast<local_id>(automata_[other].states.size());
  const std::vector<code> of_other = newest == 0 ? std::vector<code>{} : this->history(other, newest - 1);
  const std::function<void()> disturb = [&, undisturbed = how] { run(other, of_other, undisturbed); };
  how.disturb = &disturb;
  how.calls.times = 2;
  fill_stack(0xA5);
  if (const outcome second = run(p, history, how); !same(first, second)) {
    require_pure(p, history, how.calls);
    throw text_error("process " + std::to_string(p) +
                     " does not do the same when it is run again on the same observations, at label " + first.label +
                     ": it depends on something outside its variables, or on memory that was never written");
  }
  return first;
}

local_id program::intern(int p, int passage, const checker_machine::pending& next, local_id parent, code seen) {
  automaton& a = automata_[p];
  const auto [entry, fresh] =
      a.by_key.try_emplace(std::to_string(passage) + '/' + next.key, static_cast<local_id>(a.states.size()));
  if (fresh) {
    local_state s;
    s.op = next.op;
    s.variable = next.variable;
    s.label = next.label;
    s.where = next.where;
    s.waiting = next.waiting;
    s.name = next.name;
    s.hash = next.hash;
    s.ways = next.ways;
    s.passage = passage;
    s.parent = parent;
    s.seen = seen;
    if (a.states.size() > 0) s.accesses = a.states[parent].accesses + 1;
    if (options_.remember_accesses == 0 && s.accesses > observed_max)
      throw text_error("process " + std::to_string(p) + " observes more than " + std::to_string(observed_max) +
                       " values in a passage and forgets none of them: does the loop at label " + s.label +
                       " lack live(...)?");
    if (options_.remember_accesses > 0 && s.accesses >= options_.remember_accesses) s.done = stopped_early_ = true;
    a.states.push_back(std::move(s));
  }
  return entry->second;
}

local_id program::start_of(int p, int passage) {
  automaton& a = automata_[p];
  if (options_.passages > 0 && passage >= options_.passages_of(p)) {
    const auto [entry, fresh] = a.by_key.try_emplace("done", static_cast<local_id>(a.states.size()));
    if (fresh) {
      local_state s;
      s.done = true;
      s.passage = passage;
      s.label = "0";
      s.starts_passage = true;
      a.states.push_back(std::move(s));
    }
    return entry->second;
  }
  const local_id id = intern(p, passage, run_twice(p, {}).next, 0, 0);
  a.states[id].starts_passage = true;
  a.states[id].accesses = 0;
  return id;
}

std::pair<int, std::string> program::longest_memory(int p) const {
  const automaton& a = automata_[p];
  local_id longest = 0;
  for (local_id s = 0; s < a.states.size(); ++s)
    if (a.states[s].accesses > a.states[longest].accesses) longest = s;
  return {a.states[longest].accesses, a.states[longest].label};
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
  const outcome after = run_twice(p, observations);
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
  if (mortal() && s == dead) return dead;
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
      seen = seen_by_way(rename(variable, value_seen(seen)), way_seen(seen));
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
