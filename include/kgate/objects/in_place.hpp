// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A sequential object for one process at a time: what lies behind a lock, and behind 1-assignment, where no copy need
/// be made.
///
/// Promises     linearizable if the caller excludes others; nothing if it does not, and nothing after one died inside.
/// Variables    S  the words of the state
/// Deviations   none to speak of. Off the native machine an operation reads all words that are used and writes those
///              that change, which is what a machine that counts accesses charges it; a real heap operation reads about
///              half of them.

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/machines/native.hpp"
#include "kgate/objects/herlihy93.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate {

template <class M, Sequential T>
class in_place {
 public:
  using Process = typename M::Process;

  explicit in_place(typename M::Memory& memory, int /*processes*/ = 1, const T& initial = T())
      : S(in_words<T>::size, [&, first = in_words<T>(initial)](std::size_t i) {
          return Data(memory, {.name = "S", .instance = static_cast<int>(i)}, first.get(i));
        }) {}

  typename T::result apply(Process& p, int /*name*/, const typename T::operation& op) {
    in_words<T> now;
    now.set(0, S[std::size_t{0}].read(p["1"]));
    const std::size_t used = used_words(now);
    for (std::size_t i = 1; i < used; ++i) now.set(i, S[i].read(p["1"]));
    const in_words<T> before = now;
    const typename T::result mine = now.value().apply(op);
    for (std::size_t i = 0; i < used_words(now); ++i)
      if (i >= used || now.get(i) != before.get(i)) S[i].write(p["2"], now.get(i));
    return mine;
  }

 private:
  using Data = typename detail::data_word<M>::type;
  fixed_array<Data> S;
};

/// Natively the state is plain memory: the exclusion that is asked for orders the accesses.
template <class Policy, Sequential T>
class in_place<native<Policy>, T> {
 public:
  using Process = typename native<Policy>::Process;

  explicit in_place(typename native<Policy>::Memory&, int /*processes*/ = 1, const T& initial = T())
      : state_(initial) {}
  typename T::result apply(Process&, int /*name*/, const typename T::operation& op) noexcept {
    return state_.apply(op);
  }

 private:
  T state_;
};

}  // namespace kgate
