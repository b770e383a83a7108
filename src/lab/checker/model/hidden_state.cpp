// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/hidden_state.hpp"

#include <algorithm>
#include <utility>

#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

namespace {

thread_local construction_heap* recording = nullptr;

}  // namespace

construction_heap::construction_heap() { recording = this; }

construction_heap::~construction_heap() { recording = nullptr; }

construction_heap::pause::pause() : outer_(std::exchange(recording, nullptr)) {}

construction_heap::pause::~pause() { recording = outer_; }

void construction_heap::allocated(const void* block, std::size_t bytes) {
  construction_heap* const into = recording;
  if (into == nullptr) return;
  const pause own_list;
  into->blocks_.emplace_back(static_cast<const char*>(block), bytes);
}

void construction_heap::freed(const void* block) noexcept {
  if (recording == nullptr) return;
  construction_heap* const from = recording;
  const pause own_list;
  const auto known = std::find_if(from->blocks_.begin(), from->blocks_.end(),
                                  [block](std::string_view one) { return one.data() == block; });
  if (known != from->blocks_.end()) from->blocks_.erase(known);
}

hidden_state::hidden_state(const model& m) {
  owned_.push_back({m.object, std::string(m.object)});
  for (const std::string_view block : m.owned) owned_.push_back({block, std::string(block)});
  for (const std::string_view part : m.statics) {
    statics_.push_back({part, std::string(part)});
    initialised_.emplace_back(part.size(), false);
  }
}

const char* hidden_state::changed() {
  const char* what = nullptr;
  for (piece& one : owned_)
    if (one.now != one.before) {
      one.before = one.now;
      if (what == nullptr)
        what = &one == &owned_.front() ? "a member of the algorithm's class" : "memory that the algorithm's object has";
    }
  for (std::size_t i = 0; i < statics_.size(); ++i) {
    piece& one = statics_[i];
    if (one.now == one.before) continue;
    for (std::size_t at = 0; at < one.now.size(); ++at) {
      if (one.now[at] == one.before[at]) continue;
      if (initialised_[i][at]) what = "a static variable";
      initialised_[i][at] = true;
    }
    one.before = one.now;
  }
  return what;
}

}  // namespace kgate::lab
