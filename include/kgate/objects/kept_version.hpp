// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Where the texts of this room have their words: those that many read, and those that belong to one owner.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate::detail {

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

/// No version: there is no such block.
inline constexpr std::uint64_t no_version = ~std::uint64_t{0};

/// What the owner of a block keeps of the version it made or read last. Only the owner uses it.
template <class M, Sequential T>
class kept_version {
 public:
  using word = std::uint64_t;
  using Process = typename M::Process;

  kept_version(typename M::Memory& memory, int name)
      : words_(2 + in_words<T>::size, [&](std::size_t i) {
          return typename data_word<M>::type(memory, {"kept", static_cast<int>(i), pid(name)}, i == 0 ? no_version : 0);
        }) {}
  /// Where the owner has its copy of the state.
  in_words<T>& state(in_words<T>& local) { return local; }
  bool recall(Process& p, word version, bool compares, in_words<T>& state, word& bits) {
    if (words_[0].read(p["3"]) != version && compares) return false;
    bits = words_[1].read(p["3"]);
    state.set(0, words_[2].read(p["3"]));
    for (std::size_t i = 1; i < used_words(state); ++i) state.set(i, words_[2 + i].read(p["3"]));
    return true;
  }
  void keep(Process& p, word version, const in_words<T>& state, word bits) {
    words_[0].write(p["11"], version);
    words_[1].write(p["11"], bits);
    for (std::size_t i = 0; i < used_words(state); ++i) words_[2 + i].write(p["11"], state.get(i));
  }
  void forget(Process& p) { words_[0].write(p["13"], no_version); }

 private:
  fixed_array<typename data_word<M>::type> words_;
};
/// Plain memory where there is such: whatever hands the ownership on orders the accesses.
template <class M, Sequential T>
requires(M::has_plain_memory) class alignas(std::max(cache_line, alignof(in_words<T>))) kept_version<M, T> {
 public:
  using word = std::uint64_t;
  using Process = typename M::Process;

  kept_version(typename M::Memory&, int) {}
  in_words<T>& state(in_words<T>&) { return state_; }
  bool recall(Process&, word version, bool compares, in_words<T>&, word& bits) {
    if (version_ != version && compares) return false;
    bits = bits_;
    return true;
  }
  void keep(Process&, word version, const in_words<T>&, word bits) { version_ = version, bits_ = bits; }
  void forget(Process&) { version_ = no_version; }

 private:
  word version_ = no_version;
  word bits_ = 0;
  in_words<T> state_;
};
struct nothing_kept {
  template <class... Any>
  explicit nothing_kept(Any&&...) {}
};

}  // namespace kgate::detail
