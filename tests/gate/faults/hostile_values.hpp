// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A participant that writes what it likes into a live gate. Every other one may get a documented error, and nothing
/// worse: no crash, no access outside of its own memory (the sanitizers watch), no slot number that cannot be one, no
/// hang.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "gate/faults/bad_files.hpp"
#include "gate/layout.hpp"

namespace kgate::faults {

/// The gate's file, mapped by a process that may write to it.
class scribbler {
 public:
  explicit scribbler(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    words_ = static_cast<std::atomic<std::uint64_t>*>(memory);
  }
  scribbler(const scribbler&) = delete;
  scribbler& operator=(const scribbler&) = delete;
  ~scribbler() { munmap(static_cast<void*>(words_), bytes); }

  static constexpr std::size_t bytes = sizeof(detail::gates::file_layout);
  static constexpr std::size_t count = bytes / 8;
  std::atomic<std::uint64_t>& operator[](std::size_t i) { return words_[i]; }

 private:
  std::atomic<std::uint64_t>* words_;
};

/// Kinds of hostile values for a word that is `now`.
inline std::uint64_t hostile_value(unsigned kind, std::uint64_t now, std::mt19937_64& random) {
  switch (kind) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return now ^ (std::uint64_t{1} << random() % 64);
    case 3:
      return now & ~std::uint64_t{0xFFFF};  // weight or size 0, no member's kind
    case 4:
      return now | 0xFFF3;  // a huge size; a subject, weight and kind that none has
    default:
      return random();
  }
}
inline constexpr unsigned hostile_kinds = 6;

inline void expect_slot(int slot) {
  if (slot < 0 || slot >= detail::gates::slots_max) _exit(77);
}

/// Everything a member that is inside, one that is out, and the gate can do. Documented errors are answers.
inline void use_all(gate& g, gate::member& inside, gate::member& outside, bool removes = true) {
  using std::chrono::milliseconds;
  const auto attempt = [](const auto& body) {
    try {
      body();
    } catch (const gate_error& error) {
      switch (error.code()) {
        case gate_errc::damaged:
        case gate_errc::bad_slots:
        case gate_errc::removed:
        case gate_errc::in_use:
        case gate_errc::too_many:
        case gate_errc::not_a_gate:
          break;
        default:
          std::fprintf(stderr, "%d: %s\n", static_cast<int>(error.code()), error.what());
          _exit(78);
      }
    }
  };
  attempt([&] {
    for (const int slot : inside.slots()) expect_slot(slot);
  });
  attempt([&] { (void)g.slots(); });
  attempt([&] {
    if (!outside.try_enter()) return;
    expect_slot(outside.slot());
    outside.leave();
  });
  attempt([&] {
    if (outside.try_enter_for(milliseconds(1), 2)) outside.leave();
  });
  attempt([&] { inside.token(); });
  attempt([&] { inside.leave(); });
  attempt([&] {
    for (const gate_participant& p : g.status().holders)
      if (p.slot >= detail::gates::slots_max) _exit(77);
  });
  attempt([&] { g.resize(3); });
  attempt([&] {
    if (auto permit = g.try_enter(2))
      for (const int slot : permit->slots()) expect_slot(slot);
  });
  if (removes) attempt([&] { (void)g.remove(true); });
}

/// One word with one hostile value while a member is inside with two permits. In a process of its own.
inline void one_hostile_word(std::size_t word, unsigned kind, unsigned seed) {
  const scratch where;
  gate g = where.open("gate", 3);
  gate::member inside = g.join(), outside = g.join();
  inside.enter(seed % 2 == 0 ? 2 : 1);
  scribbler file(where.path() + "/gate.gate");
  std::mt19937_64 random(seed);
  file[word].store(hostile_value(kind, file[word].load(), random));
  use_all(g, inside, outside);
}

/// The same while a member is queued, which then gets in, or learns why not.
inline void one_hostile_word_while_queued(std::size_t word, unsigned kind, unsigned seed) {
  const scratch where;
  gate g = where.open("gate", 3);
  gate::member inside = g.join(), outside = g.join(), queued = g.join();
  inside.enter(3);
  std::atomic<bool> over{false};
  std::thread waiter([&] {
    try {
      if (queued.try_enter_for(std::chrono::milliseconds(20), 2)) {
        if (queued.slots().size() != 2) _exit(79);
        for (const int slot : queued.slots()) expect_slot(slot);
        queued.leave();
      }
    } catch (const gate_error&) {
    }
    over.store(true);
  });
  scribbler file(where.path() + "/gate.gate");
  auto& word_bits = file[offsetof(detail::gates::file_layout, word_bits) / 8];
  while (!detail::gates::word{word_bits.load()}.waiting() && !over.load()) std::this_thread::yield();
  std::mt19937_64 random(seed);
  file[word].store(hostile_value(kind, file[word].load(), random));
  use_all(g, inside, outside);
  waiter.join();
}

/// A huge size, and no slot that seems free: the search for one ends where the slots end.
inline void no_slot_but_beyond(std::uint64_t size) {
  const scratch where;
  gate g = where.open("gate", 3);
  gate::member inside = g.join(), other = g.join();
  other.enter();
  other.slot();
  inside.enter(2);
  scribbler file(where.path() + "/gate.gate");
  using detail::gates::file_layout;
  constexpr std::size_t slots = offsetof(file_layout, slot_bits) / 8;
  const std::uint64_t taken = file[slots].load();
  for (std::size_t j = 0; j < detail::gates::slots_max; ++j) file[slots + j].store(taken);
  file[offsetof(file_layout, size_bits) / 8].store(size);
  try {
    for (const int slot : inside.slots()) expect_slot(slot);
    _exit(80);
  } catch (const gate_error& error) {
    if (error.code() != gate_errc::damaged) _exit(78);
  }
}

/// All words that `wanted` accepts, with all kinds of values, also while one is queued.
template <class Wanted>
void hostile_words(Wanted wanted, bool queued) {
  auto* at = static_cast<std::atomic<std::size_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<std::size_t> words;
  for (std::size_t word = 0; word < scribbler::count; ++word)
    if (wanted(word)) words.push_back(word);
  constexpr std::size_t batch = 64;
  for (std::size_t first = 0; first < words.size(); first += batch) {
    const int how = guarded(
        [&] {
          for (std::size_t i = first; i < std::min(first + batch, words.size()); ++i)
            for (unsigned kind = 0; kind < hostile_kinds; ++kind) {
              at->store(words[i] * 8 + kind);
              const auto seed = static_cast<unsigned>(words[i] * 31 + kind);
              one_hostile_word(words[i], kind, seed);
              if (queued) one_hostile_word_while_queued(words[i], kind, seed);
            }
        },
        60);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0)
        << "status " << how << " at byte " << at->load() / 8 * 8 << ", value of kind " << at->load() % 8;
  }
  std::printf("%zu words, %u values each\n", words.size(), hostile_kinds);
  munmap(at, 4096);
}

/// A participant scribbles all the time while others use the gate.
inline void hostile_writer(unsigned seed, std::chrono::milliseconds time) {
  const int how = guarded(
      [&] {
        const scratch where;
        { const gate created = where.open("gate", 3); }
        std::atomic<bool> over{false};
        scribbler file(where.path() + "/gate.gate");
        std::thread writer([&] {
          std::mt19937_64 random(seed);
          while (!over.load()) {
            // Behind the header; half of it where most happens.
            const std::size_t word = 16 + random() % (random() % 2 == 0 ? 16 : scribbler::count - 16);
            file[word].store(hostile_value(static_cast<unsigned>(random() % hostile_kinds), file[word].load(), random));
            usleep(200);
          }
        });
        std::vector<std::thread> users;
        for (int i = 0; i < 2; ++i)
          users.emplace_back([&] {
            const auto end = std::chrono::steady_clock::now() + time;
            while (std::chrono::steady_clock::now() < end) {
              try {
                gate g = where.open("gate", 0);
                gate::member inside = g.join(), outside = g.join();
                if (inside.try_enter_for(std::chrono::milliseconds(2))) use_all(g, inside, outside, false);
              } catch (const gate_error&) {
                try {
                  (void)where.open("gate", 3);
                } catch (const gate_error&) {
                }
              }
            }
          });
        for (std::thread& user : users) user.join();
        over.store(true);
        writer.join();
      },
      120);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how << " with seed " << seed;
}

}  // namespace kgate::faults
