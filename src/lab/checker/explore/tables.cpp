// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/tables.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

namespace kgate::lab {

namespace {

unsigned bits_for(std::size_t values) {
  unsigned bits = 0;
  while ((std::size_t{1} << bits) < values) ++bits;
  return bits;
}

/// Bits left over in the last word go to the local states, which are the likeliest to outgrow their field late.
widths with_slack(widths w) {
  const unsigned words = layout(w).words;
  for (;;) {
    widths more = w;
    for (unsigned& bits : more.local) ++bits;
    if (layout(more).words > words || more.local.front() > 16) return w;
    w = more;
  }
}

/// The array that v is an element of, one for each process; a variable without a home stands alone.
std::string array_of(const shared_variable& v) {
  return v.home == nobody ? v.name : v.name.substr(0, v.name.find_first_of(".["));
}

constexpr unsigned local_bits_max = 22;
constexpr unsigned variable_bits_max = 24;
static_assert(variable_bits_max <= way_shift);
/// A variable of more bits has a table by what was observed: one by all its values would be nearly empty.
constexpr unsigned dense_bits_max = 12;

}  // namespace

void step_index::add(code seen, step_entry e) {
  std::size_t i = slot(seen);
  while (seen_[i].load(std::memory_order_relaxed) != 0) {
    if (seen_[i].load(std::memory_order_relaxed) == seen + 1) return;
    i = (i + 1) & (seen_.size() - 1);
  }
  entries_[i] = e.bits();
  seen_[i].store(seen + 1, std::memory_order_release);
  ++count_;
}

std::unique_ptr<step_index> step_index::larger() const {
  auto out = std::make_unique<step_index>(bits_ + 1);
  for (std::size_t i = 0; i < seen_.size(); ++i)
    if (const std::uint32_t at = seen_[i].load(std::memory_order_relaxed); at != 0)
      out->add(at - 1, step_entry::of(entries_[i]));
  return out;
}

tables::tables(program& p, const widths& w) : program_(p), needed_(w), widths_(with_slack(w)), layout_(widths_) {
  if (layout_.words > state_words_max)
    throw std::length_error("a state needs more than " + std::to_string(state_words_max * 8) + " bytes");
  for (int v = 0; v < program_.variables(); ++v)
    steps_max_ = std::max(
        {steps_max_, program_.variable(v).domain.size(), static_cast<std::size_t>(program_.variable(v).ways_max)});
  for (int i = 0; i < program_.N(); ++i) {
    rows_.emplace_back(new local_row[std::size_t{1} << widths_.local[i]]);
    bytes_ += sizeof(local_row) << widths_.local[i];
    add_row(i, 0);
    if (program_.mortal()) add_row(i, program::dead);
  }
  if (!program_.mortal()) return;
  mortal_ = true;
  deaths_max_ = program_.options().deaths_max;
  death_field_ = layout_.variable[program_.death_variable()];
  death_bits_ = widths_.variable[program_.death_variable()];
}

local_id packed_state::local(int p) const { return static_cast<local_id>(table_.packing().local[p].get(words_)); }
const std::string& packed_state::value(int v) const {
  return table_.source().variable(v).values.bytes(static_cast<code>(table_.packing().variable[v].get(words_)));
}
region packed_state::where(int p) const { return table_.row(p, local(p)).where; }
int packed_state::name(int p) const { return table_.row(p, local(p)).name; }
std::string_view packed_state::label(int p) const { return table_.source().local(p, local(p)).label; }
bool packed_state::waiting(int p) const { return table_.row(p, local(p)).waiting; }

std::string broken_invariant(const tables& t, const std::uint64_t* words) {
  return t.source().broken_invariant(packed_state(t, words));
}

bool tables::may_die(const std::uint64_t* words) const {
  int dead = 0;
  for (int p = 0; p < program_.N(); ++p) dead += layout_.local[p].get(words) == program::dead ? 1 : 0;
  return dead < deaths_max_;
}

void tables::kill(int p, std::uint64_t* words) {
  const code after = program_.after_death(p, static_cast<code>(death_field_.get(words)));
  if (after >> death_bits_ != 0) throw overflow{};
  death_field_.set(words, after);
  layout_.local[p].set(words, program::dead);
}

widths tables::first(const program& p, unsigned extra) {
  widths w;
  for (int v = 0; v < p.variables(); ++v) w.variable.push_back(std::max(1U, bits_for(p.variable(v).values.size())));
  for (int i = 0; i < p.N(); ++i) w.local.push_back(std::max(4U, bits_for(p.locals(i))));
  w.extra = extra;
  return w;
}

widths tables::wider() const {
  widths w = needed_;
  // Process automata grow alike, and so do the elements that an array has for each process: one that overflows widens
  // all.
  std::map<std::string, unsigned> array;
  for (int v = 0; v < program_.variables(); ++v) {
    w.variable[v] = std::max(w.variable[v], bits_for(program_.variable(v).values.size()));
    unsigned& widest = array[array_of(program_.variable(v))];
    widest = std::max(widest, w.variable[v]);
  }
  for (int v = 0; v < program_.variables(); ++v) w.variable[v] = array[array_of(program_.variable(v))];
  unsigned most = 0;
  for (int i = 0; i < program_.N(); ++i) most = std::max(most, bits_for(program_.locals(i)));
  for (unsigned& bits : w.local) bits = std::max(bits, most);
  if (most > local_bits_max)
    throw std::length_error("a process has more than 4 million local states, the longest at label " +
                            program_.longest_memory(0).second + ": does its text lack live(...)?");
  for (int v = 0; v < program_.variables(); ++v)
    if (w.variable[v] > variable_bits_max)
      throw std::length_error("variable " + program_.variable(v).name +
                              " takes more than 16 million values: does it grow without bound?");
  return w;
}

void tables::initial_state(std::uint64_t* words) const { std::fill_n(words, layout_.words, 0); }

void tables::add_row(int p, local_id s) {
  local_row& r = rows_[p][s];
  if (r.made) return;
  r.made = true;
  const local_state& l = program_.local(p, s);
  unsigned bits = 0;
  if (l.variable >= 0) {
    r.variable = layout_.variable[l.variable];
    r.variable_number = static_cast<std::uint16_t>(l.variable);
    r.has_variable = true;
    bits = widths_.variable[l.variable];
    r.ways = static_cast<std::uint8_t>(l.ways);
  }
  if (l.op == operation::read && program_.variable(l.variable).safe()) {
    r.domain = &program_.variable(l.variable).domain;
    r.unstable = program_.variable(l.variable).unstable;
  }
  r.where = l.where;
  r.waiting = l.waiting;
  r.done = l.done;
  r.name = static_cast<std::int16_t>(l.name);
  if (bits > dense_bits_max || r.ways > 1) return use_index(r, std::make_unique<step_index>(2));
  r.steps = steps_.emplace_back(std::size_t{1} << bits).data();
  bytes_.fetch_add(sizeof(std::uint64_t) << bits, std::memory_order_relaxed);
}

void tables::use_index(local_row& r, std::unique_ptr<step_index> index) {
  bytes_.fetch_add(index->bytes(), std::memory_order_relaxed);
  r.index.store(index.get(), std::memory_order_release);
  indices_.push_back(std::move(index));
}

void tables::ensure_row(int p, local_id s) {
  const std::scoped_lock lock(mutex_);
  if (s >> widths_.local[p] != 0) throw overflow{};
  add_row(p, s);
}

step_entry tables::miss(int p, local_id s, code seen) {
  const transition t = program_.step(p, s, seen);
  const std::scoped_lock lock(mutex_);
  if (!t.blocked) {
    if (t.next >> widths_.local[p] != 0) throw overflow{};
    if (t.writes && t.written >> widths_.variable[rows_[p][s].variable_number] != 0) throw overflow{};
    add_row(p, t.next);
  }
  const step_entry e(t);
  local_row& r = rows_[p][s];
  if (r.steps != nullptr) {
    r.steps[seen].store(e.bits(), std::memory_order_release);
    return e;
  }
  if (const step_index* index = r.index.load(std::memory_order_relaxed); index->full()) use_index(r, index->larger());
  r.index.load(std::memory_order_relaxed)->add(seen, e);
  return e;
}

}  // namespace kgate::lab
