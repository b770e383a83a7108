// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files that are not what they should be, and a guard that tells a crash or a hang from an answer.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "gate/faults/scratch.hpp"

namespace kgate::faults {

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Pages of zeros become holes, as in a gate.
inline void spill(const std::string& path, const std::string& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  constexpr std::size_t page = 4096;
  static const std::string zeros(page, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += page) {
    const std::string_view part = std::string_view(bytes).substr(at, page);
    if (part == std::string_view(zeros).substr(0, part.size())) continue;
    EXPECT_EQ(pwrite(fd, part.data(), part.size(), static_cast<off_t>(at)), static_cast<ssize_t>(part.size()));
  }
  EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes.size())), 0);
  close(fd);
}

/// Does `body` in a process of its own. The status it ended with; SIGALRM if it hung for `seconds`.
inline int guarded(const std::function<void()>& body, unsigned seconds = 10) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(seconds);
    body();
    _exit(0);
  }
  int how = 0;
  waitpid(pid, &how, 0);
  return how;
}

/// All that a user might do with a gate. Errors of the documented kind are answers.
inline void use(const scratch& where) {
  try {
    gate g = where.open("gate", 0, "user");
    g.status();
    gate::member member = g.join();
    if (member.try_enter_for(std::chrono::milliseconds(3))) {
      member.slot();
      member.leave();
    }
    if (auto permit = g.try_enter()) permit->slot();
    g.resize(3);
    g.status();
  } catch (const gate_error&) {
  }
}

/// Gates with random damage behind the header: each is used, in a process that may neither crash nor hang.
inline void fuzz(unsigned first_seed, unsigned count) {
  const scratch where;
  { const gate created = where.open("gate", 2); }
  const std::string path = where.path() + "/gate.gate";
  {
    guarded([&] {
      gate g = where.open("gate");
      gate::member member = g.join();
      member.enter();
      _exit(0);  // dies inside: something to heal
    });
  }
  const std::string good = slurp(path);
  auto* at = static_cast<std::atomic<unsigned>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (unsigned seed = first_seed; seed < first_seed + count; seed += 50) {
    const int how = guarded([&] {
      for (unsigned s = seed; s < seed + 50; ++s) {
        at->store(s);
        alarm(10);
        std::mt19937 random(s);
        std::string bad = good;
        // Most of the file is empty: half of the damage goes where something is.
        for (auto flips = 1 + random() % 6; flips > 0; --flips) {
          const std::size_t offset = 128 + random() % (random() % 2 == 0 ? 512 : bad.size() - 128);
          bad[offset] = static_cast<char>(random());
        }
        if (random() % 20 == 0) bad.resize(random() % bad.size());
        spill(path, bad);
        use(where);
      }
    });
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how << " with seed " << at->load();
  }
  munmap(at, 4096);
}

}  // namespace kgate::faults
