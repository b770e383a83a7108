// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/state_store.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "lab/checker/explore/memory_limit.hpp"

namespace kgate::lab {

namespace {

constexpr std::size_t first_capacity = std::size_t{1} << 14;
constexpr state_id chunk = 512;

}  // namespace

reserved_memory::reserved_memory(std::size_t bytes, counted by)
    : bytes_(std::max<std::size_t>(bytes, 1)), counted_(by == counted::here ? bytes_ : 0) {
  take_memory(counted_);
  data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    give_memory(counted_);
    throw std::bad_alloc();
  }
  ::madvise(data_, bytes_,
            MADV_HUGEPAGE);  // random access over gigabytes: fewer TLB misses; a refusal costs only speed
}
reserved_memory::reserved_memory(reserved_memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      counted_(std::exchange(other.counted_, 0)) {}
reserved_memory& reserved_memory::operator=(reserved_memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(counted_, other.counted_);
  return *this;
}
reserved_memory::~reserved_memory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  give_memory(counted_);
}

state_store::state_store(unsigned words, std::size_t bytes_max) : words_(words) {
  states_max_ =
      std::min<std::size_t>(bytes_max / bytes_each() + std::size_t{2} * chunk, no_state - std::size_t{2} * chunk);
  record_memory_ = reserved_memory(states_max_ * words * sizeof(std::uint64_t), reserved_memory::counted::by_caller);
  parent_memory_ = reserved_memory(states_max_ * sizeof(state_id), reserved_memory::counted::by_caller);
  records_ = static_cast<std::uint64_t*>(record_memory_.data());
  parents_ = static_cast<state_id*>(parent_memory_.data());
  index(first_capacity);
}

state_store::~state_store() { give_memory(std::size_t{end()} * bytes_each()); }

void state_store::index(std::size_t capacity) {
  slot_memory_ = reserved_memory(capacity * sizeof(std::uint32_t));
  slots_ = static_cast<std::atomic<std::uint32_t>*>(slot_memory_.data());
  capacity_ = capacity;
  shift_ = 64;
  for (std::size_t c = capacity; c > 1; c /= 2) --shift_;
}

std::size_t state_store::bytes(std::size_t states) const {
  return states * bytes_each() + capacity_ * sizeof(std::uint32_t);
}

void state_store::refill(writer& w) {
  const std::size_t bytes = chunk * bytes_each();
  take_memory(bytes);
  const state_id first = next_.fetch_add(chunk, std::memory_order_relaxed);
  if (first + chunk > states_max_) {
    next_.fetch_sub(chunk, std::memory_order_relaxed);
    give_memory(bytes);
    throw std::bad_alloc();
  }
  w.next = first;
  w.end = first + chunk;
}

template <unsigned W>
void state_store::reinsert(const std::vector<id_range>& used, int thread, int threads) {
  constexpr state_id piece = 1 << 14;
  constexpr unsigned ahead = 16;
  std::size_t number = 0;
  for (const id_range& r : used)
    for (state_id begin = r.begin; begin < r.end; begin += piece, ++number) {
      if (number % static_cast<std::size_t>(threads) != static_cast<std::size_t>(thread)) continue;
      const state_id end = std::min<state_id>(r.end, begin + piece);
      for (state_id s = begin; s < end; ++s) {
        if (s + ahead < end) prefetch_slot(slot(hash<W>(record(s + ahead))));
        for (std::size_t i = slot(hash<W>(record(s)));; i = (i + 1) & (capacity_ - 1)) {
          std::uint32_t empty = 0;
          if (slots_[i].load(std::memory_order_relaxed) == 0 &&
              slots_[i].compare_exchange_strong(empty, s + 1, std::memory_order_relaxed))
            break;
        }
      }
    }
}

void state_store::grow(const std::vector<id_range>& used, int threads) {
  index(capacity_ * 2);
  with_words(words_, [&]<unsigned W>() {
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { reinsert<W>(used, t, threads); });
    reinsert<W>(used, 0, threads);
    for (std::thread& t : others) t.join();
  });
}

}  // namespace kgate::lab
