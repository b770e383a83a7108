// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/memory.hpp"

#include <algorithm>

#include "kgate/detail/contracts.hpp"

namespace kgate::lab::schedules {

memory::memory(int processes, cost_model rules) : rules_(rules), processes_(static_cast<std::size_t>(processes)) {}

void memory::add(const cell& c) {
  cells_.push_back(&c);
  copies_.resize(cells_.size() * processes_, copy::none);
}

std::uint64_t memory::value(std::string_view name, int instance) const {
  const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const cell* c) {
    return c->what().name == name && c->what().instance == instance;
  });
  KGATE_EXPECTS(found != cells_.end(), "no variable of this name");
  return (*found)->bits();
}

int memory::read(const cell& c, process_id p) { return access(c, p, access_kind::read); }
int memory::write(const cell& c, process_id p) { return access(c, p, access_kind::write); }
int memory::failed_cas(const cell& c, process_id p) { return access(c, p, access_kind::failed_swap); }

int memory::access(const cell& c, process_id p, access_kind kind) {
  copy& mine = copy_of(c, p);
  const bool was_remote = rules_.remote(mine, kind, p, c.what().home);
  const copy kept = rules_.after_own(mine, kind);
  if (rules_.caches() && rules_.after_other(copy::exclusive, kind) != copy::exclusive) {
    copy* all = &copies_[c.index() * processes_];
    std::transform(all, all + processes_, all, [&](copy theirs) { return rules_.after_other(theirs, kind); });
  }
  mine = kept;
  return was_remote ? 1 : 0;
}

bool memory::remote(const cell& c, process_id p) const {
  return rules_.remote(copies_[c.index() * processes_ + p.value], access_kind::read, p, c.what().home);
}

}  // namespace kgate::lab::schedules
