// SPDX-License-Identifier: Apache-2.0
#include "lab/multiprocessor/multiprocessor.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kgate/detail/contracts.hpp"

namespace kgate::lab {

multiprocessor::multiprocessor(const machine_costs& costs, int processors, int processes, std::uint64_t seed)
    : costs_(costs),
      rules_{costs.model, true},
      copy_words_(costs.model == memory_model::dsm ? 0 : (static_cast<std::size_t>(processors) + 63) / 64),
      random_(seed),
      module_free_(costs.one_bus ? 1 : static_cast<std::size_t>(processors), 0),
      processes_(static_cast<std::size_t>(processes)),
      processors_(static_cast<std::size_t>(processors)),
      events_(processors) {
  KGATE_EXPECTS(processors >= 1 && processors <= std::numeric_limits<std::int16_t>::max() && processes >= 1,
                "a multiprocessor has 1 to 32767 processors and a process");
  for (int c = 0; c < processors; ++c) processors_[static_cast<std::size_t>(c)].number = c;
  for (int p = 0; p < processes; ++p) {
    processes_[static_cast<std::size_t>(p)].processor = p % processors;
    processors_[static_cast<std::size_t>(p % processors)].ring.push_back(p);
  }
}

multiprocessor::line multiprocessor::new_line(process_id home) {
  const auto made = static_cast<line>(lines_.size());
  const auto processors = static_cast<std::uint32_t>(processors_.size());
  // What is local to no process is spread over the modules, so that none is hot by accident.
  const std::uint32_t module = home == nobody ? (made * 2'654'435'761U >> 8) % processors : home.value % processors;
  lines_.push_back({.module = static_cast<std::uint16_t>(module)});
  copies_.resize(lines_.size() * copy_words_, 0);
  line_filled_ = 0;
  return made;
}

multiprocessor::line multiprocessor::data_line(process_id home) {
  if (line_filled_ == 0 || line_filled_ >= costs_.words_per_line) new_line(home);
  ++line_filled_;
  return static_cast<line>(lines_.size() - 1);
}

copy multiprocessor::copy_of(int processor, const line_state& at, const std::uint64_t* copies) const {
  if (at.owner == processor) return copy::exclusive;
  return (copies[processor / 64] >> (processor % 64) & 1) != 0 ? copy::shared : copy::none;
}

void multiprocessor::take_copy(int processor, line_state& at, std::uint64_t* copies, access_kind kind) const {
  if (rules_.effective(kind) == access_kind::write) {
    if (at.shared) std::fill(copies, copies + copy_words_, 0);
    at.owner = static_cast<std::int16_t>(processor);
  } else if (at.owner != processor) {
    at.owner = -1;
  }
  copies[processor / 64] |= std::uint64_t{1} << (processor % 64);
  at.shared = true;
}

void multiprocessor::access(int process, line where, access_kind kind, bool rmw) {
  at_its_time(process);
  processor_state& c = *running_;
  line_state& at = lines_[where];
  const bool caches = copy_words_ > 0;
  std::uint64_t* const copies = caches ? &copies_[where * copy_words_] : nullptr;
  c.time += costs_.step;
  ++totals_.accesses;
  if (rules_.remote(caches ? copy_of(c.number, at, copies) : copy::none, kind, pid(c.number), pid(at.module))) {
    ++totals_.remote;
    nanoseconds& free = module_free_[costs_.one_bus ? 0 : at.module];
    const nanoseconds start = std::max(c.time, free);
    totals_.queued += start - c.time;
    free = start + costs_.occupied;
    c.time = start + costs_.remote;
  } else {
    c.time += costs_.local;
  }
  if (rmw) c.time += costs_.rmw;
  if (caches) take_copy(c.number, at, copies, kind);
}

void multiprocessor::wait_for(int process, line where) {
  std::vector<int>& all = waiters_[where];
  if (std::find(all.begin(), all.end(), process) == all.end()) all.push_back(process);
  lines_[where].awaited = true;
}

void multiprocessor::no_longer_waits_for(int process, line where) {
  const auto found = waiters_.find(where);
  if (found != waiters_.end()) std::erase(found->second, process);
}

void multiprocessor::block(int process) {
  process_state& p = processes_[static_cast<std::size_t>(process)];
  if (std::exchange(p.notified, false)) return;
  p.waits = true;
  do p.here->leave();
  while (p.waits);
}

/// Each process that waits for this line may go on: at once if it is its turn, else when its turn comes.
void multiprocessor::wake(line where) {
  lines_[where].awaited = false;
  const std::vector<int> woken = std::exchange(waiters_[where], {});
  for (const int w : woken) {
    process_state& p = processes_[static_cast<std::size_t>(w)];
    if (!p.waits) {
      p.notified = true;
      continue;
    }
    processor_state& c = processors_[static_cast<std::size_t>(p.processor)];
    const bool idle = current(c).waits;
    p.waits = false;
    if (&c == running_ || !idle) continue;  // its processor has other work: it will be found at its turn
    c.time = std::max(c.time, running_->time);
    if (quantum_over(c)) rotate(c);
    plan(c);
    limit_ = std::min(limit_, c.time + costs_.remote);
  }
}

/// The turns that are over by the processor's clock: processes that waited have used theirs up.
void multiprocessor::rotate(processor_state& c) {
  const nanoseconds turns = std::max<nanoseconds>(1, (c.time - c.slot) / turn());
  c.at = (c.at + static_cast<std::size_t>(turns % static_cast<nanoseconds>(c.ring.size()))) % c.ring.size();
  c.slot += turns * turn();
  c.time = std::max(c.time, c.slot + costs_.context_switch);
  ++totals_.preemptions;
}

/// When is this processor to be looked at next? Now, if the process whose turn it is does not wait; at the turn of the
/// first that does not; never if all wait.
void multiprocessor::plan(const processor_state& c) {
  nanoseconds next = timeline::never;
  const std::size_t n = c.ring.size();
  for (std::size_t d = 0; d < n && next == timeline::never; ++d) {
    const std::size_t at = c.at + d < n ? c.at + d : c.at + d - n;
    if (!processes_[static_cast<std::size_t>(c.ring[at])].waits)
      next = d == 0 ? c.time : c.slot + static_cast<nanoseconds>(d) * turn();
  }
  events_.set(c.number, next);
}

void multiprocessor::run(const std::function<void(int)>& body) {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    process_state& p = processes_[i];
    p.fiber = std::make_unique<schedules::fiber>([this, i, &body](schedules::fiber& self) {
      processes_[i].here = &self;
      body(static_cast<int>(i));
      processes_[i].done = true;
    });
  }
  // Turns begin at different times on different processors, as they would on a machine that has been running for a
  // while.
  for (std::size_t c = 0; c < processors_.size(); ++c) {
    if (processors_[c].ring.size() > 1)
      processors_[c].slot = -static_cast<nanoseconds>(random_() % static_cast<std::uint64_t>(costs_.quantum));
    plan(processors_[c]);
  }
  while (done_ < processes_.size() && !stopped_) {
    if (events_.empty()) throw std::logic_error("the processes that are left wait for ever");
    handle_event(processors_[static_cast<std::size_t>(events_.processor())], events_.time(), events_.next_of_others());
  }
  for (process_state& p : processes_) p.fiber.reset();  // of a run that was stopped: while what they use is there
}

void multiprocessor::handle_event(processor_state& c, nanoseconds now, nanoseconds others) {
  c.time = std::max(c.time, now);
  process_state& p = current(c);
  if (p.waits || quantum_over(c)) {
    rotate(c);
    return plan(c);
  }
  limit_ = std::min(others == timeline::never ? others : others + costs_.remote, turn_over(c) - 1);
  running_ = &c;
  p.fiber->resume();
  if (p.done) {
    ++done_;
    totals_.time = std::max(totals_.time, c.time);
    p.fiber.reset();
    c.ring.erase(c.ring.begin() + static_cast<std::ptrdiff_t>(c.at));
    if (!c.ring.empty()) {
      c.at %= c.ring.size();
      c.slot = c.time;
      c.time += costs_.context_switch;
    }
  }
  plan(c);
}

}  // namespace kgate::lab
