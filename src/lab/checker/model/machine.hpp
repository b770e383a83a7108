// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The checker's machine: runs the real text of an algorithm up to its next access to shared memory.
///
/// A process is a deterministic function of what it has observed, so no stack need be kept: to learn what it does after
/// observing v in local state s, the passage is run again from its start, fed the observations that lead to s and then
/// v, and stopped (by an exception) at the access after that. The results are memoised by `program`, so this happens
/// once per (local state, observed value) and everything else is table work.

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kgate/detail/machine.hpp"
#include "lab/checker/model/call_site.hpp"
#include "lab/checker/model/hidden_state.hpp"
#include "lab/checker/model/mutation.hpp"
#include "lab/checker/model/run_monitor.hpp"
#include "lab/checker/model/text_error.hpp"
#include "lab/checker/model/values.hpp"

namespace kgate::lab {

enum class operation : std::uint8_t {
  none,
  read,
  begin_write,
  write,
  fetch_add,
  test_and_set,
  exchange,
  compare_and_swap,
  rmw,
  await
};

const char* to_string(operation op);

/// What the shared variables are. On safe registers a write has a beginning and an end, and a read in between may
/// return any value of the domain: the initial value and 0..domain_max. (A read is one step: one that overlaps a write
/// may be thought of as taking place at a moment within the write, one that overlaps none at any moment.)
///
/// For tickets the domain 0..N*passages+1 loses nothing. At most N*passages tickets are chosen in a run; an algorithm
/// that only compares tickets and adds one to their maximum does the same when each is replaced by its rank among them,
/// and a value read during a write can be replaced by one in the domain that compares alike.
struct register_kind {
  bool safe = false;
  std::uint64_t domain_max = 0;
  bool any_order = false;  ///< what a text does "for all" is done in every order: kgate/detail/forall.hpp
};

/// The first value given to `live`, with the position of the call: a function that takes any number of arguments cannot
/// take the position by default behind them.
struct live_value {
  template <class T>
  requires(!std::same_as<T, live_value>) live_value(const T& value, call_site from = call_site::current())
      : bytes(to_bytes(value)), at(from) {}

  std::string bytes;
  call_site at;
};

struct checker_machine {
  class Memory {
   public:
    explicit Memory(register_kind registers = {}) : registers_(registers) {}

    bool any_order() const { return registers_.any_order; }

    template <class T>
    int add(const variable& description, const T& initial) {
      const construction_heap::pause machines_own;
      auto& v = variables_.emplace_back();
      v.name = description.name;
      if (description.instance >= 0) v.name += "." + std::to_string(description.instance);
      if (description.home != nobody) v.name += "[" + std::to_string(description.home.value) + "]";
      v.home = description.home;
      v.names_process = std::is_same_v<T, process_id>;
      v.print = [](std::string_view bytes) { return to_text(from_bytes<T>(bytes)); };
      if constexpr (requires { T::modes; }) {
        v.modes.assign(T::modes.begin(), T::modes.end());
        v.mode = [](std::string_view bytes) { return from_bytes<T>(bytes).mode(); };
      }
      v.values.intern(to_bytes(initial));
      if (registers_.safe) make_safe(v, initial);
      return static_cast<int>(variables_.size()) - 1;
    }
    /// A variable that no process writes and that every read finds to be any of 0..count-1.
    int add_choice(const char* name, int count) {
      const construction_heap::pause machines_own;
      auto& v = variables_.emplace_back();
      v.name = name;
      v.print = [](std::string_view bytes) { return to_text(from_bytes<int>(bytes)); };
      v.unstable = v.values.intern("?");
      for (int i = 0; i < count; ++i) v.domain.push_back(v.values.intern(to_bytes(i)));
      return static_cast<int>(variables_.size()) - 1;
    }
    shared_variable& at(int index) { return variables_[static_cast<std::size_t>(index)]; }
    const shared_variable& at(int index) const { return variables_[static_cast<std::size_t>(index)]; }
    int size() const { return static_cast<int>(variables_.size()); }

   private:
    template <class T>
    void make_safe(shared_variable& v, const T& initial) {
      if constexpr (std::is_integral_v<T>) {
        v.unstable = v.values.intern(to_bytes(initial) + '?');  // no value has as many bytes
        v.domain.push_back(0);
        for (std::uint64_t value = 0; value <= registers_.domain_max; ++value)
          if (const code c = v.values.intern(to_bytes(static_cast<T>(value))); c != 0) v.domain.push_back(c);
      } else {
        throw std::invalid_argument("safe registers hold numbers only, and " + v.name + " holds something else");
      }
    }

    register_kind registers_;
    std::vector<shared_variable> variables_;
  };

  /// What an access does to its variable, given what it observed there.
  struct effect {
    bool blocked = false;
    std::optional<code> written;
  };

  /// One access that was made.
  struct made {
    operation op = operation::none;
    int variable = -1;
    std::string_view label;
    region where = region::remainder;  ///< before it
    bool waiting = false;
    int name = -1;
    std::optional<code> written;
    std::uint64_t state = 0;  ///< of the local state it was made in: its pending::hash
    friend bool operator==(const made&, const made&) = default;
  };

  /// An element that an array of variables does not have.
  struct bad_index {
    std::size_t index, size;
  };

  /// How the predicates and functions of a range of accesses are called, by position in the history; others are called
  /// once, on the value that was observed. A machine may call them as often as it likes.
  struct calling {
    int times = 1;
    std::size_t from = 0, until = static_cast<std::size_t>(-1);
    /// For each position, null or the values for which the await went on waiting before.
    const std::vector<const std::vector<code>*>* refused = nullptr;

    bool concerns(std::size_t position) const { return from <= position && position < until; }
  };

  /// How a run is made, besides what the process observes.
  struct run_options {
    run_monitor* monitor = nullptr;
    bool forgets = true;                             ///< false: `live` and `frame` are ignored
    std::vector<made>* accesses = nullptr;           ///< where the accesses are noted
    const std::function<void()>* disturb = nullptr;  ///< called during the last two accesses of the history
    calling calls{};
  };

  /// Where a run stopped: the next access, not yet made.
  struct pending {
    operation op = operation::none;
    int variable = -1;
    std::string label;
    region where = region::remainder;
    bool waiting = false;    ///< past its doorway
    int name = -1;           ///< the name held inside, -1 if none
    int ways = 1;            ///< in how many ways it may end, a free choice
    std::string key;         ///< identifies the local state
    std::uint64_t hash = 0;  ///< of what the key is made of; the same in every run
  };

  class Process {
   public:
    Process(process_id id, const std::vector<code>& history, const mutations& wrong, const run_options& how)
        : id_(id), history_(history), wrong_(wrong), how_(how) {}

    process_id id() const { return id_; }
    Process& operator[](const char* label) {
      label_ = label;
      if (how_.monitor != nullptr) how_.monitor->label.store(label, std::memory_order_relaxed);
      idle();
      return *this;
    }
    const char* label() const { return label_; }
    void doorway_end() { waiting_ = true; }
    void pause() { idle(); }

    class frame_guard {
     public:
      explicit frame_guard(Process& p) : p_(p) {
        if (p_.how_.forgets) p_.frames_.emplace_back();
      }
      frame_guard(const frame_guard&) = delete;
      frame_guard& operator=(const frame_guard&) = delete;
      ~frame_guard() {
        if (p_.how_.forgets) p_.frames_.pop_back();
        p_.since() += 'r';
      }

     private:
      Process& p_;
    };
    [[nodiscard]] frame_guard frame() { return frame_guard(*this); }

    /// A local state is known by where it called `live` last, not by what it did before: the branches of a text that
    /// each call it stay apart, and all rounds of a loop that calls it are one.
    void live(call_site at = call_site::current()) {
      idle();
      if (how_.forgets) frames_.back() = {at, {}};
    }
    template <class... T>
    void live(const live_value& first, const T&... rest) {
      live(first.at);
      if (!how_.forgets) return;
      since() = first.bytes;
      ((since() += to_bytes(rest)), ...);
    }

    // The driver's side: one passage, cut into its regions.
    void begin_entry() { begin_section(region::entry); }
    void enter_critical(int name) {
      end_section();
      where_ = region::critical;
      name_ = name;
      begin_section(region::exit);
    }
    void end_section();

    /// One access: stops the run if it lies beyond the history, else returns what was observed.
    template <class Apply>
    code access(operation op, int variable, Apply&& apply, int ways = 1) {
      if (position_ == history_.size()) stop(op, variable, ways);
      const code seen = history_[position_++];
      if (how_.disturb != nullptr && position_ + 1 >= history_.size()) (*how_.disturb)();
      const region before = here();
      const std::uint64_t state = how_.accesses != nullptr ? state_hash(op, variable) : 0;
      idle_ = 0;
      effect_ = apply(seen);
      if (effect_.blocked) throw blocked_here{};
      if (how_.accesses != nullptr)
        how_.accesses->push_back({op, variable, label_, before, waiting_, name_in(before), effect_.written, state});
      moved();
      since() += '.';
      after_access(seen);
      return seen;
    }
    /// Makes what was just observed part of the local state.
    void observed(code seen) {
      since() += 'o';
      since().append(reinterpret_cast<const char*>(&seen), sizeof seen);
    }

    /// How often the predicate or function of the present access is called again.
    int repeats() const { return how_.calls.concerns(position_ - 1) ? how_.calls.times - 1 : 0; }
    /// The values on which the predicate of the present access was called before, in vain.
    const std::vector<code>* refused() const {
      const auto* all = how_.calls.refused;
      if (all == nullptr || !how_.calls.concerns(position_ - 1)) return nullptr;
      return (*all)[position_ - 1];
    }
    /// Reports a predicate or function that gave two answers for one value.
    [[noreturn]] void impure(const char* what) const;

    /// The error to make at the current label, if any.
    const mutation* wrong_here();
    /// Makes `access` after the next one. What it will do follows from the local state here, which is kept until then.
    void defer(std::function<void()> access) {
      deferred_from_ = label_ + ('/' + frames_text());
      deferred_ = [this, at = label_, access = std::move(access)] {
        label_ = at;
        access();
      };
    }

    struct stopped_here {};
    struct blocked_here {};
    /// A history from another text or automaton: the variable never took that value.
    struct not_observable {};
    const pending& next() const { return next_; }
    const effect& last_effect() const { return effect_; }

   private:
    /// What one function of the text has observed and not forgotten.
    struct frame_state {
      std::optional<call_site> live_at;  ///< of its last `live`, if it called any
      std::string since;                 ///< the values named there, and what was observed since
    };
    std::string& since() { return frames_.back().since; }

    region here() const { return moved_ ? where_ : region::remainder; }
    int name_in(region r) const { return r == region::critical ? name_ : -1; }
    /// Counts what the text does between two accesses, so that it cannot go on for ever.
    void idle() {
      if (++idle_ > idle_max) endless();
    }
    [[noreturn]] void endless() const;

    void begin_section(region r) {
      section_ = r;
      moved_in_section_ = false;
    }
    void moved() {
      moved_in_section_ = moved_ = true;
      where_ = section_;
    }
    [[noreturn]] void stop(operation op, int variable, int ways);
    /// Makes the deferred access, if there is one, before the text sees what was observed.
    void after_access(code seen);
    std::string frames_text() const;
    std::uint64_t state_hash(operation op, int variable) const;

    process_id id_;
    const std::vector<code>& history_;
    const mutations& wrong_;
    const run_options how_;
    std::size_t position_ = 0;
    const char* label_ = "";
    std::vector<frame_state> frames_{1};
    region where_ = region::remainder;
    region section_ = region::entry;
    bool moved_ = false;
    bool moved_in_section_ = false;
    bool waiting_ = false;
    int name_ = -1;
    std::function<void()> deferred_;
    std::string deferred_from_;  // the local state that deferred it
    std::string resumes_with_;   // while it is made: that state, and what the text has yet to see
    static constexpr int idle_max = 10'000'000;
    int idle_ = 0;  // calls since the last access that are none
    effect effect_;
    pending next_;
  };

  template <class T>
  class Var {
   public:
    Var(Memory& memory, variable description, T initial) : memory_(memory), index_(memory.add(description, initial)) {}
    Var(const Var&) = delete;
    Var& operator=(const Var&) = delete;

    /// Its number among the variables.
    int index() const { return index_; }

    /// For arrays of variables.
    [[noreturn]] static void index_out_of_range(std::size_t index, std::size_t size) { throw bad_index{index, size}; }

    T read(Process& p) {
      return observing(p, operation::read, [](T) { return std::optional<T>{}; });
    }
    void write(Process& p, T value) {
      silent(p, operation::write, [value](T) { return std::optional<T>{value}; });
    }
    T fetch_add(Process& p, T delta) {
      return observing(p, operation::fetch_add,
                       [delta](T old) { return std::optional<T>{static_cast<T>(old + delta)}; });
    }
    bool test_and_set(Process& p) {
      return observing(p, operation::test_and_set, [](T) { return std::optional<T>{T(true)}; });
    }
    T exchange(Process& p, T value) {
      return observing(p, operation::exchange, [value](T) { return std::optional<T>{value}; });
    }
    /// Only whether the swap took place is observed.
    bool compare_and_swap(Process& p, T expected, T desired) {
      if (const mutation* m = p.wrong_here(); m && m->what != mutation::kind::defer) return m->value != 0;
      auto swap = [expected, desired](T old) { return old == expected ? std::optional<T>{desired} : std::nullopt; };
      if (p.wrong_here()) {
        p.defer([this, &p, swap] { make(p, operation::compare_and_swap, swap); });
        return false;
      }
      const code seen = make(p, operation::compare_and_swap, swap);
      const bool swapped = decode(seen) == expected;
      p.observed(swapped);
      return swapped;
    }
    template <class F>
    T rmw(Process& p, F&& f) {
      return observing(p, operation::rmw, [f](T old) { return std::optional<T>{f(T{old})}; });
    }
    /// As rmw, for machines built on this one: only part(old), a small number, is observed.
    template <class F, class Part>
    auto rmw_seeing(Process& p, F&& f, Part&& part) {
      using seen_part = decltype(part(std::declval<T>()));
      if (const mutation* m = p.wrong_here()) {
        if (m->what == mutation::kind::defer) throw std::invalid_argument("this step cannot be deferred");
        return static_cast<seen_part>(m->value);
      }
      const seen_part seen = part(decode(make(p, operation::rmw, [f](T old) { return std::optional<T>{f(T{old})}; })));
      p.observed(static_cast<code>(seen));
      return seen;
    }
    /// From now on a step of this variable may end in so many ways.
    void allow_ways(int count) { memory_.at(index_).ways_max = count; }
    /// As rmw_seeing, in one step with a free choice: f(old, way) and part(old, way) for a way of 0..ways-1, each of
    /// them in some run.
    template <class F, class Part>
    auto rmw_choosing(Process& p, int ways, F&& f, Part&& part) {
      return choosing(
          p, operation::rmw, ways, [](const T&) { return true; }, f, part);
    }
    /// The same, and way 0 awaits `until`. No process owes the other ways: one that can take only those is blocked.
    template <class Predicate, class F, class Part>
    auto await_choosing(Process& p, int ways, Predicate&& until, F&& f, Part&& part) {
      return choosing(p, operation::await, ways, until, f, part);
    }
    template <class Predicate>
    void await(Process& p, Predicate&& until) {
      if (p.wrong_here()) return;
      p.access(operation::await, index_, [&](code seen) { return effect{!holds(p, until, seen), {}}; });
    }
    template <class Predicate>
    T await_value(Process& p, Predicate&& until) {
      if (const mutation* m = p.wrong_here()) return forced(*m);
      const code seen = p.access(operation::await, index_, [&](code now) { return effect{!holds(p, until, now), {}}; });
      p.observed(seen);
      return decode(seen);
    }

   private:
    template <class Predicate, class F, class Part>
    auto choosing(Process& p, operation op, int ways, Predicate&& until, F&& f, Part&& part) {
      if (ways < 1 || ways > memory_.at(index_).ways_max) throw std::invalid_argument("a step of too many ways");
      if (p.wrong_here()) throw std::invalid_argument("this step cannot be wrong");
      const code seen = p.access(
          op, index_,
          [&](code now) {
            if (way_seen(now) == 0 && !holds(p, until, now)) return effect{true, {}};
            const std::string bytes = to_bytes(T{f(decode(now), way_seen(now))});
            for (int i = 0; i < p.repeats(); ++i)
              if (to_bytes(T{f(decode(now), way_seen(now))}) != bytes) p.impure("function");
            return effect{false, memory_.at(index_).values.intern(bytes)};
          },
          ways);
      const auto answer = part(decode(seen), way_seen(seen));
      p.observed(static_cast<code>(answer));
      return answer;
    }
    template <class Predicate>
    bool holds(Process& p, Predicate&& until, code seen) const {
      if (const std::vector<code>* before = p.refused())
        for (const code other : *before)
          if (until(decode(other))) p.impure("predicate");
      const bool is = until(decode(seen));
      for (int i = 0; i < p.repeats(); ++i)
        if (until(decode(seen)) != is) p.impure("predicate");
      return is;
    }
    T decode(code seen) const {
      const value_table& values = memory_.at(index_).values;
      if (value_seen(seen) >= values.size()) throw Process::not_observable{};
      return from_bytes<T>(values.bytes(value_seen(seen)));
    }
    static T forced(const mutation& m) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(m.value);
      } else if constexpr (std::is_same_v<T, process_id>) {
        return pid(static_cast<int>(m.value));
      } else {
        return T{};
      }
    }
    /// One access that may write what `next` gives for the value it finds.
    template <class Next>
    code make(Process& p, operation op, Next&& next) {
      if (memory_.at(index_).safe()) begin(p, op);
      return p.access(op, index_, [&](code seen) {
        effect e;
        if (const std::optional<T> value = next(decode(seen))) {
          const std::string bytes = to_bytes(*value);
          for (int i = 0; i < p.repeats(); ++i)
            if (const std::optional<T> again = next(decode(seen)); !again || to_bytes(*again) != bytes)
              p.impure("function");
          e.written = memory_.at(index_).values.intern(bytes);
        }
        return e;
      });
    }
    /// The beginning of a write to a safe register.
    void begin(Process& p, operation op) {
      if (op == operation::read) return;
      if (op != operation::write) throw std::invalid_argument("safe registers can be read and written, nothing else");
      p.access(operation::begin_write, index_, [&](code) { return effect{false, memory_.at(index_).unstable}; });
    }
    template <class Next>
    T observing(Process& p, operation op, Next&& next) {
      if (const mutation* m = p.wrong_here()) {
        if (m->what == mutation::kind::defer) p.defer([this, &p, op, next] { make(p, op, next); });
        return forced(*m);
      }
      const code seen = make(p, op, next);
      p.observed(seen);
      return decode(seen);
    }
    template <class Next>
    void silent(Process& p, operation op, Next&& next) {
      if (const mutation* m = p.wrong_here()) {
        if (m->what == mutation::kind::defer) p.defer([this, &p, op, next] { make(p, op, next); });
        return;
      }
      make(p, op, next);
    }

    Memory& memory_;
    int index_;
  };

  /// A free choice of the process: each read gives any of 0..count-1, every one of them in some run.
  class Choice {
   public:
    Choice(Memory& memory, const char* name, int count) : memory_(memory), index_(memory.add_choice(name, count)) {}
    int read(Process& p) const {
      const code seen = p.access(operation::read, index_, [](code) { return effect{}; });
      p.observed(seen);
      return from_bytes<int>(memory_.at(index_).values.bytes(seen));
    }

   private:
    Memory& memory_;
    int index_;
  };

  /// Looks at the variables in turn, one access each, as the loop of a real machine does: whether a value that came and
  /// went is noticed depends on the schedule.
  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) {
    std::size_t found = 0;
    if (p.wrong_here()) return found;
    {
      [[maybe_unused]] auto frame = p.frame();
      for (std::size_t i = 0;; i = (i + 1) % count) {
        p.live(i);
        if (until(i, at(i).read(p))) {
          found = i;
          break;
        }
      }
    }
    p.observed(static_cast<code>(found));
    return found;
  }
};

static_assert(Machine<checker_machine>);

/// Processes that can die at any step, unlike crashed ones so that the others can learn of it: what the death of
/// process p makes of a shared variable, at the same moment. (The kernel releases the locks of a process that dies.)
struct mortality {
  int variable = -1;
  std::function<std::string(const std::string& value, int p)> after_death_of;
};

/// A state as an invariant of a text sees it.
class state_view {
 public:
  virtual ~state_view() = default;
  virtual const std::string& value(int variable) const = 0;
  virtual region where(int p) const = 0;
  virtual int name(int p) const = 0;
  /// Of its next access.
  virtual std::string_view label(int p) const = 0;
  /// Past its doorway.
  virtual bool waiting(int p) const = 0;
};

/// A state as a text's own `std::string broken_invariant(const State& s) const` reads it, with the values of its
/// variables.
class invariant_state {
 public:
  /// The labels that are named are noted in `named`: one that the text does not have is never true.
  invariant_state(const state_view& s, int N, std::set<std::string, std::less<>>* named)
      : state_(s), N_(N), named_(named) {}

  template <class T>
  T value(const checker_machine::Var<T>& v) const {
    return from_bytes<T>(state_.value(v.index()));
  }
  int processes() const { return N_; }
  region where(int p) const { return state_.where(existing(p)); }
  /// Whether the next access of p has this label.
  bool at(int p, std::string_view label) const {
    if (!named_->contains(label)) named_->emplace(label);
    return state_.label(existing(p)) == label;
  }
  int count(region r) const {
    int all = 0;
    for (int p = 0; p < N_; ++p) all += where(p) == r ? 1 : 0;
    return all;
  }

 private:
  int existing(int p) const {
    if (p < 0 || p >= N_)
      throw text_error("the invariant asks about process " + std::to_string(p) + ": they are numbered from 0 to " +
                       std::to_string(N_ - 1));
    return p;
  }

  const state_view& state_;
  int N_;
  std::set<std::string, std::less<>>* named_;
};

/// An algorithm on the checker's machine for some N and k: its variables and one passage of any process through it.
struct model {
  checker_machine::Memory memory;
  std::shared_ptr<void> algorithm;
  std::function<void(checker_machine::Process&)> passage;
  /// The bytes of the algorithm's object, which no run may change: its variables are in `memory`. So for what it has on
  /// the heap, and for static variables once they are initialised, as far as those are known.
  std::string_view object;
  std::vector<std::string_view> owned, statics;
  std::optional<mortality> deaths;
  /// What must be true in every state: empty, or what is wrong. Called by several threads at once.
  std::function<std::string(const state_view&)> invariant;
  /// The labels that the invariant has named.
  std::set<std::string, std::less<>> labels_named;
};

/// One passage of p through `algorithm`, as the checker sees it.
template <class Algorithm>
void run_passage(Algorithm& algorithm, checker_machine::Process& p) {
  typename Algorithm::Private mine{};
  p.begin_entry();
  algorithm.acquire(p, mine);
  int name = -1;
  if constexpr (requires { mine.name; }) name = mine.name;
  p.enter_critical(name);
  algorithm.release(p, mine);
  p.end_section();
}

template <class Algorithm>
std::unique_ptr<model> make_model(int N, int k, register_kind registers = {}) {
  auto m = std::make_unique<model>();
  m->memory = checker_machine::Memory(registers);
  std::shared_ptr<Algorithm> algorithm;
  {
    const construction_heap heap;
    algorithm = std::make_shared<Algorithm>(m->memory, N, k);
    const construction_heap::pause machines_own;
    m->owned = heap.blocks();
  }
  m->algorithm = algorithm;
  m->object = {reinterpret_cast<const char*>(algorithm.get()), sizeof(Algorithm)};
  m->passage = [a = algorithm.get()](checker_machine::Process& p) { run_passage(*a, p); };
  bool has_invariant = true;
  if constexpr (requires(const Algorithm& a) { bool(a.has_invariant()); }) has_invariant = algorithm->has_invariant();
  if constexpr (requires(const Algorithm& a, const invariant_state& s) { std::string(a.broken_invariant(s)); })
    if (has_invariant)
      m->invariant = [a = algorithm.get(), N, named = &m->labels_named](const state_view& s) {
        return std::string(a->broken_invariant(invariant_state(s, N, named)));
      };
  return m;
}

}  // namespace kgate::lab
