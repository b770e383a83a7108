// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/memory.hpp"

#include <algorithm>

#include "kgate/core/contracts.hpp"

namespace kgate::lab::schedules {

namespace {
std::uint64_t bit(process_id p) { return std::uint64_t{1} << (p.value % 64); }
}  // namespace

memory::memory(int processes, cost_rules rules)
    : rules_(rules), words_(static_cast<std::size_t>(processes + 63) / 64) {}

void memory::add(const cell& c) {
  cells_.push_back(&c);
  copies_.resize(cells_.size() * words_);
}

std::uint64_t memory::value(std::string_view name, int instance) const {
  const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const cell* c) {
    return c->what().name == name && c->what().instance == instance;
  });
  KGATE_EXPECTS(found != cells_.end(), "no variable of this name");
  return (*found)->bits();
}

int memory::read(const cell& c, process_id p) {
  const bool was_remote = remote(c, p);
  word(c, p) |= bit(p);
  return was_remote ? 1 : 0;
}

int memory::write(const cell& c, process_id p) {
  drop_copies(c);
  if (rules_.writer_keeps_copy) word(c, p) |= bit(p);
  return rules_.machine == cost_rules::model::cc || c.what().home != p ? 1 : 0;
}

int memory::failed_cas(const cell& c, process_id p) {
  if (!rules_.smart_cache) drop_copies(c);
  word(c, p) |= bit(p);
  return rules_.machine == cost_rules::model::cc || c.what().home != p ? 1 : 0;
}

bool memory::remote(const cell& c, process_id p) const {
  if (rules_.machine == cost_rules::model::dsm) return c.what().home != p;
  return (copies_[c.index() * words_ + p.value / 64U] & bit(p)) == 0;
}

std::uint64_t& memory::word(const cell& c, process_id p) { return copies_[c.index() * words_ + p.value / 64U]; }

void memory::drop_copies(const cell& c) {
  std::fill_n(copies_.begin() + static_cast<std::ptrdiff_t>(c.index() * words_), words_, 0);
}

}  // namespace kgate::lab::schedules
