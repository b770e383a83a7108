// SPDX-License-Identifier: Apache-2.0
#include "instructions.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/detail/machines/native.hpp"

using kgate::pid;
using machine = kgate::native<kgate::spin>;
using figure3 = kgate::am97::figure3<machine>;

/// Figure 3's block as an algorithm, for N = k+1.
struct one_block {
  using Private = kgate::nothing_private;
  one_block(machine::Memory& memory, int N, int k) : shared(memory, N), figure(memory, shared, N, k, 0) {}
  void acquire(machine::Process& p, Private&) { figure.acquire(p); }
  void release(machine::Process& p, Private&) { figure.release(p); }

  [[no_unique_address]] figure3::Shared shared;
  figure3 figure;
};

struct block {
  figure3 figure;
};
struct named {
  kgate::am97::names<machine, one_block> names;
};

void figure3_acquire(block& at, std::uint16_t p) {
  machine::Process process(pid(p));
  at.figure.acquire(process);
}

void figure3_release(block& at, std::uint16_t p) {
  machine::Process process(pid(p));
  at.figure.release(process);
}

int names_acquire(named& at, std::uint16_t p) {
  machine::Process process(pid(p));
  decltype(at.names)::Private mine;
  at.names.acquire(process, mine);
  return mine.name;
}

void names_release(named& at, std::uint16_t p, int name) {
  machine::Process process(pid(p));
  decltype(at.names)::Private mine;
  mine.name = name;
  at.names.release(process, mine);
}
