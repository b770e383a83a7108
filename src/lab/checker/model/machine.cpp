// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/machine.hpp"

#include <stdexcept>
#include <utility>

namespace kgate::lab {

const char* to_string(operation op) {
  switch (op) {
    case operation::none:
      return "step";
    case operation::read:
      return "read";
    case operation::begin_write:
      return "begin_write";
    case operation::write:
      return "write";
    case operation::fetch_add:
      return "fetch_and_add";
    case operation::test_and_set:
      return "test_and_set";
    case operation::exchange:
      return "exchange";
    case operation::compare_and_swap:
      return "compare_and_swap";
    case operation::rmw:
      return "read_modify_write";
    case operation::await:
      return "await";
  }
  return "?";
}

mutation mutation::parse(const std::string& text) {
  const auto fail = [&] {
    throw std::invalid_argument("mutation '" + text + "': allowed are drop:LABEL, defer:LABEL and force:LABEL=VALUE");
  };
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size()) fail();
  const std::string what = text.substr(0, colon);
  mutation m;
  m.label = text.substr(colon + 1);
  if (what == "drop") {
    m.what = kind::drop;
  } else if (what == "defer") {
    m.what = kind::defer;
  } else if (what == "force") {
    m.what = kind::force;
    const auto equals = m.label.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == m.label.size()) fail();
    const std::string number = m.label.substr(equals + 1);
    std::size_t used = 0;
    try {
      m.value = std::stol(number, &used);
    } catch (const std::exception&) {
      fail();
    }
    if (used != number.size()) fail();
    m.label.resize(equals);
  } else {
    fail();
  }
  return m;
}

std::string mutation::text() const {
  switch (what) {
    case kind::drop:
      return "drop:" + label;
    case kind::defer:
      return "defer:" + label;
    case kind::force:
      return "force:" + label + "=" + std::to_string(value);
  }
  return label;
}

const mutation* checker_machine::Process::wrong_here() {
  for (const mutation& m : wrong_) {
    if (m.label != label_) continue;
    return &m;
  }
  return nullptr;
}

std::string checker_machine::Process::frames_text() const {
  std::string text;
  for (const frame_state& frame : frames_) {
    if (frame.live_at) text += 'L' + std::to_string(site_number(*frame.live_at));
    text += '/' + std::to_string(frame.since.size()) + ':' + frame.since;
  }
  return text;
}

std::uint64_t checker_machine::Process::state_hash(operation op, int variable) const {
  const std::hash<std::string_view> hash_of;
  std::uint64_t all = 0;
  const auto add = [&](std::uint64_t part) { all = (all ^ part) * 0x9E3779B97F4A7C15u + (all >> 29); };
  for (const frame_state& frame : frames_) {
    if (frame.live_at) add(frame.live_at->line() * std::uint64_t{65536} + frame.live_at->column());
    add(hash_of(frame.since));
  }
  if (deferred_) add(hash_of(deferred_from_));
  add(hash_of(resumes_with_));
  add(hash_of(label_));
  const region where = here();
  add((static_cast<std::uint64_t>(op) << 40) + (static_cast<std::uint64_t>(where) << 33) +
      (std::uint64_t{waiting_} << 32) + static_cast<std::uint32_t>(variable));
  add(static_cast<std::uint64_t>(name_in(where)));
  return all;
}

void checker_machine::Process::stop(operation op, int variable, int ways) {
  const bool again = !next_.key.empty();  // it was stopped before, and caught that: program::run() complains
  next_.op = op;
  next_.variable = variable;
  next_.label = label_;
  next_.ways = ways;
  next_.where = here();
  next_.waiting = waiting_;
  next_.name = name_in(next_.where);
  next_.hash = state_hash(op, variable);
  next_.key = frames_text();
  if (deferred_) next_.key += "&" + deferred_from_;
  if (!resumes_with_.empty()) next_.key += "|" + resumes_with_;
  // The next access is determined by the rest of the key; with it in, a missing live value is likelier to be noticed.
  next_.key += std::string("@") + label_ + '#' + std::to_string(variable) + '#' + std::to_string(static_cast<int>(op)) +
               '#' + std::to_string(static_cast<int>(next_.where)) + (waiting_ ? 'w' : 'd') +
               std::to_string(next_.name) + 'y' + std::to_string(ways);
  if (again) next_.key = "caught";
  throw stopped_here{};
}

void checker_machine::Process::endless() const {
  throw text_error("process " + std::to_string(id_.value) + " loops for ever without an access, at label " + label_);
}

void checker_machine::Process::impure(const char* what) const {
  throw text_error("the " + std::string(what) + " given at label " + label_ +
                   " is not pure: it gives two answers for one value");
}

void checker_machine::Process::after_access(code seen) {
  auto late = std::exchange(deferred_, nullptr);
  if (!late) return;
  resumes_with_ = deferred_from_ + '=' + std::to_string(seen);
  late();
  resumes_with_.clear();
}

void checker_machine::Process::end_section() {
  after_access(0);
  if (!moved_in_section_) {
    label_ = section_ == region::entry ? "enter" : "leave";
    access(operation::none, -1, [](code) { return effect{}; });
  }
}

}  // namespace kgate::lab
