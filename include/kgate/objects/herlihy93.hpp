// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Any small sequential object made wait-free for K processes: each changes a copy and swings one word to it, and carries out
/// on its copy what the others have announced.
///
/// Source       Herlihy 1993, "A Methodology for Implementing Highly Concurrent Data Objects", the wait-free protocol for small
///              objects; here on compare-and-swap with tagged indices instead of load-linked and store-conditional.
/// Promises     linearizable; wait-free: an operation ends after at most three attempts of its own and one more look, whoever
///              has stalled or died, wherever. Own steps per operation: O(state + K). Space: K+1 blocks, each a state, K
///              results and K bits. Primitives: read, write, compare-and-swap. No garbage collector, no waiting at all.
///              With names assigned (D6): for any number of processes; at most K are inside, K-1 of them may stall or die
///              anywhere, and it is only before entering that one waits (deadlock-free). One compare-and-swap to enter and one
///              to make the change and leave when nobody else is there. Also fetch-and-add.
/// Variables    W         tag : names : index   which block is current, and (D6) who is inside   initially 0 : none : K
///              S         blocks of words: a bit per process (its last announced operation that was carried out), the state,
///                        and the result of that operation                             block K: the initial state
///              A[q]      boolean          flips when q announces an operation           initially false
///              O[q]      words            the operation q announced last
///              spare[q]  index            the block q owns and builds its copy in       initially q
///              kept[q]   (D7) the version last made under the name q, and its state     initially none
/// Invariants   I1  the current block and the spare blocks of those who are not at (11)-(13) are all different: who swings W
///                  takes the block it retires
///              I2  only the owner of a block that is not current writes to it, and only what follows from a version that was
///                  current after the block was retired (an attempt copies, validates, and only then writes)
///              I3  q's announced operation is pending iff A[q] differs from q's bit in the current block; while it is, q does
///                  not change A[q] and O[q]
///              I4  two versions after A[q] has flipped, every version has q's bit and q's result: the winner of the second
///                  read W after the first was there, and A after that
///              I5  spare[q] and kept[q] are read and written only by who is inside under the name q
/// Why the last look needs no validation
///              By I4 the version it finds has q's result; by I2 whatever is written into that block later has it too.
/// Deviations   D1  the first attempt is made without announcing, so an operation that meets nobody never writes A; it carries
///                  out what others have announced all the same, as every attempt must (I4)
///              D2  tags and a look at W after copying instead of load-linked and the check fields of the blocks
///              D3  after two lost attempts the result is there (I4), so there is no second look at the toggle; the delay that
///                  doubles is there, bounded, so that of two who collide one gets on
///              D4  of a state that says how much of it is used (objects/sequential.hpp) only that is copied
///              D5  who has not entered (an assignment of names knows) has announced nothing and needs no result: such names are
///                  passed over. That is read after W (4) or with it, so I4 holds: who announced before is seen inside
///              D6  k-assignment in W (algorithms/word_names.hpp) if the rules say so: who enters sees in the same instruction
///                  which version is current, and who swings W leaves by that. So spare is set before W is swung, and set back
///                  if it was not. Who enters or leaves does not make another version: the swing is tried again. It fails for
///                  such reasons at most 2(K-1) times, for nobody leaves before there was a version after its entry.
///                  Who enters between my look and my swing has announced nothing that I must know of: I4 counts from versions
///                  read after the announcement.
///              D7  with D6: who enters under the name under which the current version was made has its state still, and does
///                  not copy it. If the swing fails what is kept is forgotten: it was changed in place.
///              The source numbers no statements; 1-2 enter, 3-8 look, 9-13 commit, 14-15 announce, 16-17 take the result, 18
///              leave.
/// Memory model sequential consistency for W and A. For the words of S, O and spare acquire and release suffice, and kept[q] is
///              plain memory where there is such:
///              - what is read after W was written before the compare-and-swap that W was read from, or later;
///              - if later, then by an owner after the compare-and-swap that retired the block; reading that word with acquire
///                makes that swap visible to the second look at W (7), which then differs, and the copy is dropped;
///              - O[q] is written before A[q] flips and, by I3, not again before a later version is current: see (7);
///              - spare[q] and kept[q] are handed on by W: all its changes are read-modify-writes, so who enters (2) sees what
///                the last under that name wrote before it left (12, 18).
///              I4 needs the total order: announcement, own read of W, swap, the helper's read of W, its read of A.
///              The partners are 10 and 12, 15 (O) and 15 (A), 11 and 12: on a machine where the first of them is seen after the
///              second the text fails; and 5 and 7: so it does if the second look is not after the copying.
/// Evidence     tests/objects: every interleaving of 2 processes with two operations each and of 3 with one each, the bound on
///              own steps, mutants (no validation, no toggles, no tag, a block too few, late writes, a kept copy that is not
///              current); recorded native histories; stalled and killed processes

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/inline_array.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/waiting/waiting.hpp"
#include "kgate/objects/kept_version.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate {

/// The protocol as it is, for processes that have numbers. Tests break it rule by rule.
struct herlihy93_rules {
  static constexpr bool tags = true;               ///< a stalled process is fooled only if W has come round meanwhile
  static constexpr bool assigns_names = false;     ///< D6
  static constexpr int processes_max = 65535;      ///< at a time: what W has room for
  static constexpr bool keeps_copies = false;      ///< D7
  static constexpr bool compares_versions = true;  ///< of what was kept
  static constexpr bool tries_first = true;        ///< D1
  static constexpr bool validates = true;          ///< (7)
  static constexpr bool compares_toggles = true;   ///< (6)
  static constexpr std::size_t blocks_more = 1;    ///< blocks there are besides the spare ones
};
/// For any number of processes, which get their names from W.
struct herlihy93_named_rules : herlihy93_rules {
  static constexpr bool assigns_names = true;
  static constexpr int processes_max = 16;
  static constexpr bool keeps_copies = true;
};

namespace detail {

/// Words, rounded up to whole cache lines where several fit into one.
template <class M>
constexpr std::size_t whole_lines(std::size_t words) {
  constexpr std::size_t line = data_word<M>::per_line;
  return (words + line - 1) / line * line;
}
/// A bit for each of k processes.
constexpr std::size_t words_of_bits(std::size_t k) { return (k + 63) / 64; }
template <class T>
constexpr std::size_t words_of_block(std::size_t k) {
  return in_words<T>::size + words_of_bits(k) + k * in_words<typename T::result>::size;
}

/// The same number, of which the processor need not know that it is before it goes on: it takes the branch it took last.
inline std::size_t foreseen(std::size_t number) {
  for (std::size_t i = 0; i < 4; ++i)
    if (number == i) {
      std::size_t known = i;
      asm("" : "+r"(known));
      return known;
    }
  return number;
}

}  // namespace detail

/// Who may be inside the object: a bit for each name. A name's bit must be set before its process enters and until it has left.
inline constexpr std::uint64_t all_present = ~std::uint64_t{0};
struct everybody {
  template <class Process>
  constexpr std::uint64_t operator()(Process&) const {
    return all_present;
  }
};

/// K: given with the constructor.
inline constexpr int at_runtime = 0;

template <class M, Sequential T, int K = at_runtime, class Rules = herlihy93_rules>
class herlihy93 {
 public:
  using word = std::uint64_t;
  using Process = typename M::Process;
  using operation = typename T::operation;
  using result = typename T::result;

  explicit herlihy93(typename M::Memory& memory, const T& initial = T()) requires(K != at_runtime)
      : herlihy93(memory, K, initial) {}
  herlihy93(typename M::Memory& memory, int processes, const T& initial = T())
      : k_(static_cast<std::size_t>(processes)),
        W(memory, {.name = "W"}, k_ + Rules::blocks_more - 1),
        A(k_,
          [&](std::size_t q) {
            return typename M::template Var<bool>(memory, {"A", static_cast<int>(q)}, false);
          }),
        O(k_ * operation_stride, [&](std::size_t i) { return data(memory, "O", i, 0); }),
        spare(k_ * spare_stride,
              [&](std::size_t i) {
                return data(memory, "spare", i, (i / spare_stride) % (k_ + Rules::blocks_more - 1));
              }),
        S((k_ + Rules::blocks_more) * block_stride(),
          [&, first = in_words<T>(initial)](std::size_t i) {
            const std::size_t current = (k_ + Rules::blocks_more - 1) * block_stride() + state_at();
            return data(memory, "S", i, i >= current && i - current < state_words ? first.get(i - current) : 0);
          }),
        kept(k_, [&](std::size_t q) { return detail::kept_version<M, T>(memory, static_cast<int>(q)); }) {
    KGATE_EXPECTS(processes >= 1 && processes <= Rules::processes_max && (K == at_runtime || processes == K),
                  "a wait-free object is for 1 to 65535 processes, one that assigns names for 1 to 16 at a time");
  }

  /// Carries op out for the process that is `name` here, 0..K-1: nobody else may be at the same time. A process that died in
  /// here keeps its name for ever. `present` is who may be in here now (D5).
  template <class Present = everybody>
  result apply(Process& p, int name, const operation& op, const Present& present = {}) requires(!Rules::assigns_names) {
    const auto me = static_cast<std::size_t>(name);
    contents words(k_);
    copy c(words, k_);
    if constexpr (Rules::tries_first) {
      begin(p, c, present);
      if (const auto mine = first_attempt(p, c, me, op)) return *mine;
    }
    return apply_announced(p, me, op, present);
  }

  /// A process under the name it got, and what W was then.
  struct entered {
    word seen = 0;
    std::size_t name = 0;
  };
  /// Carries op out under whatever name is free, waiting for one.
  result apply(Process& p, const operation& op) requires(Rules::assigns_names) {
    for (;;) {
      const word seen = W.await_value(p["1"], [this](word w) { return free_names(w) != 0; });
      if (entered e; enter(p, seen, e)) return apply(p, e, op);
      p.live(op);
    }
  }
  /// False if no name is free. Who has entered must carry out an operation; it leaves by that.
  [[gnu::always_inline]] bool try_enter(Process& p, entered& e) requires(Rules::assigns_names) {
    for (;;) {
      const word seen = W.read(p["1"]);
      if (free_names(seen) == 0) return false;
      if (enter(p, seen, e)) return true;
    }
  }
  [[gnu::always_inline]] result apply(Process& p, entered e, const operation& op) requires(Rules::assigns_names) {
    if constexpr (!Rules::tries_first) return apply_announced(p, e.name, op, everybody());
    if constexpr (Rules::keeps_copies) {
      // Alone, and what was kept is current: nothing to copy, nobody to look after.
      if (names_in(e.seen) == word{1} << e.name) {
        in_words<T> local;
        word bits = 0;
        in_words<T>& state = kept[e.name].state(local);
        if (kept[e.name].recall(p, version(e.seen), Rules::compares_versions, state, bits)) {
          const result mine = state.value().apply(op);
          const std::size_t block = spare[e.name * spare_stride].read(p["9"]);
          write_version(p, block, &bits, state);
          if (publish(p, e.name, block, e.seen, e.seen, state, bits)) return mine;
          return apply_announced(p, e.name, op, everybody());
        }
      }
    }
    return apply_among_others(p, e, op);
  }
  /// The names that nobody holds, a bit each.
  word free_names(Process& p) requires(Rules::assigns_names) { return free_names(W.read(p["1"])); }

  /// The memory of one block, and how many there are.
  std::size_t block_bytes() const noexcept { return block_words() * sizeof(std::uint64_t); }
  std::size_t blocks() const noexcept { return k_ + Rules::blocks_more; }

 private:
  using Data = typename detail::data_word<M>::type;
  template <class V, std::size_t per_process, std::size_t more = 0>
  using array = std::conditional_t<K == at_runtime, fixed_array<V>,
                                   inline_array<V, (static_cast<std::size_t>(K) + more) * per_process>>;
  template <class V, std::size_t count>
  using local_array = std::conditional_t<K == at_runtime, std::vector<V>, std::array<V, count>>;

  // W is tag : names : index.
  static constexpr int index_bits = Rules::assigns_names ? 5 : 16;
  static constexpr int name_bits = !Rules::assigns_names ? 0 : K == at_runtime ? Rules::processes_max : K;
  static constexpr int tag_at = index_bits + name_bits;
  static constexpr int pauses = 32;
  static constexpr std::size_t state_words = in_words<T>::size;
  static constexpr std::size_t operation_words = in_words<operation>::size;
  static constexpr std::size_t result_words = in_words<result>::size;

  static constexpr std::size_t operation_stride = detail::whole_lines<M>(operation_words);
  static constexpr std::size_t spare_stride = detail::whole_lines<M>(1);

  // Known when compiled unless K is given at run time.
  std::size_t processes() const { return K == at_runtime ? k_ : static_cast<std::size_t>(K); }
  std::size_t block_words() const { return detail::words_of_block<T>(processes()); }
  std::size_t block_stride() const { return detail::whole_lines<M>(block_words()); }
  // Bits, state, results: who is alone needs the first two, and of the state perhaps not all.
  std::size_t state_at() const { return detail::words_of_bits(processes()); }
  std::size_t results_at(std::size_t q) const { return state_at() + state_words + q * result_words; }

  static word low(int bits) { return (word{1} << bits) - 1; }
  static std::size_t index(word w) { return static_cast<std::size_t>(w & low(index_bits)); }
  static word names_in(word w) { return w >> index_bits & low(name_bits); }
  static word name_bit(std::size_t name) { return Rules::assigns_names ? word{1} << (index_bits + name) : 0; }
  word free_names(word w) const { return ~names_in(w) & low(static_cast<int>(processes())); }
  static word version(word w) { return w & ~(low(name_bits) << index_bits); }
  /// Another version is current, in this block, and whoever made it has left.
  static word successor(word w, std::size_t block, std::size_t name) {
    const word others = w & ~low(index_bits) & ~name_bit(name);
    return (Rules::tags ? others + (word{1} << tag_at) : others) | block;
  }
  static Data data(typename M::Memory& memory, const char* name, std::size_t i, std::size_t initial) {
    return Data(memory, {name, static_cast<int>(i)}, initial);
  }

  /// A version, copied: what W was, the block's content, and the operations announced that it has not seen. In two parts, so
  /// that the numbers stay in registers.
  struct contents {
    explicit contents([[maybe_unused]] std::size_t k) {
      if constexpr (K == at_runtime) results.resize(k), pending.resize(k), announced.resize(k);
    }
    in_words<T> state;
    local_array<in_words<result>, K> results;
    local_array<std::uint16_t, K> pending;
    local_array<in_words<operation>, K> announced;
  };
  struct copy {
    copy(contents& words, [[maybe_unused]] std::size_t k) : in(words), state(&words.state) {
      if constexpr (K == at_runtime) bits.resize(detail::words_of_bits(k));
    }
    word& bits_of(std::size_t q) { return bits[K != at_runtime && K <= 64 ? 0 : q / 64]; }
    bool bit(std::size_t q) { return (bits_of(q) >> (q % 64) & 1) != 0; }
    void flip(std::size_t q) { bits_of(q) ^= word{1} << (q % 64); }

    contents& in;
    in_words<T>* state;
    word seen = 0;     // W at (4)
    word now = 0;      // W later; if only names came and went since, the same version
    word present = 0;  // who may have announced something, and whose results must not be lost
    std::size_t pending_count = 0;
    local_array<word, detail::words_of_bits(K)> bits;
  };

  // Four words a round: these loops are what an operation costs.
  static void read_state(Process& p, Data* from, in_words<T>& to, std::size_t i, std::size_t used) {
    for (; i + 4 <= used; i += 4) {
      to.set(i, from[i].read(p["5"]));
      to.set(i + 1, from[i + 1].read(p["5"]));
      to.set(i + 2, from[i + 2].read(p["5"]));
      to.set(i + 3, from[i + 3].read(p["5"]));
    }
    for (; i < used; ++i) to.set(i, from[i].read(p["5"]));
  }
  static void write_state(Process& p, const in_words<T>& from, Data* to, std::size_t used) {
    std::size_t i = 0;
    for (; i + 4 <= used; i += 4) {
      to[i].write(p["10"], from.get(i));
      to[i + 1].write(p["10"], from.get(i + 1));
      to[i + 2].write(p["10"], from.get(i + 2));
      to[i + 3].write(p["10"], from.get(i + 3));
    }
    for (; i < used; ++i) to[i].write(p["10"], from.get(i));
  }

  /// Every process whose bit is set; all of them if they are too many for a word.
  template <class Do>
  [[gnu::always_inline]] void for_each(word present, Do&& act) const {
    if (processes() > 64) {
      for (std::size_t q = 0; q < processes(); ++q) act(q);
    } else {
      for (present &= all_present >> (64 - processes()); present != 0; present &= present - 1)
        act(static_cast<std::size_t>(std::countr_zero(present)));
    }
  }

  [[gnu::always_inline]] bool enter(Process& p, word seen, entered& e) {
    e.name = detail::foreseen(static_cast<std::size_t>(std::countr_zero(free_names(seen))));
    e.seen = seen | name_bit(e.name);
    return W.compare_and_swap(p["2"], seen, e.seen);
  }

  template <class Present>
  [[gnu::always_inline]] void begin(Process& p, copy& c, const Present& present) {
    c.seen = W.read(p["4"]);
    c.present = Rules::assigns_names ? names_in(c.seen) : present(p["3"]);
  }

  /// Without announcing; so it need not look after itself.
  [[gnu::always_inline]] std::optional<result> first_attempt(Process& p, copy& c, std::size_t me, const operation& op) {
    c.present &= ~(word{1} << (me % 64));
    if (!look(p, c, me)) return std::nullopt;
    carry_out(c);
    const result mine = c.state->value().apply(op);
    return commit(p, c, me) ? std::optional<result>(mine) : std::nullopt;
  }

  /// Whether the version is the one that was made last under this name: then the name still has the state.
  [[gnu::always_inline]] bool recall(Process& p, copy& c, std::size_t me) {
    if constexpr (Rules::keeps_copies) {
      c.state = &kept[me].state(c.in.state);
      if (kept[me].recall(p, version(c.seen), Rules::compares_versions, *c.state, c.bits[0])) return true;
      kept[me].forget(p);
    }
    return false;
  }

  /// Copies the version that was current and what is announced. False if another became current meanwhile: then the copy may be
  /// torn and nothing may be done with it.
  [[gnu::always_inline]] bool look(Process& p, copy& c, std::size_t me) {
    const std::size_t block = index(c.seen) * block_stride();
    if (!recall(p, c, me)) {
      for (std::size_t i = 0; i < state_at(); ++i) c.bits[i] = S[block + i].read(p["5"]);
      Data* const state = &S[block + state_at()];
      c.state->set(0, state[0].read(p["5"]));
      read_state(p, state, *c.state, 1, used_words(*c.state));
    }
    c.pending_count = 0;
    for_each(c.present, [&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i) c.in.results[q].set(i, S[block + results_at(q) + i].read(p["5"]));
      if (A[q].read(p["6"]) == c.bit(q) && Rules::compares_toggles) return;
      for (std::size_t i = 0; i < operation_words; ++i)
        c.in.announced[c.pending_count].set(i, O[q * operation_stride + i].read(p["6"]));
      c.in.pending[c.pending_count++] = static_cast<std::uint16_t>(q);
    });
    c.now = Rules::validates ? W.read(p["7"]) : c.seen;
    return version(c.now) == version(c.seen);
  }

  /// 8: the announced operations, on the copy.
  static void carry_out(copy& c) {
    for (std::size_t i = 0; i < c.pending_count; ++i) {
      const std::size_t q = c.in.pending[i];
      c.in.results[q] = c.state->value().apply(c.in.announced[i].value());
      c.flip(q);
    }
  }

  /// Makes the copy the current version, if the version it came from still is.
  [[gnu::always_inline]] bool commit(Process& p, copy& c, std::size_t me) {
    const std::size_t block = spare[me * spare_stride].read(p["9"]);
    write_version(p, block, c.bits.data(), *c.state);
    for_each(c.present, [&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i)
        S[block * block_stride() + results_at(q) + i].write(p["10"], c.in.results[q].get(i));
    });
    return publish(p, me, block, c.seen, c.now, *c.state, c.bits[0]);
  }
  [[gnu::always_inline]] void write_version(Process& p, std::size_t block, const word* bits, const in_words<T>& state) {
    Data* const to = &S[block * block_stride()];
    for (std::size_t i = 0; i < state_at(); ++i) to[i].write(p["10"], bits[i]);
    write_state(p, state, to + state_at(), used_words(state));
  }
  /// Swings W from the version in `seen` to the one in `block`. With assigned names that is also leaving, after which spare and
  /// what is kept belong to the next under this name: they are set before. `now` is W when last looked at.
  [[gnu::always_inline]] bool publish(Process& p, std::size_t me, std::size_t block, word seen, word now,
                                      [[maybe_unused]] const in_words<T>& state, [[maybe_unused]] word bits) {
    word next = successor(now, block, me);
    spare[me * spare_stride].write(p["11"], index(seen));
    if constexpr (Rules::keeps_copies) kept[me].keep(p, version(next), state, bits);
    while (!W.compare_and_swap(p["12"], now, next)) {
      if constexpr (Rules::assigns_names) {
        // Between two versions each other name is taken at most once and given back at most once.
        now = W.read(p["12"]);
        next = successor(now, block, me);
        if (version(now) == version(seen)) continue;
      }
      spare[me * spare_stride].write(p["13"], block);
      if constexpr (Rules::keeps_copies) kept[me].forget(p);
      return false;
    }
    return true;
  }

  /// The way of those who are not alone, or come after others; apart, as the next, so that the way of the others is short.
  [[gnu::noinline]] result apply_among_others(Process& p, entered e, const operation& op) {
    contents words(k_);
    copy c(words, k_);
    c.seen = e.seen;
    c.present = names_in(e.seen);
    if (const auto mine = first_attempt(p, c, e.name, op)) return *mine;
    return apply_announced(p, e.name, op, everybody());
  }

  /// The way of those who were overtaken.
  template <class Present>
  [[gnu::noinline]] result apply_announced(Process& p, std::size_t me, const operation& op, const Present& present) {
    contents words(k_);
    copy c(words, k_);
    const bool toggle = !A[me].read(p["14"]);
    const in_words<operation> announced(op);
    for (std::size_t i = 0; i < operation_words; ++i) O[me * operation_stride + i].write(p["15"], announced.get(i));
    A[me].write(p["15"], toggle);
    for (int lost = 0; lost < 2; ++lost) {
      give_way(p, pauses << lost);
      begin(p, c, present);
      if (!look(p, c, me)) continue;
      if (c.bit(me) == toggle) return leave(p, me, c.in.results[me].value());
      carry_out(c);
      if (commit(p, c, me)) return c.in.results[me].value();
    }
    const std::size_t current = index(W.read(p["16"])) * block_stride() + results_at(me);
    in_words<result> mine;
    for (std::size_t i = 0; i < result_words; ++i) mine.set(i, S[current + i].read(p["17"]));
    return leave(p, me, mine.value());
  }

  /// Of those whose operation another carried out.
  result leave(Process& p, std::size_t me, const result& mine) {
    if constexpr (Rules::assigns_names) W.fetch_add(p["18"], word{0} - name_bit(me));
    return mine;
  }

  std::size_t k_;
  typename M::template Var<word> W;
  array<typename M::template Var<bool>, 1> A;
  array<Data, operation_stride> O;
  array<Data, spare_stride> spare;
  alignas(cache_line) array<Data, detail::whole_lines<M>(detail::words_of_block<T>(K)), Rules::blocks_more> S;
  [[no_unique_address]] std::conditional_t<Rules::keeps_copies, array<detail::kept_version<M, T>, 1>,
                                           detail::nothing_kept>
      kept;
};

}  // namespace kgate
