// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The constructions on the checker's machine, with operations chosen so that a mistake shows in a result.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/objects/assigned.hpp"
#include "kgate/objects/herlihy93.hpp"
#include "kgate/objects/named_object.hpp"
#include "lab/checker/model/machine.hpp"
#include "lab/checker/properties/operations.hpp"

namespace kgate::lab {

/// A state of two words that must agree: a torn copy does not. An operation adds to both and tells what they were.
struct pair {
  struct operation {
    std::uint64_t add;
  };
  using result = std::uint64_t;
  result apply(const operation& op) noexcept {
    const result was = left + 256 * (left ^ right);
    left += op.add;
    right += op.add;
    return was;
  }
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

/// One word, and an operation of two that must agree.
struct single {
  struct operation {
    std::uint64_t add;
    std::uint64_t same;
  };
  using result = std::uint64_t;
  result apply(const operation& op) noexcept { return std::exchange(value, value + op.add + 256 * (op.add ^ op.same)); }
  std::uint64_t value = 0;
};

/// As little as can be, where a text around it makes many states already.
struct tiny {
  struct operation {
    std::uint64_t add;
  };
  using result = std::uint64_t;
  result apply(const operation& op) noexcept { return std::exchange(value, value + op.add); }
  std::uint64_t value = 0;
};

/// No two sums of different operations are equal.
constexpr std::uint64_t amount(int process, int nth) { return std::uint64_t{1} << (2 * process + nth); }

/// A pair that the last process only reads.
template <int Reader>
struct pair_read_by : pair {
  static bool reads_only(const operation& op) noexcept { return op.add == 0; }
};
template <int Reader>
pair::operation make_operation(const pair_read_by<Reader>&, int process, int nth) {
  return {process == Reader ? 0 : amount(process, nth)};
}

inline pair::operation make_operation(const pair&, int process, int nth) { return {amount(process, nth)}; }
inline tiny::operation make_operation(const tiny&, int process, int nth) { return {amount(process, nth)}; }
inline single::operation make_operation(const single&, int process, int nth) {
  return {amount(process, nth), amount(process, nth)};
}

/// As published: every operation is announced at once. Fewer operations then lead to the last look.
struct announced_rules : herlihy93_rules {
  static constexpr bool tries_first = false;
};

/// The most steps an operation can take, by the text: attempts in which every process's operation is pending, all lost,
/// and the last look; and two steps of operator_of.
template <class T, class Rules = herlihy93_rules>
constexpr int own_steps_bound(int K) {
  const auto words = static_cast<int>(in_words<T>::size) + 1;
  const auto result = static_cast<int>(in_words<typename T::result>::size);
  const auto operation = static_cast<int>(in_words<typename T::operation>::size);
  const int snapshot = 1 + words + K * result + K * (1 + operation) + 1;
  const int commit = 1 + words + K * result + 1 + 1 + 1;  // the last gives the block back
  const int announcement = 1 + operation + 1;
  const int last_read = 1 + result;
  return 2 + (Rules::tries_first ? 3 : 2) * (snapshot + commit) + announcement + last_read;
}

/// Passages that are operations. A process that has several to make counts them in a variable of its own.
template <class T, class Use>
class operator_of {
 public:
  using Process = checker_machine::Process;
  struct Private {
    int name = 0;
  };
  operator_of(checker_machine::Memory& memory, int N, int k)
      : use_(memory, N, k), turn_(static_cast<std::size_t>(N), [&](std::size_t i) {
          return checker_machine::Var<std::uint8_t>(memory, {.name = "turn", .home = pid(static_cast<int>(i))}, 0);
        }) {}
  void acquire(Process& p, Private& mine) {
    const std::uint8_t nth = turn_[p.id()].read(p["turn"]);
    turn_[p.id()].write(p["turn"], static_cast<std::uint8_t>(nth + 1));
    typename T::result got;
    {
      // Which operation it is must not be forgotten inside, and what was observed there matters only by the result.
      [[maybe_unused]] auto frame = p.frame();
      got = use_.apply(p, make_operation(T{}, p.id().value, nth));
    }
    p.live(got);
    mine.name = static_cast<int>(got);
  }
  void release(Process&, Private&) {}

 private:
  Use use_;
  fixed_array<checker_machine::Var<std::uint8_t>> turn_;
};

/// The wait-free object, each process under its own number.
template <class T, class Rules>
class numbered {
 public:
  numbered(checker_machine::Memory& memory, int N, int /*k*/) : object_(memory, N) {}
  typename T::result apply(checker_machine::Process& p, const typename T::operation& op) {
    return object_.apply(p, p.id().value, op);
  }

 private:
  herlihy93<checker_machine, T, at_runtime, Rules> object_;
};

template <class T, class Rules = herlihy93_rules>
using wait_free_operations = operator_of<T, numbered<T, Rules>>;

template <class T, class Assignment, class Rules = herlihy93_rules>
using resilient_operations =
    operator_of<T, assigned<checker_machine, herlihy93<checker_machine, T, at_runtime, Rules>, Assignment, T>>;

template <class T>
sequential_specification specification() {
  return {std::string(sizeof(T), '\0'), [](std::string& state, int process, int nth) {
            T now = from_bytes<T>(state);
            const auto result = static_cast<int>(now.apply(make_operation(now, process, nth)));
            state = to_bytes(now);
            return result;
          }};
}

template <class T, class Operations>
operations_result explored(int N, int k, int each, std::uint64_t states_max = 20'000'000) {
  program p(make_model<Operations>(N, k), N, k, {.passages = each, .wrong = {}});
  return explore_operations(p, {specification<T>(), states_max, {"turn", "spare", "kept"}});
}

}  // namespace kgate::lab
