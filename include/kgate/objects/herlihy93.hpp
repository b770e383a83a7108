// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Any small sequential object made wait-free for K processes: each changes a copy and swings one word to it, and
/// carries out on its copy what the others have announced.
///
/// Source       Herlihy 1993, "A Methodology for Implementing Highly Concurrent Data Objects", the wait-free protocol
///              for small objects; here on compare-and-swap with tagged indices instead of load-linked and
///              store-conditional.
/// Promises     linearizable; wait-free: an operation ends after at most three attempts of its own and one more look,
///              whichever have stalled or died, wherever. Own steps per operation: O(state + K). Space: K+1 blocks,
///              each a state, K results and K bits. Primitives: read, write, compare-and-swap. No garbage collector, no
///              waiting at all.
/// Variables    W         tag : index      which block is current                      initially 0 : K
///              S         blocks of words: a bit per process (its last announced operation that was carried out), the
///                        state, and the result of that operation                      block K: the initial state
///              A[q]      boolean          flips when q announces an operation           initially false
///              O[q]      words            the operation q announced last
///              spare[q]  index            the block q owns and builds its copy in       initially q
/// Invariants   I1  the current block and the spare blocks of those that are not at (11)-(13) are all different: one
///                  that swings W takes the block it retires
///              I2  only the owner of a block that is not current writes to it, and only what follows from a version
///                  that was current after the block was retired (an attempt copies, validates, and only then writes)
///              I3  q's announced operation is pending iff A[q] differs from q's bit in the current block; while it is,
///                  q does not change A[q] and O[q]
///              I4  two versions after A[q] has flipped, every version has q's bit and q's result: the winner of the
///                  second read W after the first was there, and A after that
///              I5  spare[q] is read and written only by q
/// Why the last look needs no validation
///              By I4 the version it finds has q's result; by I2 whatever is written into that block later has it too.
/// Deviations   D1  the first attempt is made without announcing, so an operation that meets no other never writes A;
///                  it carries out what others have announced all the same, as every attempt must (I4)
///              D2  tags and a look at W after copying instead of load-linked and the check fields of the blocks
///              D3  after two lost attempts the result is there (I4), so there is no second look at the toggle; the
///                  delay that doubles is there, bounded, so that of two that collide one gets on
///              D4  of a state that says how much of it is used (objects/sequential.hpp) only that is copied
///              D5  a name that is not present (an assignment of names knows) has announced nothing and needs no
///                  result: it is passed over. That is read after W (4) or with it, so I4 holds: what was announced
///                  before is seen
///              The source numbers no statements; 3-8 look, 9-13 commit, 14-15 announce, 16-17 take the result.
///              What we made of it, for processes without numbers: named_object.hpp, which also says what its rules add
///              here.
/// Memory model sequential consistency for W and A. For the words of S, O and spare acquire and release suffice:
///              - what is read after W was written before the compare-and-swap that W was read from, or later;
///              - if later, then by an owner after the compare-and-swap that retired the block; reading that word with
///                acquire makes that swap visible to the second look at W (7), which then differs, and the copy is
///                dropped;
///              - O[q] is written before A[q] flips and, by I3, not again before a later version is current: see (7).
///              I4 needs the total order: announcement, own read of W, swap, the helper's read of W, its read of A.
///              The partners are 10 and 12, 15 (O) and 15 (A), 11 and 12: on a machine where the first of them is seen
///              after the second the text fails; and 5 and 7: so it does if the second look is not after the copying.
/// Evidence     tests/objects: every interleaving of 2 processes with two operations each and of 3 with one each, the
///              bound on own steps, mutants (no validation, no toggles, no tag, a block too few, late writes); recorded
///              native histories; stalled and killed processes

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/inline_array.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/waiting/waiting.hpp"
#include "kgate/objects/kept_version.hpp"
#include "kgate/objects/sequential.hpp"
#include "kgate/objects/version_blocks.hpp"

namespace kgate {

/// The protocol as it is, for processes that have numbers. Tests break it rule by rule; named_object.hpp extends it.
struct herlihy93_rules {
  static constexpr bool tags = true;               ///< a stalled process is fooled only if W has come round meanwhile
  static constexpr int processes_max = 65535;      ///< at a time: what W has room for
  static constexpr bool tries_first = true;        ///< D1
  static constexpr bool validates = true;          ///< (7)
  static constexpr bool compares_toggles = true;   ///< (6)
  static constexpr std::size_t blocks_more = 1;    ///< blocks there are besides the spare ones
  static constexpr bool assigns_names = false;     ///< N1
  static constexpr bool keeps_copies = false;      ///< N2
  static constexpr bool compares_versions = true;  ///< of what was kept
  static constexpr std::size_t builders = 0;       ///< N3
  static constexpr bool validates_reads = true;    ///< N4
  static constexpr bool heals = false;             ///< N5
};

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
        W(memory, {.name = "W"}, owners() + Rules::blocks_more - 1),
        A(k_,
          [&](std::size_t q) {
            return typename M::template Var<bool>(memory, {"A", static_cast<int>(q)}, false);
          }),
        O(k_ * operation_stride, [&](std::size_t i) { return data(memory, "O", i, 0); }),
        spare(owners() * spare_stride,
              [&](std::size_t i) {
                const std::size_t block = (i / spare_stride) % (owners() + Rules::blocks_more - 1);
                return data(memory, "spare", i, spare_word(block, block));
              }),
        S(blocks() * layout().stride(),
          [&, first = in_words<T>(initial)](std::size_t i) {
            const std::size_t current = (blocks() - 1) * layout().stride() + layout().state_at();
            return data(memory, "S", i, i >= current && i - current < state_words ? first.get(i - current) : 0);
          }),
        kept(owners(), [&](std::size_t q) { return detail::kept_version<M, T>(memory, static_cast<int>(q)); }) {
    KGATE_EXPECTS(processes >= 1 && processes <= Rules::processes_max && (K == at_runtime || processes == K),
                  "a wait-free object is for 1 to 65535 processes, one that assigns names for 1 to 16 at a time");
  }

  /// Carries op out for the process that is `name` here, 0..K-1: no other may be at the same time. A process that
  /// died in here keeps its name for ever. `present` says which may be in here now (D5).
  template <class Present = everybody>
  result apply(Process& p, int name, const operation& op, const Present& present = {}) requires(!Rules::assigns_names) {
    const auto me = static_cast<std::size_t>(name);
    contents words(k_);
    copy c(words, k_);
    if constexpr (Rules::tries_first) {
      in_words<result> mine;
      begin(p, c, present);
      if (first_attempt(p, c, me, op, mine)) return mine.value();
    }
    return apply_announced(p, me, op, present);
  }

  /// The memory of one block, and how many there are.
  std::size_t block_bytes() const noexcept { return layout().words() * sizeof(std::uint64_t); }
  std::size_t blocks() const noexcept { return owners() + Rules::blocks_more; }

 protected:
  using Data = typename detail::data_word<M>::type;
  template <class V, std::size_t per_item, std::size_t more = 0>
  using array = std::conditional_t<K == at_runtime, fixed_array<V>,
                                   detail::inline_array<V, (static_cast<std::size_t>(K) + more) * per_item>>;
  using block_layout = detail::block_layout<M, T, K>;
  using contents = detail::version_contents<T, K>;
  using copy = detail::version_copy<T, K>;

  // Known when compiled unless K is given at run time.
  static constexpr std::size_t names_max = static_cast<std::size_t>(K == at_runtime ? Rules::processes_max : K);
  using Word = detail::version_word<Rules::assigns_names ? static_cast<int>(names_max) : 0,
                                    names_max + Rules::builders + 1, Rules::tags>;
  static constexpr int pauses = 32;
  static constexpr std::size_t state_words = in_words<T>::size;
  static constexpr std::size_t operation_words = in_words<operation>::size;
  static constexpr std::size_t result_words = in_words<result>::size;
  static constexpr std::size_t operation_stride = detail::whole_lines<M>(operation_words);
  static constexpr std::size_t spare_stride = detail::whole_lines<M>(1);

  block_layout layout() const { return block_layout(k_); }
  std::size_t names() const { return layout().names(); }
  /// The owners of blocks: the names, and the builders (N3).
  std::size_t owners() const { return names() + Rules::builders; }

  static Data data(typename M::Memory& memory, const char* name, std::size_t i, std::size_t initial) {
    return Data(memory, {name, static_cast<int>(i)}, initial);
  }

  // spare[q]: the block q owns; if another may have to know (N5), the one while it is inside and the one
  // afterwards.
  static constexpr int spare_bits = 16;
  static constexpr word spare_word(std::size_t own, std::size_t next) {
    return Rules::heals ? next << spare_bits | own : next;
  }
  static constexpr std::size_t spare_next(word s) { return Rules::heals ? s >> spare_bits : s; }
  static constexpr std::size_t spare_own(word s) { return s & ((word{1} << spare_bits) - 1); }
  Data& spare_of(std::size_t me) { return spare[me * spare_stride]; }

  template <class Present>
  [[gnu::always_inline]] void begin(Process& p, copy& c, const Present& present) {
    c.seen = W.read(p["4"]);
    set_present(p, c, present);
  }
  template <class Present>
  [[gnu::always_inline]] void set_present(Process& p, copy& c, const Present& present) {
    if constexpr (Rules::assigns_names) {
      c.present[0] = Word::names_in(c.seen);
    } else {
      for (std::size_t i = 0; i < c.present.size(); ++i) c.present[i] = present(p["3"], i);
      c.present[c.present.size() - 1] &= ~word{0} >> (64 * c.present.size() - names());
    }
  }

  /// Without announcing; so it need not look after itself. False if it lost.
  [[gnu::always_inline]] bool first_attempt(Process& p, copy& c, std::size_t me, const operation& op,
                                            in_words<result>& mine) {
    if (me < names()) c.present[me / 64] &= ~(word{1} << (me % 64));
    if (!read_current(p, c, me)) return false;
    carry_out(c);
    mine = c.state->value().apply(op);
    return commit(p, c, me);
  }

  /// N2: whether the version is the one that `me` keeps: then the state need not be copied.
  [[gnu::always_inline]] bool recall(Process& p, copy& c, std::size_t me) {
    if constexpr (Rules::keeps_copies) {
      c.state = &kept[me].state(c.in.state);
      if (kept[me].recall(p, Word::version(c.seen), Rules::compares_versions, *c.state, c.bits[0])) return true;
      kept[me].forget(p);
    }
    return false;
  }

  /// The bits and the state of a version, from its block.
  template <class Bits>
  [[gnu::always_inline]] void read_version(Process& p, std::size_t block, Bits& bits, in_words<T>& state) {
    Data* const from = &S[block * layout().stride()];
    for (std::size_t i = 0; i < layout().state_at(); ++i) bits[i] = from[i].read(p["5"]);
    state.set(0, from[layout().state_at()].read(p["5"]));
    detail::read_state(p, from + layout().state_at(), state, used_words(state));
  }
  [[gnu::always_inline]] void write_version(Process& p, std::size_t block, const word* bits, const in_words<T>& state) {
    Data* const to = &S[block * layout().stride()];
    for (std::size_t i = 0; i < layout().state_at(); ++i) to[i].write(p["10"], bits[i]);
    detail::write_state(p, state, to + layout().state_at(), used_words(state));
  }

  /// Copies the version that was current and what is announced. False if another became current meanwhile: then the
  /// copy may be torn and nothing may be done with it.
  [[gnu::always_inline]] bool read_current(Process& p, copy& c, std::size_t me) {
    const std::size_t block = Word::index(c.seen);
    if (!recall(p, c, me)) read_version(p, block, c.bits, *c.state);
    Data* const from = &S[block * layout().stride()];
    c.pending_count = 0;
    c.for_each_present([&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i)
        c.in.results[q].set(i, from[layout().result_at(q) + i].read(p["5"]));
      if (A[q].read(p["6"]) == c.bit(q) && Rules::compares_toggles) return;
      for (std::size_t i = 0; i < operation_words; ++i)
        c.in.announced[c.pending_count].set(i, O[q * operation_stride + i].read(p["6"]));
      c.in.pending[c.pending_count++] = static_cast<std::uint16_t>(q);
    });
    c.now = Rules::validates ? W.read(p["7"]) : c.seen;
    return Word::version(c.now) == Word::version(c.seen);
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
    const std::size_t block = spare_next(spare_of(me).read(p["9"]));
    write_version(p, block, c.bits.data(), *c.state);
    c.for_each_present([&](std::size_t q) {
      for (std::size_t i = 0; i < result_words; ++i)
        S[block * layout().stride() + layout().result_at(q) + i].write(p["10"], c.in.results[q].get(i));
    });
    return publish(p, me, block, c.seen, c.now, *c.state, c.bits[0]);
  }
  /// Swings W from the version in `seen` to the one in `block`. With names in W that is also leaving, after which spare
  /// and what is kept belong to the next under this name: they are set before. `now` is W when last looked at.
  [[gnu::always_inline]] bool publish(Process& p, std::size_t me, std::size_t block, word seen, word now,
                                      [[maybe_unused]] const in_words<T>& state, [[maybe_unused]] word bits) {
    word next = Word::successor(now, block, me);
    spare_of(me).write(p["11"], spare_word(block, Word::index(seen)));
    if constexpr (Rules::keeps_copies) kept[me].keep(p, Word::version(next), state, bits);
    while (!W.compare_and_swap(p["12"], now, next)) {
      if constexpr (Rules::assigns_names) {
        // Between two versions each other name is taken at most once and given back at most once.
        now = W.read(p["12"]);
        next = Word::successor(now, block, me);
        if (Word::version(now) == Word::version(seen)) continue;
      }
      spare_of(me).write(p["13"], spare_word(block, block));
      if constexpr (Rules::keeps_copies) kept[me].forget(p);
      return false;
    }
    return true;
  }

  /// The way of those that were overtaken; apart, so that the way of the others is short.
  template <class Present>
  [[gnu::noinline]] result apply_announced(Process& p, std::size_t me, const operation& op, const Present& present) {
    const bool toggle = !A[me].read(p["14"]);
    const in_words<operation> announced(op);
    for (std::size_t i = 0; i < operation_words; ++i) O[me * operation_stride + i].write(p["15"], announced.get(i));
    A[me].write(p["15"], toggle);
    return finish(p, me, toggle, present);
  }
  /// The result of the operation that was announced under the name `me` by setting A[me] to `toggle`.
  template <class Present>
  result finish(Process& p, std::size_t me, bool toggle, const Present& present) {
    contents words(k_);
    copy c(words, k_);
    for (int lost = 0; lost < 2; ++lost) {
      give_way(p, pauses << lost);
      begin(p, c, present);
      if (!read_current(p, c, me)) continue;
      if (c.bit(me) == toggle) return leave(p, me, c.in.results[me].value());
      carry_out(c);
      if (commit(p, c, me)) return c.in.results[me].value();
    }
    Data* const mine = &S[Word::index(W.read(p["16"])) * layout().stride() + layout().result_at(me)];
    in_words<result> got;
    for (std::size_t i = 0; i < result_words; ++i) got.set(i, mine[i].read(p["17"]));
    return leave(p, me, got.value());
  }

  /// 18, with names in W: of those whose operation another carried out.
  result leave(Process& p, std::size_t me, const result& mine) {
    if constexpr (Rules::assigns_names) W.fetch_add(p["18"], word{0} - Word::name_bit(me));
    return mine;
  }

  std::size_t k_;
  typename M::template Var<word> W;
  array<typename M::template Var<bool>, 1> A;
  array<Data, operation_stride> O;
  array<Data, spare_stride, Rules::builders> spare;
  alignas(detail::cache_line)
      array<Data, block_layout(static_cast<std::size_t>(K)).stride(), Rules::builders + Rules::blocks_more> S;
  [[no_unique_address]] std::conditional_t<Rules::keeps_copies, array<detail::kept_version<M, T>, 1, Rules::builders>,
                                           detail::nothing_kept>
      kept;
};

}  // namespace kgate
