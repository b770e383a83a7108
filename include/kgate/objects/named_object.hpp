// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Herlihy's construction for any number of processes: at most K of them inside under names, which the object can give
/// out itself, and a first try outside for the owners of blocks.
///
/// Source       our own, on the protocol of herlihy93.hpp
/// Promises     linearizable. At most K processes are inside, K-1 of them may stall or die anywhere; a process waits
///              before it enters, nowhere else (deadlock-free, not starvation-free); one inside ends after at most
///              three attempts and one look. One compare-and-swap to enter and one to make the change and leave when
///              no other is there; with a block of its own (N3) a process that meets no other needs only the second. A
///              reading operation (N4) that meets no change writes nothing that others see. Also fetch-and-add.
/// Variables    those of herlihy93.hpp, but
///              W         tag : names : index   the current block, the names that are inside   initially 0 : none : K
///              spare[q], kept[q]   for every owner of a block: the names, then the builders
///              kept[q]   the version last made or read by the owner q, and its state          initially none
/// Rules        N1  assigns_names: k-assignment in W (algorithms/word_names.hpp). One that enters sees in the same
///                  instruction which version is current, and one that swings W leaves by that. So spare is set before
///                  W is swung, and set back if it was not. To enter or leave does not make another version: the
///                  swing is tried again.
///                  It fails for such reasons at most 2K times, as none leaves before there was a version after its
///                  entry. One that enters between a read and the swing announced nothing that the swinger must know:
///                  I4 counts from versions read after the announcement.
///              N2  keeps_copies: an owner that kept the current version does not copy it. If the swing fails what is
///                  kept is forgotten: it was changed in place.
///              N3  builders: owners of a block that have no name. A builder makes an attempt as D1 does: it helps
///                  those inside and announces nothing, so no other helps it, and if it stalls or dies none waits
///                  for it. If it loses it enters like all others.
///              N4  reading: an operation that leaves the state as it is needs a valid copy only, and no swing.
///              N5  heals: the caller knows the owner of each name and which of them has died, and no other uses such
///                  a name meanwhile; see heal.
/// Invariants   I1 to I4, and
///              I5  spare[q] and kept[q] are read and written only by the owner q: the process inside under that name,
///                  the builder
///              I6  with N5: the block that q owns is the first in spare[q] if q is in W, else the second. So one that
///                  finds an owner dead can tell which block it owned, wherever it died: the two differ only between
///                  (11) and (13), where q is in W until the swing, and afterwards until (0), which comes before q is
///                  in W again.
/// Deviations   The statements are numbered as in herlihy93.hpp; 0-2 enter, 18 leaves.
/// Memory model as herlihy93.hpp; spare[q] and kept[q], which is plain memory where there is such, are handed on by W:
///              all its changes are read-modify-writes, so one that enters (2) sees what the last under that name wrote
///              before it left (12, 18). If names are assigned elsewhere, by that.
/// Evidence     tests/objects: as for herlihy93.hpp; also three processes for two names, builders beside names, reading
///              operations, an owner dead after each of its steps and healed; mutants of each

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kgate/objects/herlihy93.hpp"

namespace kgate {

/// Names in W.
struct named_rules : herlihy93_rules {
  static constexpr bool assigns_names = true;
  static constexpr int processes_max = 16;
  static constexpr bool keeps_copies = true;
};
/// N5.
struct healing_rules : named_rules {
  static constexpr bool heals = true;
  static constexpr bool heals_from_own = true;  ///< I6
  static constexpr bool cleans_spare = true;    ///< (0)
  static constexpr bool finishes_dead = true;   ///< what a dead owner had announced
  static constexpr bool forgets_kept = true;    ///< what a dead owner kept may be half changed
};

template <class M, Sequential T, int K = at_runtime, class Rules = named_rules>
class named_object : private herlihy93<M, T, K, Rules> {
  using base = herlihy93<M, T, K, Rules>;
  using typename base::Word;

 public:
  using typename base::operation;
  using typename base::Process;
  using typename base::result;
  using typename base::word;

  using base::base;
  using base::block_bytes;
  using base::blocks;

  /// Carries op out under a name that was assigned elsewhere; see herlihy93.
  template <class Present>
  result apply(Process& p, int name, const operation& op, const Present& present) requires(!Rules::assigns_names) {
    return base::apply(p, name, op, present);
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
  /// False if no name is free. One that has entered must carry out an operation; it leaves by that.
  [[gnu::always_inline]] bool try_enter(Process& p, entered& e) requires(Rules::assigns_names) {
    for (;;) {
      const word seen = W.read(p["1"]);
      if (free_names(seen) == 0) return false;
      if (enter(p, seen, e)) return true;
    }
  }
  [[gnu::always_inline]] result apply(Process& p, entered e, const operation& op) requires(Rules::assigns_names) {
    if constexpr (!Rules::tries_first) return this->apply_announced(p, e.name, op, everybody());
    in_words<result> mine;
    const outcome alone =
        Word::names_in(e.seen) == word{1} << e.name ? attempt_alone(p, e.name, e.seen, op, mine) : outcome::not_tried;
    if (alone == outcome::done) return mine.value();
    if (alone == outcome::lost) return this->apply_announced(p, e.name, op, everybody());
    return apply_among_others(p, e, op);
  }
  /// The names that none holds, a bit each.
  word free_names(Process& p) requires(Rules::assigns_names) { return free_names(W.read(p["1"])); }

  /// N3: one attempt by the owner of the block of `builder`; false if it lost. No other may use that builder
  /// meanwhile.
  template <class Present = everybody>
  [[gnu::always_inline]] bool attempt(Process& p, std::size_t builder, const operation& op, in_words<result>& mine,
                                      const Present& present = {}) {
    const std::size_t me = this->names() + builder;
    const word seen = W.read(p["4"]);
    const outcome alone = nobody_inside(p, seen, present) ? attempt_alone(p, me, seen, op, mine) : outcome::not_tried;
    return alone == outcome::not_tried ? attempt_beside(p, me, seen, op, mine, present) : alone == outcome::done;
  }

  /// N4: false if another version became current meanwhile. op must leave every state as it is.
  bool try_read(Process& p, const operation& op, in_words<result>& mine) {
    in_words<T> state;
    detail::local_array<word, K, detail::words_of_bits(K)> bits;
    if constexpr (K == at_runtime) bits.resize(detail::words_of_bits(this->names()));
    const word seen = W.read(p["4"]);
    this->read_version(p, Word::index(seen), bits, state);
    if (!is_current(p, seen)) return false;
    mine = state.value().apply(op);
    return true;
  }
  /// The same by a builder, which keeps the copy.
  [[gnu::always_inline]] bool try_read(Process& p, std::size_t builder, const operation& op, in_words<result>& mine) {
    if constexpr (Rules::keeps_copies) {
      auto& known = this->kept[this->names() + builder];
      in_words<T> local;
      in_words<T>& state = known.state(local);
      const word seen = W.read(p["4"]);
      std::array<word, 1> bits{};
      if (!known.recall(p, Word::version(seen), Rules::compares_versions, state, bits[0]) &&
          !copy_and_keep(p, known, seen, bits, state))
        return false;
      mine = state.value().apply(op);
      return true;
    } else {
      return try_read(p, op, mine);
    }
  }

  /// N5: enters under a name that no other uses.
  entered enter_as(Process& p, int name) requires(Rules::heals) {
    const auto me = static_cast<std::size_t>(name);
    if (const word owned = this->spare_of(me).read(p["0"]);
        Rules::cleans_spare && base::spare_own(owned) != base::spare_next(owned))
      this->spare_of(me).write(p["0"], base::spare_word(base::spare_next(owned), base::spare_next(owned)));
    for (;;) {
      const word seen = W.read(p["1"]);
      const entered e{seen | Word::name_bit(me), me};
      if (W.compare_and_swap(p["2"], seen, e.seen)) return e;
      p.live(name);
    }
  }
  /// N5: takes a name over whose owner has died. What that one had announced is carried out, and it has left. One that
  /// dies in here is healed in the same way.
  void heal(Process& p, int name) requires(Rules::heals) {
    const auto me = static_cast<std::size_t>(name);
    if constexpr (Rules::forgets_kept) this->kept[me].forget(p);
    if ((W.read(p["1"]) & Word::name_bit(me)) == 0) return;
    const word owned = this->spare_of(me).read(p["0"]);
    const std::size_t block = Rules::heals_from_own ? base::spare_own(owned) : base::spare_next(owned);
    this->spare_of(me).write(p["0"], base::spare_word(block, block));
    if constexpr (Rules::finishes_dead)
      this->finish(p, me, this->A[me].read(p["14"]), everybody());
    else
      this->leave(p, me, result{});
  }

 private:
  using base::W;

  word free_names(word w) const { return ~Word::names_in(w) & Word::low(static_cast<int>(this->names())); }
  bool is_current(Process& p, word seen) {
    return !Rules::validates_reads || Word::version(W.read(p["7"])) == Word::version(seen);
  }
  /// False if the version in `seen` was not current any more.
  template <class Kept>
  [[gnu::noinline]] bool copy_and_keep(Process& p, Kept& known, word seen, std::array<word, 1>& bits,
                                       in_words<T>& state) {
    known.forget(p);
    this->read_version(p, Word::index(seen), bits, state);
    if (!is_current(p, seen)) return false;
    known.keep(p, Word::version(seen), state, bits[0]);
    return true;
  }
  template <class Present>
  [[gnu::always_inline]] bool nobody_inside(Process& p, word seen, const Present& present) {
    if constexpr (Rules::assigns_names) return Word::names_in(seen) == 0;
    word some = 0;
    for (std::size_t i = 0; i < detail::words_of_bits(this->names()); ++i) some |= present(p["3"], i);
    return some == 0;
  }

  [[gnu::always_inline]] bool enter(Process& p, word seen, entered& e) {
    e.name = detail::foreseen(static_cast<std::size_t>(std::countr_zero(free_names(seen))));
    e.seen = seen | Word::name_bit(e.name);
    return W.compare_and_swap(p["2"], seen, e.seen);
  }

  enum class outcome : unsigned char { not_tried, done, lost };
  /// No other is inside: if what was kept is current there is nothing to copy and none to look after. Not tried if
  /// it is not.
  [[gnu::always_inline]] outcome attempt_alone(Process& p, std::size_t me, word seen, const operation& op,
                                               in_words<result>& mine) {
    if constexpr (Rules::keeps_copies) {
      in_words<T> local;
      word bits = 0;
      in_words<T>& state = this->kept[me].state(local);
      if (this->kept[me].recall(p, Word::version(seen), Rules::compares_versions, state, bits)) {
        mine = state.value().apply(op);
        const std::size_t block = base::spare_next(this->spare_of(me).read(p["9"]));
        this->write_version(p, block, &bits, state);
        return this->publish(p, me, block, seen, seen, state, bits) ? outcome::done : outcome::lost;
      }
    }
    return outcome::not_tried;
  }
  // The ways of those that are not alone, or come after others; apart, so that the way of the others is short.
  template <class Present>
  [[gnu::noinline]] bool attempt_beside(Process& p, std::size_t me, word seen, const operation& op,
                                        in_words<result>& mine, const Present& present) {
    typename base::contents words(this->k_);
    typename base::copy c(words, this->k_);
    c.seen = seen;
    this->set_present(p, c, present);
    return this->first_attempt(p, c, me, op, mine);
  }
  [[gnu::noinline]] result apply_among_others(Process& p, entered e, const operation& op) {
    in_words<result> mine;
    if (attempt_beside(p, e.name, e.seen, op, mine, everybody())) return mine.value();
    return this->apply_announced(p, e.name, op, everybody());
  }
};

}  // namespace kgate
