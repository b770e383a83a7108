// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The packed words the gate protocol (gate_protocol.hpp) is made of: the gate's word, a member's state, the queue.

#include <cstdint>

namespace kgate::detail::gates {

inline constexpr unsigned members_max = 16384;
inline constexpr int slots_max = 4095;
/// No member, where one could be named.
inline constexpr unsigned no_member = 0x7FFF;

/// What the last change of the word did, and so what has to be true of its subject's state before the next one.
enum class op : unsigned char { none, enter, enqueue, grant, leave, abandon, resize, retired };

/// The gate's word W: everything that decides which may enter, and the last operation with its subject.
///
///   bits  0..2   op        the last operation
///   bit   3      waiting   a member is queued
///   bit   4      closed    none may pass the queue until its head has changed
///   bits  5..18  subject   the member the last operation was about
///   bits 19..31  free      permits none has, plus 4096 (a gate that shrank under its holders has fewer than none)
///   bits 32..63  seq       counts operations; wraps
///
/// seq tells two equal situations apart, unless exactly a multiple of 2^32 operations lie between them (minutes of
/// nothing else). Then a participant that was stopped meanwhile, between reading W and its compare-and-swap, takes a W
/// that is equal in all bits for the one it read; and, with none stopped, an operation finds its own seq in a
/// variable that was last written so long ago (K, a member's neighbours, what passed, which was woken), and takes its
/// effect there for applied.
struct word {
  std::uint64_t bits = 0;

  static constexpr int free_bias = 4096;
  static constexpr std::uint64_t free_one = std::uint64_t{1} << 19;
  static constexpr std::uint64_t seq_one = std::uint64_t{1} << 32;

  constexpr op operation() const { return static_cast<op>(bits & 7); }
  constexpr bool waiting() const { return (bits >> 3 & 1) != 0; }
  constexpr bool closed() const { return (bits >> 4 & 1) != 0; }
  constexpr unsigned subject() const { return static_cast<unsigned>(bits >> 5 & 0x3FFF); }
  constexpr int free() const { return static_cast<int>(bits >> 19 & 0x1FFF) - free_bias; }
  constexpr std::uint32_t seq() const { return static_cast<std::uint32_t>(bits >> 32); }

  /// The word after one more operation.
  constexpr word next(op what, unsigned subject, int free, bool waiting, bool closed = false) const {
    const std::uint64_t packed = static_cast<std::uint64_t>(what) | std::uint64_t{waiting} << 3 |
                                 std::uint64_t{closed} << 4 | std::uint64_t{subject & 0x3FFF} << 5 |
                                 (static_cast<std::uint64_t>(free + free_bias) & 0x1FFF) << 19;
    return {((bits & ~(seq_one - 1)) + seq_one) | packed};
  }
  /// The same as next() for a subject that takes turns: it left with one permit and enters with one, or the reverse,
  /// and none waits.
  constexpr word entered_after_leaving() const {
    return {bits + seq_one - free_one + code(op::enter) - code(op::leave)};
  }
  constexpr word left_after_entering() const { return {bits + seq_one + free_one + code(op::leave) - code(op::enter)}; }
  /// The operation of a word that is 0 or was made by entering or leaving (G11), by one bit.
  constexpr bool is_guess_of_entering() const { return (bits & code(op::enter)) != 0; }
  constexpr bool is_guess_of_leaving() const { return (bits & code(op::leave)) != 0; }
  friend constexpr bool operator==(word, word) = default;

  static constexpr std::uint64_t code(op what) { return static_cast<std::uint64_t>(what); }
};

static_assert((word::code(op::enter) & word::code(op::leave)) == 0);

/// Where a member is; `acts`: outside, and about to change the gate in a way after which permits may be due (resize);
/// `calls`: outside, and about to enter or to queue up, which any other may do for it.
enum class kind : unsigned char { out, waits, in, acts, calls };

/// A member's state: where it is, with how many permits, and in which passage.
///
///   bits  0..2   kind      out, queued, inside, acting or calling
///   bits  3..15  weight    permits it asks for or has, or the size it sets
///   bits 16..63  passage   raised whenever it gets out, so that no late compare-and-swap can hit a later passage
struct state {
  std::uint64_t bits = 0;

  static constexpr std::uint64_t passage_one = std::uint64_t{1} << 16;

  constexpr kind where() const { return static_cast<kind>(bits & 7); }
  constexpr int weight() const { return static_cast<int>(bits >> 3 & 0x1FFF); }
  constexpr std::uint64_t passage() const { return bits >> 16; }

  constexpr state at(kind where) const { return {(bits & ~std::uint64_t{7}) | static_cast<std::uint64_t>(where)}; }
  constexpr state with_weight(int weight) const {
    return {(bits & ~(std::uint64_t{0x1FFF} << 3)) | (static_cast<std::uint64_t>(weight) & 0x1FFF) << 3};
  }
  /// Whether an operation may let it in or queue it.
  constexpr bool outside() const { return where() == kind::out || where() == kind::calls; }
  constexpr state next_passage() const { return {at(kind::out).bits + passage_one}; }
  /// The same as at(kind::in) and as next_passage() of a state that is out.
  constexpr state entered_from_out() const { return {bits | static_cast<std::uint64_t>(kind::in)}; }
  constexpr state next_from_out() const { return {bits + passage_one}; }
  friend constexpr bool operator==(state, state) = default;
};

/// What operation `what` makes of its subject's state; the state itself if it has been applied already.
constexpr state effect(op what, state before) {
  switch (what) {
    case op::enter:
      return before.outside() ? before.at(kind::in) : before;
    case op::enqueue:
      return before.outside() ? before.at(kind::waits) : before;
    case op::grant:
      return before.where() == kind::waits ? before.at(kind::in) : before;
    case op::leave:
      return before.where() == kind::in ? before.next_passage() : before;
    case op::abandon:
      return before.where() == kind::waits ? before.next_passage() : before;
    case op::none:
    case op::resize:
    case op::retired:
      break;
  }
  return before;
}

/// A gate's size k, whether it is paused, and the seq of the resize that set them (0 for the size it was created with).
/// A resize announces both as one number, `slots`, with `paused_flag` in it.
struct limit {
  std::uint64_t bits = 0;

  static constexpr int paused_flag = slots_max + 1;

  static constexpr limit of(int slots, std::uint32_t seq) {
    return {std::uint64_t{seq} << 16 | (static_cast<std::uint64_t>(slots) & 0xFFFF)};
  }
  constexpr int slots() const { return static_cast<int>(bits & slots_max); }
  constexpr bool paused() const { return (bits & paused_flag) != 0; }
  /// How many permits there are to be had: none at a paused gate, so that no newcomer enters.
  constexpr int permits() const { return paused() ? 0 : slots(); }
  constexpr std::uint32_t seq() const { return static_cast<std::uint32_t>(bits >> 16); }
  constexpr bool valid() const { return slots() >= 1 && (bits & 0xE000) == 0; }
  /// Whether `w` is a resize that this size does not include yet.
  constexpr bool lacks(word w) const { return w.operation() == op::resize && seq() != w.seq(); }
  friend constexpr bool operator==(limit, limit) = default;
};

/// How many newcomers have entered past the queue since one was last let in from it, and the seq of the operation
/// that this count includes last.
struct overtaken {
  std::uint64_t bits = 0;

  static constexpr overtaken of(std::uint32_t count, std::uint32_t seq) { return {std::uint64_t{count} << 32 | seq}; }
  constexpr std::uint32_t count() const { return static_cast<std::uint32_t>(bits >> 32); }
  constexpr std::uint32_t seq() const { return static_cast<std::uint32_t>(bits); }
  friend constexpr bool operator==(overtaken, overtaken) = default;
};

/// How many calls there were, and how many of the last ones may not have entered or queued up yet.
struct call_count {
  std::uint64_t bits = 0;

  static constexpr std::uint64_t one = (std::uint64_t{1} << 32) + 1;

  static constexpr call_count of(std::uint32_t calls, std::uint32_t pending) {
    return {std::uint64_t{calls} << 32 | pending};
  }
  constexpr std::uint32_t calls() const { return static_cast<std::uint32_t>(bits >> 32); }
  constexpr std::uint32_t pending() const { return static_cast<std::uint32_t>(bits); }
  friend constexpr bool operator==(call_count, call_count) = default;
};

/// The holder of a slot: the member and its passage, or none (0).
struct slot_owner {
  std::uint64_t bits = 0;

  static constexpr slot_owner of(unsigned member, state s) {
    return {s.passage() << 15 | std::uint64_t{member} << 1 | 1};
  }
  constexpr bool taken() const { return bits != 0; }
  constexpr unsigned member() const { return static_cast<unsigned>(bits >> 1 & 0x3FFF); }
  friend constexpr bool operator==(slot_owner, slot_owner) = default;
};

/// Two members and the seq of the operation that wrote them: the first and last of the queue, or the neighbours of a
/// member in it. no_member where there is none.
struct link {
  std::uint64_t bits = 0;  ///< members are stored plus one, so that a new file is an empty queue

  static constexpr link of(unsigned before, unsigned behind, std::uint32_t seq) {
    return {((std::uint64_t{before} + 1) & 0x7FFF) << 47 | ((std::uint64_t{behind} + 1) & 0x7FFF) << 32 | seq};
  }
  /// The first of the queue, or the member before this one.
  constexpr unsigned before() const { return static_cast<unsigned>(((bits >> 47 & 0x7FFF) - 1) & 0x7FFF); }
  /// The last of the queue, or the member behind this one.
  constexpr unsigned behind() const { return static_cast<unsigned>(((bits >> 32 & 0x7FFF) - 1) & 0x7FFF); }
  constexpr std::uint32_t seq() const { return static_cast<std::uint32_t>(bits); }
  friend constexpr bool operator==(link, link) = default;
};

/// How an operation of a member ended; damaged: it did not, since a process scribbles on the file.
enum class outcome : unsigned char { entered, queued, refused, retired, damaged };

/// How the sleep of a head ended that lasts until one inside ends (gate_doze.hpp).
enum class doze_end : unsigned char { one_ended, disturbed, over, impossible };

}  // namespace kgate::detail::gates
