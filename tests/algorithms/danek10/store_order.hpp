// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A machine for the checker whose registers are weak, as those of x86 are: a write goes to the end of its process's
/// buffer, a read finds the latest write of its own process there or else what is in memory, and at any moment the
/// oldest write of a buffer may move to memory. A fence waits until the buffer is empty.
///
/// Memory and buffers are one shared value, so that each of these is one step. The buffers are emptied by processes of
/// their own, N to 2N-1, that never leave their entry.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/layered_process.hpp"
#include "kgate/detail/contracts.hpp"
#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

struct buffered_memory {
  static constexpr std::size_t registers_max = 10, processes_max = 2, writes_max = 12;
  struct write {
    std::uint8_t to = 0, value = 0;
  };
  struct buffer {
    std::uint8_t size = 0;
    std::array<write, writes_max> writes{};
  };
  std::array<std::uint8_t, registers_max> values{};
  std::array<buffer, processes_max> buffers{};

  friend std::string to_string(const buffered_memory& m) {
    std::string text;
    for (const std::uint8_t value : m.values) text += std::to_string(value) + ' ';
    return text;
  }
};

struct store_order_machine {
  /// Registers first; begin() then makes them one variable.
  class Memory {
   public:
    Memory(checker_machine::Memory& under, std::string_view fence_left_out)
        : under_(under), fence_left_out_(fence_left_out) {}
    std::uint8_t add(std::uint8_t initial) {
      KGATE_EXPECTS(added_ < buffered_memory::registers_max, "too many registers");
      first_.values[added_] = initial;
      return added_++;
    }
    void begin() { index_ = under_.add({.name = "memory"}, first_); }

    std::string_view fence_left_out() const { return fence_left_out_; }
    /// One step: `change` gets memory and buffers, and says by its result whether it is blocked.
    template <class Change>
    void access(checker_machine::Process& p, operation op, Change&& change) {
      p.access(op, index_, [&](code seen) {
        const std::string bytes = under_.at(index_).values.bytes(seen);
        auto all = from_bytes<buffered_memory>(bytes);
        checker_machine::effect e;
        e.blocked = !change(all);
        if (const std::string changed = to_bytes(all); !e.blocked && changed != bytes)
          e.written = under_.at(index_).values.intern(changed);
        return e;
      });
    }

   private:
    checker_machine::Memory& under_;
    std::string_view fence_left_out_;
    buffered_memory first_;
    std::uint8_t added_ = 0;
    int index_ = -1;
  };

  class Process : public layered_process<Process> {
   public:
    Process(checker_machine::Process& under, Memory& memory) : layered_process<Process>(under), memory_(memory) {}
    Process& operator[](const char* label) {
      label_ = label;
      return layered_process<Process>::operator[](label);
    }
    void fence() {
      if (label_ == memory_.fence_left_out()) return;
      memory_.access(this->under(), operation::await,
                     [&](const buffered_memory& all) { return all.buffers[this->id().value].size == 0; });
    }

   private:
    Memory& memory_;
    std::string_view label_;
  };

  template <class T>
  class Register {
   public:
    Register(Memory& memory, variable, T initial) : memory_(memory), index_(memory.add(narrow(initial))) {}

    T read(Process& p) {
      std::uint8_t value = 0;
      memory_.access(p.under(), operation::read, [&](const buffered_memory& all) {
        value = all.values[index_];
        const buffered_memory::buffer& own = all.buffers[p.id().value];
        for (std::uint8_t i = 0; i < own.size; ++i)
          if (own.writes[i].to == index_) value = own.writes[i].value;
        return true;
      });
      p.under().observed(value);
      return value == none ? static_cast<T>(-1) : value;
    }
    void write(Process& p, T value) {
      memory_.access(p.under(), operation::write, [&](buffered_memory& all) {
        buffered_memory::buffer& own = all.buffers[p.id().value];
        KGATE_EXPECTS(own.size < buffered_memory::writes_max, "more writes than a buffer holds");
        own.writes[own.size++] = {index_, narrow(value)};
        return true;
      });
    }

   private:
    static constexpr std::uint8_t none = 255;  // the largest value of T
    static std::uint8_t narrow(T value) {
      KGATE_EXPECTS(value < none || value == static_cast<T>(-1), "tickets are small here");
      return static_cast<std::uint8_t>(value);
    }
    Memory& memory_;
    std::uint8_t index_;
  };
  template <class T>
  using Var = Register<T>;
};

/// The algorithm for N = 2 and k = 1 on that machine, without the fence of that label.
template <template <class> class Algorithm>
std::unique_ptr<model> make_store_order_model(std::string_view fence_left_out) {
  using M = store_order_machine;
  struct system {
    M::Memory memory;
    Algorithm<M> algorithm{memory, 2, 1};
    system(checker_machine::Memory& under, std::string_view left_out) : memory(under, left_out) { memory.begin(); }
  };
  auto m = std::make_unique<model>();
  auto all = std::make_shared<system>(m->memory, fence_left_out);
  m->algorithm = all;
  m->passage = [s = all.get()](checker_machine::Process& p) {
    p.begin_entry();
    if (const int mine = p.id().value - 2; mine >= 0) {
      for (;;) {
        s->memory.access(p["drain"], operation::await, [&](buffered_memory& memory) {
          buffered_memory::buffer& buffer = memory.buffers[static_cast<std::size_t>(mine)];
          if (buffer.size == 0) return false;
          memory.values[buffer.writes[0].to] = buffer.writes[0].value;
          std::move(buffer.writes.begin() + 1, buffer.writes.end(), buffer.writes.begin());
          buffer.writes[--buffer.size] = {};
          return true;
        });
        p.live();
      }
    }
    M::Process process(p, s->memory);
    typename Algorithm<M>::Private mine{};
    s->algorithm.acquire(process, mine);
    p.enter_critical(-1);
    s->algorithm.release(process, mine);
    p.end_section();
  };
  return m;
}

}  // namespace kgate::lab
