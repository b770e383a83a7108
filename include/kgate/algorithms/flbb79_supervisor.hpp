// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Doing without a supervisor: any system of workers and a supervisor that never fails becomes one of workers alone.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, "Systems with a Supervisor", "Supervisor Elimination", lemmas 4.2
///              and 4.3.
/// Promises     those of the system it is given (C1, C2, C4', C5'), with fewer than k crashes, if that is k-simulatable
///              (R1-R8): each step of a process is a step of its worker, then perhaps one of the supervisor, and
///              supervisor steps never stop for good. Exit as the system's. Remote references unbounded. Primitives:
///              read-modify-write of one large variable. Space: that variable, of a constant (for given k) times the
///              values of the system's.
/// Variables    V = (v, status[], ch[][], stateholders, step, xs, loccur, locprev)
///              v              the system's shared variable
///              status[t]      of slot t in 1..3k-1: FREE, RECEIVE, CURRENT, PREVIOUS, DEAD       initially FREE
///              ch[s][t]       channel from slot s to slot t: READY, a message, DONE              initially READY
///              stateholders   0..k, helpers that hold the current state of the supervisor        initially 0
///              step           which of its possible steps the supervisor took last               initially 0
///              xs             its state, if that is SHAREd; the state before, if it has just been DISTributed
///              loccur         where its state is: SHARE or DIST;  locprev  where it was before   initially SHARE
/// Invariants   E1  status[t] is FREE iff no process holds slot t
///              E2  loccur = DIST: stateholders helpers have status CURRENT and hold the supervisor's state; one with
///                  status PREVIOUS holds the state before, and step leads from it to the current one
///              E3  in a stage (from one supervisor step to the next) a slot that sends is not given up
/// Deviations   D1  `step := transno(v,xx)` comes before `v := newval(v,xx)`: printed the other way round, it would
///                  describe the step from the new value (`printed_order`, docs/errata.md).
///              D2  `s := t` when a slot is taken, lost in the print; "t in steps" is "t in slots".
///              D3  what will not be read is cleared (xs while it is distributed, step while it is shared, the buffers
///                  of a process that neither sends nor receives), so that equal situations are equal values.
///              D4  the state is sent with a fixed number of bits; a message may have more than the paper's one
///                  (`message_bits`), so that small systems have few enough states to be explored.
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79, over the bucket system and the short-name queue (and in the printed order)

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

enum class eligibility : std::uint8_t { drone, helper, quitter };

/// The supervisor's state as it is sent, bit by bit.
struct bit_string {
  static constexpr int bits_max = 256;
  std::array<std::uint8_t, bits_max / 8> bytes{};

  constexpr bool get(int i) const { return (bytes[static_cast<std::size_t>(i) / 8] >> (i % 8) & 1) != 0; }
  constexpr void set(int i, bool bit) {
    std::uint8_t& byte = bytes[static_cast<std::size_t>(i) / 8];
    const auto mask = static_cast<std::uint8_t>(1 << (i % 8));
    byte = static_cast<std::uint8_t>(bit ? byte | mask : byte & ~mask);
  }
  friend constexpr bool operator==(const bit_string&, const bit_string&) = default;
};

/// Writes numbers into a bit string one after the other, or reads them in the same order: one text for both directions.
class bit_coder {
 public:
  bit_coder() = default;
  explicit bit_coder(const bit_string& from) : bits_(from), reading_(true) {}

  /// The number of bits that 0..largest needs.
  static constexpr int width(int largest) {
    int bits = 0;
    while (largest >> bits != 0) ++bits;
    return bits;
  }
  template <std::integral T>
  void number(T& value, int largest) {
    const int bits = width(largest);
    unsigned whole = reading_ ? 0 : static_cast<unsigned>(value);
    for (int i = 0; i < bits; ++i, ++at_) {
      KGATE_EXPECTS(at_ < bit_string::bits_max, "a supervisor's state takes at most 256 bits");
      if (reading_)
        whole |= static_cast<unsigned>(bits_.get(at_)) << i;
      else
        bits_.set(at_, (whole >> i & 1) != 0);
    }
    if (reading_) value = static_cast<T>(whole);
  }
  const bit_string& bits() const { return bits_; }
  int length() const { return at_; }

 private:
  bit_string bits_;
  bool reading_ = false;
  int at_ = 0;
};

/// A system of workers and a supervisor (section 4 of the paper), made for N workers, l permits and fewer than k
/// failures. Its functions are pure.
///   work      one step of a worker, the paper's delta_i
///   transno   which of its possible steps the supervisor takes at v
///   newstate  where that step leads it; newval  what it leaves in the shared variable
///   elig      (R2);  active  the number of workers in their trying region (R5);  c1  from where on there are 2k-1
///   helpers (R6)
///   code      the supervisor's state to or from bits
template <class S>
concept SupervisedSystem = std::constructible_from<S, int, int, int> &&
    requires(const S& system, typename S::Value& v, typename S::Worker& w, typename S::Supervisor& x,
             bit_coder& coder) {
  { system.first_value() } -> std::same_as<typename S::Value>;
  { system.first_supervisor() } -> std::same_as<typename S::Supervisor>;
  system.work(v, w);
  { S::where(w) } -> std::same_as<region>;
  { system.transno(v, x) } -> std::same_as<int>;
  { system.newstate(x, 0) } -> std::same_as<typename S::Supervisor>;
  { system.newval(v, x) } -> std::same_as<typename S::Value>;
  { system.elig(v, w) } -> std::same_as<eligibility>;
  { system.active(v, x) } -> std::same_as<int>;
  { system.c1() } -> std::same_as<int>;
  system.code(coder, x);
};

enum class slot_status : std::uint8_t { FREE, RECEIVE, CURRENT, PREVIOUS, DEAD };
enum class state_location : std::uint8_t { SHARE, DIST };

inline constexpr int robustness_max = 3;
inline constexpr int permits_max = 3;
inline constexpr int slots_max = 3 * robustness_max - 1;

/// READY, DONE, or a message of so many bits.
template <int Bits>
class channel {
  static_assert(Bits >= 1 && Bits <= 22, "a channel has at most three bytes");

 public:
  constexpr channel() = default;
  static constexpr channel READY() { return {}; }
  static constexpr channel DONE() { return channel(1); }
  static constexpr channel of(unsigned message) { return channel(message + 2); }

  constexpr bool is_message() const { return whole() >= 2; }
  constexpr unsigned message() const { return whole() - 2; }
  friend constexpr bool operator==(channel, channel) = default;

 private:
  explicit constexpr channel(unsigned whole) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::uint8_t>(whole >> 8 * i);
  }
  constexpr unsigned whole() const {
    unsigned all = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i) all |= static_cast<unsigned>(bytes_[i]) << 8 * i;
    return all;
  }

  std::array<std::uint8_t, (Bits <= 7 ? 1 : Bits <= 14 ? 2 : 3)> bytes_{};
};

/// The one variable of the system without supervisor.
template <class System, int Message_bits = 1>
struct supervised_value {
  typename System::Value v;
  std::array<slot_status, slots_max> status{};
  std::array<std::array<channel<Message_bits>, slots_max>, slots_max> ch{};
  std::uint8_t stateholders = 0;
  state_location loccur = state_location::SHARE;
  state_location locprev = state_location::SHARE;
  std::array<std::uint8_t, 2> step{};  ///< low byte first
  bit_string xs;

  /// What a search says it has met: values with the supervisor's state in them, and with it distributed.
  static constexpr std::array<const char*, 2> modes{"SHARE", "DIST"};
  int mode() const { return static_cast<int>(loccur); }

  friend bool operator==(const supervised_value&, const supervised_value&) = default;
};

template <class System, int Message_bits>
std::string to_string(const supervised_value<System, Message_bits>& V) {
  std::string text = to_string(V.v) + (V.loccur == state_location::SHARE ? " SHARE" : " DIST") + " slots ";
  for (const slot_status status : V.status) text += "-RCPD"[static_cast<int>(status)];
  return text + " holders " + std::to_string(V.stateholders);
}

/// The private variables of a process: its worker's state w, its slot s, what it knows of the supervisor.
template <class System>
struct supervised_process {
  typename System::Worker w{};
  std::uint8_t s = 0;  ///< 0: none
  bool prevhelper = false;
  std::array<std::uint8_t, slots_max> n{};  ///< messages sent to, or received from, each slot
  std::array<bit_string, slots_max> rbuf{};
  bit_string x;
};

struct as_corrected {
  static constexpr bool transno_after_newval = false;
  static constexpr bool tests_prevhelper = true;
  static constexpr int message_bits = 1;
};
struct printed_order : as_corrected {
  static constexpr bool transno_after_newval = true;
};

/// One step of a process, between LOCK and UNLOCK.
template <SupervisedSystem System, class Reading = as_corrected>
class elimination {
 public:
  using Value = supervised_value<System, Reading::message_bits>;
  using Local = supervised_process<System>;

  /// For l permits and fewer than k failures.
  elimination(int N, int l, int k)
      : system_(N, l, k), k_(k), slots_(3 * k - 1), length_(encode(system_.first_supervisor()).length()) {
    KGATE_EXPECTS(k <= robustness_max && l <= permits_max, "systems without supervisor are made for k and l at most 3");
  }

  const System& system() const { return system_; }
  /// How many bits the supervisor's state takes.
  int length() const { return length_; }
  int slots() const { return slots_; }

  Value first_value() const {
    Value V{};
    V.v = system_.first_value();
    V.xs = encode(system_.first_supervisor()).bits();
    return V;
  }

  void step(Value& V, Local& me) const {
    system_.work(V.v, me.w);
    if (V.loccur == state_location::SHARE || (holds(V, me, slot_status::CURRENT) && V.stateholders == k_))
      supervise(V, V.loccur == state_location::SHARE ? V.xs : me.x);
    const eligibility class_of_mine = system_.elig(V.v, me.w);
    release_slot(V, me, class_of_mine);
    take_slot(V, me, class_of_mine);
    if (me.s != 0 && V.stateholders < k_) service_slot(V, me, class_of_mine);
    me.prevhelper = class_of_mine == eligibility::helper;
  }

 private:
  using Supervisor = typename System::Supervisor;
  using Channel = channel<Reading::message_bits>;

  bit_coder encode(Supervisor x) const {
    bit_coder coder;
    system_.code(coder, x);
    return coder;
  }
  Supervisor decode(const bit_string& bits) const {
    Supervisor x{};
    bit_coder coder(bits);
    system_.code(coder, x);
    return x;
  }
  static std::size_t at(int slot) { return static_cast<std::size_t>(slot - 1); }
  bool holds(const Value& V, const Local& me, slot_status status) const {
    return me.s != 0 && V.status[at(me.s)] == status;
  }

  /// The supervisor's step, by the process that has its state.
  void supervise(Value& V, const bit_string& bits) const {
    const Supervisor xx = decode(bits);
    const auto before = V.v;
    V.v = system_.newval(before, xx);
    const int step = system_.transno(Reading::transno_after_newval ? V.v : before, xx);
    const Supervisor next = system_.newstate(xx, step);
    V.step = {static_cast<std::uint8_t>(step), static_cast<std::uint8_t>(step >> 8)};
    V.locprev = V.loccur;
    V.stateholders = 0;
    V.ch = {};
    if (system_.active(V.v, next) > system_.c1()) {
      V.loccur = state_location::DIST;
      if (V.locprev == state_location::DIST) V.xs = {};
      for (slot_status& status : V.status) {
        if (status == slot_status::CURRENT)
          status = slot_status::PREVIOUS;
        else if (status == slot_status::RECEIVE || status == slot_status::PREVIOUS)
          status = slot_status::DEAD;
      }
    } else {
      V.loccur = state_location::SHARE;
      V.xs = encode(next).bits();
      V.step = {};
      for (slot_status& status : V.status)
        if (status != slot_status::FREE) status = slot_status::DEAD;
    }
  }

  void release_slot(Value& V, Local& me, eligibility mine) const {
    if (me.s == 0) return;
    if (!holds(V, me, slot_status::DEAD) && mine != eligibility::drone &&
        !(Reading::tests_prevhelper && holds(V, me, slot_status::PREVIOUS) && !me.prevhelper))
      return;
    V.status[at(me.s)] = slot_status::FREE;
    me.s = 0;
    me.x = {};
    clear_buffers(me);
  }

  void take_slot(Value& V, Local& me, eligibility mine) const {
    if (V.loccur != state_location::DIST || me.s != 0 || mine != eligibility::helper) return;
    for (int t = 1; t <= slots_; ++t) {
      if (V.status[at(t)] != slot_status::FREE) continue;
      me.s = static_cast<std::uint8_t>(t);
      V.status[at(t)] = slot_status::RECEIVE;
      return;
    }
  }

  void service_slot(Value& V, Local& me, eligibility mine) const {
    slot_status& status = V.status[at(me.s)];
    if (status == slot_status::CURRENT) {
      send(V, me);
    } else if (status == slot_status::PREVIOUS) {
      me.x = encode(system_.newstate(decode(me.x), V.step[0] | V.step[1] << 8)).bits();
      status = slot_status::CURRENT;
      if (mine == eligibility::helper) ++V.stateholders;
      clear_buffers(me);
    } else if (status == slot_status::RECEIVE) {
      if (V.locprev == state_location::SHARE) {
        me.x = V.xs;
        status = slot_status::PREVIOUS;
      } else {
        receive(V, me);
      }
    }
  }

  void send(Value& V, Local& me) const {
    for (int t = 1; t <= slots_; ++t) {
      Channel& out = V.ch[at(me.s)][at(t)];
      if (out != Channel::READY()) continue;
      std::uint8_t& sent = me.n[at(t)];
      if (sent * Reading::message_bits >= length_) {
        out = Channel::DONE();
      } else {
        unsigned message = 0;
        for_bits_of(sent, [&](int i, int bit) { message |= static_cast<unsigned>(me.x.get(bit)) << i; });
        out = Channel::of(message);
        ++sent;
      }
    }
  }

  void receive(Value& V, Local& me) const {
    for (int t = 1; t <= slots_; ++t) {
      Channel& in = V.ch[at(t)][at(me.s)];
      if (in == Channel::DONE()) {
        me.x = me.rbuf[at(t)];
        V.status[at(me.s)] = slot_status::CURRENT;
        ++V.stateholders;
        clear_buffers(me);
        return;
      }
      if (!in.is_message()) continue;
      for_bits_of(me.n[at(t)]++, [&](int i, int bit) { me.rbuf[at(t)].set(bit, (in.message() >> i & 1) != 0); });
      in = Channel::READY();
    }
  }

  /// Calls f(i, bit) for the bits of the state that message number `sent` carries.
  template <class F>
  void for_bits_of(int sent, F&& f) const {
    for (int i = 0; i < Reading::message_bits && sent * Reading::message_bits + i < length_; ++i)
      f(i, sent * Reading::message_bits + i);
  }

  static void clear_buffers(Local& me) {
    me.n = {};
    me.rbuf = {};
  }

  System system_;
  int k_;
  int slots_;
  int length_;
};

/// Exclusion by the processes of a system without its supervisor, with so many permits as the machine's k says. It
/// bears fewer than `Robustness` failures, the paper's k; 0: as many as there are permits.
template <class M, SupervisedSystem System, class Reading = as_corrected, int Robustness = 0>
class supervised {
 public:
  using Process = typename M::Process;
  using Private = supervised_process<System>;

  supervised(typename M::Memory& memory, int N, int k)
      : rule_(N, k, Robustness == 0 ? k : Robustness), V(memory, {.name = "V"}, rule_.first_value()) {}

  void acquire(Process& p, Private& mine) {
    take_step(p["T"], mine);
    p.doorway_end();
    while (System::where(mine.w) != region::critical) take_step(p["W"], mine);
  }

  void release(Process& p, Private& mine) {
    do take_step(p["E"], mine);
    while (System::where(mine.w) != region::remainder);
  }

 private:
  using Value = typename elimination<System, Reading>::Value;

  void take_step(Process& p, Private& mine) {
    Value seen = V.rmw(p, [&](Value now) {
      Private after = mine;
      rule_.step(now, after);
      return now;
    });
    rule_.step(seen, mine);
    p.live(mine);
  }

  elimination<System, Reading> rule_;
  typename M::template Var<Value> V;
};

}  // namespace kgate::flbb79
