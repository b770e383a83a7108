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
/// Variables    W         tag : index      which block is current                        initially 0 : K
///              S         blocks of words: the state, a bit per process (its last announced operation that was carried out)
///                        and the result of that operation                             block K: the initial state
///              A[q]      boolean          flips when q announces an operation           initially false
///              O[q]      words            the operation q announced last
///              spare[q]  index            the block q owns and builds its copy in       initially q
/// Invariants   I1  the current block and the spare blocks are all different: who swings W takes the block it retired
///              I2  only the owner of a block that is not current writes to it, and only what follows from a version that was
///                  current after the block was retired (an attempt copies, validates, and only then writes)
///              I3  q's announced operation is pending iff A[q] differs from q's bit in the current block; while it is, q does
///                  not change A[q] and O[q]
///              I4  two versions after A[q] has flipped, every version has q's bit and q's result: the winner of the second
///                  read W after the first was there, and A after that
/// Why the last look needs no validation
///              By I4 the version it finds has q's result; by I2 whatever is written into that block later has it too.
/// Deviations   D1  the first attempt is made without announcing, so an operation that meets nobody never writes A; it carries
///                  out what others have announced all the same, as every attempt must (I4)
///              D2  tags and a look at W after copying instead of load-linked and the check fields of the blocks
///              D3  after two lost attempts the result is there (I4), so there is neither a second look at the toggle nor a
///                  delay that doubles
///              D4  of a state that says how much of it is used (objects/sequential.hpp) only that is copied
///              D5  who has not entered (an assignment of names knows) has announced nothing and needs no result: such names are
///                  passed over. That is read after W (4), so I4 holds: who announced before is seen inside
///              The source numbers no statements; 3-8 look, 9-11 commit, 12-13 announce, 14-15 take the result.
/// Memory model sequential consistency for W and A. For the words of S and O acquire and release suffice:
///              - what is read after W was written before the compare-and-swap that W was read from, or later;
///              - if later, then by an owner after the compare-and-swap that retired the block; reading that word with acquire
///                makes that swap visible to the second look at W (7), which then differs, and the copy is dropped;
///              - O[q] is written before A[q] flips and, by I3, not again before a later version is current: see (7).
///              I4 needs the total order: announcement, own read of W, swap, the helper's read of W, its read of A.
/// Evidence     tests/objects: every interleaving of 2 processes with two operations each and of 3 with one each, the bound on
///              own steps, mutants (no validation, no toggles, no tag, a block too few); recorded native histories; stalled
///              and killed processes

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kgate/core/cache_line.hpp"
#include "kgate/core/contracts.hpp"
#include "kgate/core/fixed_array.hpp"
#include "kgate/core/inline_array.hpp"
#include "kgate/core/machine.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate {

/// The protocol as it is. Tests break it rule by rule.
struct herlihy93_rules {
  static constexpr int tag_bits = 48;             ///< a stalled process is fooled if W comes round meanwhile
  static constexpr bool tries_first = true;       ///< D1
  static constexpr bool validates = true;         ///< (7)
  static constexpr bool compares_toggles = true;  ///< (6)
  static constexpr std::size_t blocks_more = 1;   ///< blocks there are besides the spare ones
};

namespace detail {

/// On a machine that has words of data, many to a cache line, those; else plain variables.
template <class M>
struct data_word {
  using type = typename M::template Var<std::uint64_t>;
  static constexpr std::size_t per_line = 1;
};
template <class M>
requires requires { typename M::template Data<std::uint64_t>; }
struct data_word<M> {
  using type = typename M::template Data<std::uint64_t>;
  static constexpr std::size_t per_line = cache_line / sizeof(std::uint64_t);
};

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
        S((k_ + Rules::blocks_more) * block_stride(), [&, first = in_words<T>(initial)](std::size_t i) {
          const std::size_t current = (k_ + Rules::blocks_more - 1) * block_stride();
          return data(memory, "S", i, i >= current && i - current < state_words ? first.get(i - current) : 0);
        }) {
    KGATE_EXPECTS(processes >= 1 && processes < (1 << index_bits) && (K == at_runtime || processes == K),
                  "a wait-free object is for 1 to 65535 processes");
  }

  /// Carries op out for the process that is `name` here, 0..K-1: nobody else may be at the same time. A process that died in
  /// here keeps its name for ever. `present` is who may be in here now (D5).
  template <class Present = everybody>
  result apply(Process& p, int name, const operation& op, const Present& present = {}) {
    const auto me = static_cast<std::size_t>(name);
    copy c(k_);
    if constexpr (Rules::tries_first) {
      // It has announced nothing, so it need not look after itself.
      const auto others = [&](Process& q) { return present(q) & ~(word{1} << (me % 64)); };
      if (look(p, c, others)) {
        carry_out(c);
        const result mine = c.state.value().apply(op);
        if (commit(p, c, me)) return mine;
      }
    }
    return apply_announced(p, me, op, c, present);
  }

  /// The memory of one block, and how many there are.
  std::size_t block_bytes() const noexcept { return block_words() * sizeof(std::uint64_t); }
  std::size_t blocks() const noexcept { return k_ + Rules::blocks_more; }

 private:
  using word = std::uint64_t;
  using Data = typename detail::data_word<M>::type;
  template <class V, std::size_t per_process, std::size_t more = 0>
  using array = std::conditional_t<K == at_runtime, fixed_array<V>,
                                   inline_array<V, (static_cast<std::size_t>(K) + more) * per_process>>;
  template <class V, std::size_t count>
  using local_array = std::conditional_t<K == at_runtime, std::vector<V>, std::array<V, count>>;

  static constexpr int index_bits = 16;
  static constexpr std::size_t state_words = in_words<T>::size;
  static constexpr std::size_t operation_words = in_words<operation>::size;
  static constexpr std::size_t result_words = in_words<result>::size;

  static constexpr std::size_t operation_stride = detail::whole_lines<M>(operation_words);
  static constexpr std::size_t spare_stride = detail::whole_lines<M>(1);

  // Known when compiled unless K is given at run time.
  std::size_t processes() const { return K == at_runtime ? k_ : static_cast<std::size_t>(K); }
  std::size_t block_words() const { return detail::words_of_block<T>(processes()); }
  std::size_t block_stride() const { return detail::whole_lines<M>(block_words()); }
  std::size_t results_at(std::size_t q) const {
    return state_words + detail::words_of_bits(processes()) + q * result_words;
  }

  static std::size_t index(word w) { return static_cast<std::size_t>(w & ((word{1} << index_bits) - 1)); }
  static word successor(word w, std::size_t block) {
    const word tag = ((w >> index_bits) + 1) & ((word{1} << Rules::tag_bits) - 1);
    return tag << index_bits | block;
  }
  static Data data(typename M::Memory& memory, const char* name, std::size_t i, std::size_t initial) {
    return Data(memory, {name, static_cast<int>(i)}, initial);
  }

  /// A version, copied: what W was, the block's content, and the operations announced that it has not seen.
  struct copy {
    explicit copy([[maybe_unused]] std::size_t k) {
      if constexpr (K == at_runtime)
        bits.resize(detail::words_of_bits(k)), results.resize(k), pending.resize(k), announced.resize(k);
    }
    bool bit(std::size_t q) const { return (bits[q / 64] >> (q % 64) & 1) != 0; }
    void flip(std::size_t q) { bits[q / 64] ^= word{1} << (q % 64); }

    word seen = 0;
    word present = 0;
    in_words<T> state;
    local_array<word, detail::words_of_bits(K)> bits;
    local_array<in_words<result>, K> results;
    std::size_t pending_count = 0;
    local_array<std::uint16_t, K> pending;
    local_array<in_words<operation>, K> announced;
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

  /// Copies the current version and what is announced. False if another version became current meanwhile: then the copy may be
  /// torn and nothing may be done with it.
  template <class Present>
  [[gnu::always_inline]] bool look(Process& p, copy& c, const Present& present) {
    c.seen = W.read(p["4"]);
    const std::size_t block = index(c.seen) * block_stride();
    c.state.set(0, S[block].read(p["5"]));
    read_state(p, &S[block], c.state, 1, used_words(c.state));
    for (std::size_t i = 0; i < detail::words_of_bits(processes()); ++i)
      c.bits[i] = S[block + state_words + i].read(p["5"]);
    c.present = present(p["3"]);
    c.pending_count = 0;
    for_each(c.present, [&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i) c.results[q].set(i, S[block + results_at(q) + i].read(p["5"]));
      if (A[q].read(p["6"]) == c.bit(q) && Rules::compares_toggles) return;
      for (std::size_t i = 0; i < operation_words; ++i)
        c.announced[c.pending_count].set(i, O[q * operation_stride + i].read(p["6"]));
      c.pending[c.pending_count++] = static_cast<std::uint16_t>(q);
    });
    return !Rules::validates || W.read(p["7"]) == c.seen;
  }

  /// 8: the announced operations, on the copy.
  static void carry_out(copy& c) {
    for (std::size_t i = 0; i < c.pending_count; ++i) {
      const std::size_t q = c.pending[i];
      c.results[q] = c.state.value().apply(c.announced[i].value());
      c.flip(q);
    }
  }

  /// Makes the copy the current version, if the version it came from still is.
  [[gnu::always_inline]] bool commit(Process& p, const copy& c, std::size_t me) {
    const std::size_t mine = spare[me * spare_stride].read(p["9"]);
    const std::size_t block = mine * block_stride();
    write_state(p, c.state, &S[block], used_words(c.state));
    for (std::size_t i = 0; i < detail::words_of_bits(processes()); ++i)
      S[block + state_words + i].write(p["10"], c.bits[i]);
    for_each(c.present, [&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i) S[block + results_at(q) + i].write(p["10"], c.results[q].get(i));
    });
    if (!W.compare_and_swap(p["11"], c.seen, successor(c.seen, mine))) return false;
    spare[me * spare_stride].write(p["11"], index(c.seen));
    return true;
  }

  /// The way of those who were overtaken; apart, so that the others' way is short.
  template <class Present>
  [[gnu::noinline]] result apply_announced(Process& p, std::size_t me, const operation& op, copy& c,
                                           const Present& present) {
    const bool toggle = !A[me].read(p["12"]);
    const in_words<operation> words(op);
    for (std::size_t i = 0; i < operation_words; ++i) O[me * operation_stride + i].write(p["13"], words.get(i));
    A[me].write(p["13"], toggle);
    for (int lost = 0; lost < 2; ++lost) {
      if (!look(p, c, present)) continue;
      if (c.bit(me) == toggle) return c.results[me].value();
      carry_out(c);
      if (commit(p, c, me)) return c.results[me].value();
    }
    const std::size_t current = index(W.read(p["14"])) * block_stride() + results_at(me);
    in_words<result> mine;
    for (std::size_t i = 0; i < result_words; ++i) mine.set(i, S[current + i].read(p["15"]));
    return mine.value();
  }

  std::size_t k_;
  typename M::template Var<word> W;
  array<typename M::template Var<bool>, 1> A;
  array<Data, operation_stride> O;
  array<Data, spare_stride> spare;
  alignas(cache_line) array<Data, detail::whole_lines<M>(detail::words_of_block<T>(K)), Rules::blocks_more> S;
};

}  // namespace kgate
