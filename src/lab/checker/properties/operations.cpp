// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

namespace kgate::lab {

namespace {

constexpr int operations_max = 8;

/// What an observer saw: which operations began and ended, what had ended when each began, and the results.
struct history {
  std::uint8_t began = 0;
  std::uint8_t ended = 0;
  std::uint8_t before[operations_max] = {};
  std::int32_t result[operations_max] = {};

  std::string key() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

/// Looks for an order of the operations that explains a history.
class explanation {
 public:
  explanation(const sequential_specification& object, const history& seen, int passages)
      : object_(object), seen_(seen), passages_(passages) {}

  bool exists() { return from(object_.initial, 0); }

 private:
  /// `done` took effect, in some order that led to `state`.
  bool from(const std::string& state, unsigned done) {
    if ((seen_.ended & ~done) == 0) return true;
    for (int o = 0; o < operations_max; ++o) {
      const unsigned bit = 1U << o;
      // Next may be what has begun, if everything that ended before it began has taken effect.
      if ((seen_.began & bit) == 0 || (done & bit) != 0 || (seen_.before[o] & ~done) != 0) continue;
      std::string next = state;
      const int result = object_.apply(next, o / passages_, o % passages_);
      if ((seen_.ended & bit) != 0 && result != seen_.result[o]) continue;
      if (from(next, done | bit)) return true;
    }
    return false;
  }

  const sequential_specification& object_;
  const history& seen_;
  int passages_;
};

/// States of one size, side by side, and where to find each: equal states get one number.
class states {
 public:
  explicit states(std::size_t bytes) : bytes_(bytes), index_(1 << 16, none) {}

  /// The number of the state, and whether it is new.
  std::pair<std::uint32_t, bool> add(const char* state) {
    if (2 * count_ >= index_.size()) grow();
    for (std::size_t at = hash(state);; ++at) {
      std::uint32_t& entry = index_[at & (index_.size() - 1)];
      if (entry == none) {
        entry = static_cast<std::uint32_t>(count_++);
        all_.insert(all_.end(), state, state + bytes_);
        return {entry, true};
      }
      if (std::memcmp(&all_[entry * bytes_], state, bytes_) == 0) return {entry, false};
    }
  }
  const char* operator[](std::size_t i) const { return &all_[i * bytes_]; }
  std::size_t size() const { return count_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::size_t hash(const char* state) const { return std::hash<std::string_view>{}({state, bytes_}); }
  void grow() {
    index_.assign(2 * index_.size(), none);
    for (std::size_t i = 0; i < count_; ++i) {
      std::size_t at = hash((*this)[i]);
      while (index_[at & (index_.size() - 1)] != none) ++at;
      index_[at & (index_.size() - 1)] = static_cast<std::uint32_t>(i);
    }
  }

  std::size_t bytes_;
  std::size_t count_ = 0;
  std::vector<char> all_;
  std::vector<std::uint32_t> index_;
};

class search {
 public:
  search(program& p, const operations_request& request)
      : program_(p),
        request_(request),
        passages_(p.options().passages),
        own_(static_cast<std::size_t>(p.variables())),
        values_(static_cast<std::size_t>(p.variables())),
        locals_(static_cast<std::size_t>(p.N())),
        own_steps_(static_cast<std::size_t>(p.N())),
        known_(values_.size() * sizeof(code) + locals_.size() * sizeof(local_id) +
               own_steps_.size() * sizeof(std::uint16_t) + sizeof(history)) {
    for (int v = 0; v < p.variables(); ++v)
      own_[static_cast<std::size_t>(v)] =
          std::any_of(request.own_variables.begin(), request.own_variables.end(),
                      [&](const std::string& name) { return p.variable(v).name.starts_with(name); });
  }

  operations_result run() {
    store(0, 0);
    for (std::uint32_t at = 0; at < known_.size(); ++at) {
      if (known_.size() > request_.states_max) return finish(false);
      for (int p = 0; p < program_.N(); ++p) {
        load(at);
        if (!step(p)) continue;
        ++result_.steps;
        while (step_is_own(p)) step(p);
        store(at, p);
        if (!result_.linearizable) return finish(false);
      }
    }
    return finish(true);
  }

 private:
  const local_state& local(int p) const { return program_.local(p, locals_[static_cast<std::size_t>(p)]); }

  /// True if the next step of p concerns no other process: on a variable of its own, or the end of an operation whose
  /// result is known. Not the beginning of an operation, which must come when it comes.
  bool step_is_own(int p) const {
    const local_state& at = local(p);
    if (at.done || at.where == region::remainder) return false;
    return at.variable < 0 || own_[static_cast<std::size_t>(at.variable)];
  }

  bool step(int p) {
    const auto i = static_cast<std::size_t>(p);
    const local_state before = local(p);
    if (before.done) return false;
    const auto v = static_cast<std::size_t>(before.variable);
    const transition t = program_.step(p, locals_[i], before.variable < 0 ? 0 : values_[v]);
    if (t.blocked) {
      result_.waited = true;
      return false;
    }
    if (t.writes) values_[v] = t.written;
    locals_[i] = t.next;
    const local_state& after = local(p);
    if (before.where == region::remainder) begin(p, before.passage);
    if (before.where != region::critical && before.where != region::exit) ++own_steps_[i];
    if (after.where == region::critical && before.where != region::critical) end(p, before.passage, after.name);
    return true;
  }

  void begin(int p, int nth) {
    const int o = p * passages_ + nth;
    seen_.began = static_cast<std::uint8_t>(seen_.began | 1U << o);
    seen_.before[o] = seen_.ended;
  }
  void end(int p, int nth, int result) {
    const int o = p * passages_ + nth;
    seen_.ended = static_cast<std::uint8_t>(seen_.ended | 1U << o);
    seen_.result[o] = result;
    std::uint16_t& steps = own_steps_[static_cast<std::size_t>(p)];
    result_.own_steps_max = std::max<int>(result_.own_steps_max, steps);
    steps = 0;
    const auto [entry, fresh] = judged_.try_emplace(seen_.key(), true);
    if (fresh) entry->second = explanation(request_.object, seen_, passages_).exists();
    if (!entry->second) result_.linearizable = false;
  }

  void load(std::uint32_t at) {
    const char* from = known_[at];
    const auto take = [&](void* to, std::size_t bytes) {
      std::memcpy(to, from, bytes);
      from += bytes;
    };
    take(values_.data(), values_.size() * sizeof(code));
    take(locals_.data(), locals_.size() * sizeof(local_id));
    take(own_steps_.data(), own_steps_.size() * sizeof(std::uint16_t));
    take(&seen_, sizeof seen_);
  }
  void store(std::uint32_t parent, int p) {
    packed_.clear();
    const auto put = [&](const void* from, std::size_t bytes) {
      packed_.append(static_cast<const char*>(from), bytes);
    };
    put(values_.data(), values_.size() * sizeof(code));
    put(locals_.data(), locals_.size() * sizeof(local_id));
    put(own_steps_.data(), own_steps_.size() * sizeof(std::uint16_t));
    put(&seen_, sizeof seen_);
    const auto [number, fresh] = known_.add(packed_.data());
    if (fresh) parents_.push_back({parent, static_cast<std::uint8_t>(p)});
    last_ = number;
  }

  operations_result finish(bool complete) {
    result_.states = known_.size();
    result_.histories = judged_.size();
    result_.complete = complete;
    if (!result_.linearizable) {
      load(last_);
      for (std::uint32_t at = last_; at != 0; at = parents_[at].state) result_.schedule.push_back(parents_[at].process);
      std::reverse(result_.schedule.begin(), result_.schedule.end());
      for (int o = 0; o < program_.N() * passages_; ++o)
        if ((seen_.began >> o & 1) != 0)
          result_.why +=
              fmt::format("{}operation {} of process {}: {}", result_.why.empty() ? "" : "; ", o % passages_ + 1,
                          o / passages_, (seen_.ended >> o & 1) != 0 ? std::to_string(seen_.result[o]) : "pending");
    }
    return result_;
  }

  struct came_from {
    std::uint32_t state;
    std::uint8_t process;
  };

  program& program_;
  const operations_request& request_;
  int passages_;
  std::vector<bool> own_;
  std::vector<code> values_;
  std::vector<local_id> locals_;
  std::vector<std::uint16_t> own_steps_;  ///< of the operation under way
  history seen_;
  states known_;
  std::vector<came_from> parents_;
  std::string packed_;
  std::uint32_t last_ = 0;
  std::unordered_map<std::string, bool> judged_;
  operations_result result_;
};

}  // namespace

operations_result explore_operations(program& p, const operations_request& request) {
  if (p.options().first_more > 0) throw std::invalid_argument("operations are explored with as many by each process");
  const int operations = p.N() * p.options().passages;
  if (operations < 1 || operations > operations_max)
    throw std::invalid_argument(
        fmt::format("1 to {} operations in all can be explored, not {}", operations_max, operations));
  return search(p, request).run();
}

}  // namespace kgate::lab
