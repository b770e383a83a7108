// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Whether a value means the same wherever and whenever it is read, as far as the compiler can tell.
///
/// An operation may be carried out by another thread or process, after the caller's arguments are gone; so may a state
/// or a result be read. What refers to memory elsewhere is refused: pointers, references, std::string_view, std::span
/// and the like, also as members of aggregates and elements of arrays. Not seen: members of classes that are no
/// aggregates, and members beyond the 24th.

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kgate {

/// To be specialised as true for a type that is meant to refer elsewhere: what it refers to must outlive the object,
/// and must not be used between processes.
template <class T>
inline constexpr bool may_refer_elsewhere = false;

namespace detail {

template <class T>
inline constexpr bool is_reference_like = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_reference_v<T>;
template <class C, class Traits>
inline constexpr bool is_reference_like<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t Extent>
inline constexpr bool is_reference_like<std::span<T, Extent>> = true;
template <class T>
inline constexpr bool is_reference_like<std::reference_wrapper<T>> = true;

template <class T>
constexpr bool self_contained();

/// Becomes whatever a member is initialised with, and might throw if that is not self-contained: so the whole tells
/// what its members are.
struct any_member {
  template <class T>
  operator T() const noexcept(self_contained<T>());  // NOLINT: an implicit conversion is the point
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), any_member{})...}; };
}
template <class T, std::size_t... I>
constexpr bool members_self_contained(std::index_sequence<I...>) {
  return noexcept(T{(static_cast<void>(I), any_member{})...});
}
#pragma GCC diagnostic pop
/// How many initialisers an aggregate takes, at most `N`.
template <class T, std::size_t N>
constexpr std::size_t initialisers() {
  if constexpr (N == 0 || takes<T>(std::make_index_sequence<N>()))
    return N;
  else
    return initialisers<T, N - 1>();
}
inline constexpr std::size_t members_max = 24;

template <class T>
constexpr bool self_contained() {
  if constexpr (may_refer_elsewhere<T>)
    return true;
  else if constexpr (is_reference_like<T>)
    return false;
  else if constexpr (std::is_array_v<T>)
    return self_contained<std::remove_all_extents_t<T>>();
  else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>)
    return members_self_contained<T>(std::make_index_sequence<initialisers<T, members_max>()>());
  else
    return true;
}

}  // namespace detail

template <class T>
concept SelfContained = detail::self_contained<T>();

}  // namespace kgate
