// SPDX-License-Identifier: Apache-2.0
/// What herlihy93 asks of memory beyond atomic words: that a word is seen no later than what its process changes next
/// in W or A. On a machine that keeps this it is the text explored elsewhere; on one that does not, for the blocks, the
/// announced operations or the spare blocks, it is not linearizable.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "checker/layered_process.hpp"
#include "named_explored.hpp"

namespace kgate::lab {
namespace {

/// Data whose names begin with Late reach memory only after their process's next change of a Var, one by one. Their
/// writer sees them at once.
template <char Late>
struct late_writes {
  using Memory = checker_machine::Memory;

  class Process : public layered_process<Process> {
   public:
    using layered_process<Process>::layered_process;

    struct write {
      const void* to;
      std::uint64_t value;
      std::function<void()> make;
    };
    void postpone(write one) { late_.push_back(std::move(one)); }
    const write* pending(const void* to) const {
      const write* found = nullptr;
      for (const write& one : late_)
        if (one.to == to) found = &one;
      return found;
    }
    void catch_up() {
      for (const write& one : std::exchange(late_, {})) one.make();
    }

   private:
    std::vector<write> late_;
  };

  template <class T>
  class Var {
   public:
    Var(Memory& memory, variable what, T initial) : at_(memory, what, initial) {}
    T read(Process& p) { return at_.read(p.under()); }
    void write(Process& p, T value) {
      at_.write(p.under(), value);
      p.catch_up();
    }
    bool compare_and_swap(Process& p, T expected, T desired) {
      const bool swapped = at_.compare_and_swap(p.under(), expected, desired);
      p.catch_up();
      return swapped;
    }
    T fetch_add(Process& p, T delta) {
      const T was = at_.fetch_add(p.under(), delta);
      p.catch_up();
      return was;
    }
    template <class Predicate>
    T await_value(Process& p, Predicate&& until) {
      return at_.await_value(p.under(), until);
    }

   private:
    checker_machine::Var<T> at_;
  };

  template <class T>
  class Data {
   public:
    Data(Memory& memory, variable what, T initial) : late_(what.name[0] == Late), at_(memory, what, initial) {}
    T read(Process& p) {
      const auto* mine = p.pending(this);
      return mine != nullptr ? mine->value : at_.read(p.under());
    }
    void write(Process& p, T value) {
      if (late_)
        p.postpone({this, value, [this, &p, value] { at_.write(p["late"].under(), value); }});
      else
        at_.write(p.under(), value);
    }

   private:
    bool late_;
    checker_machine::Var<T> at_;
  };
};

template <class T, char Late, class Rules>
class late_naming {
  using machine = late_writes<Late>;

 public:
  late_naming(checker_machine::Memory& memory, int /*N*/, int k) : object_(memory, k) {}
  typename T::result apply(checker_machine::Process& under, const typename T::operation& op) {
    typename machine::Process p(under);
    const auto result = object_.apply(p, op);
    p.catch_up();
    return result;
  }

 private:
  named_object<machine, T, at_runtime, Rules> object_;
};

template <char Late, class T = tiny, class Rules = named_rules>
operations_result explored_late() {
  program p(make_model<operator_of<T, late_naming<T, Late, Rules>>>(2, 2), 2, 2, {.passages = 2, .wrong = {}});
  // The spare blocks are not among the own variables: written late they may belong to the next under the name already.
  return explore_operations(p, {specification<T>(), 20'000'000, {"turn", "kept"}});
}

constexpr char nothing = '-', blocks = 'S', announced_operations = 'O', spare_blocks = 's';

TEST(LateWrites, OfNothingAreTheTextAsItIs) {
  const operations_result r = explored_late<nothing>();
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.linearizable) << r.why;
}

TEST(LateWrites, OfBlocksLoseChanges) { EXPECT_FALSE((explored_late<blocks>().linearizable)); }
TEST(LateWrites, OfAnnouncedOperationsLetOthersCarryOutTheLast) {
  EXPECT_FALSE((explored_late<announced_operations, tiny, named_announced_rules>().linearizable));
}
TEST(LateWrites, OfSpareBlocksGiveTwoTheSame) { EXPECT_FALSE((explored_late<spare_blocks>().linearizable)); }

}  // namespace
}  // namespace kgate::lab
