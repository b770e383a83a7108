// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "kgate/detail/process.hpp"

namespace kgate::lab {

/// A value of one shared variable, numbered in the order in which the checker met it. Code 0 is the initial value.
using code = std::uint32_t;

/// What a step observes that can end in several ways, whatever the value: the value's code, and above it which way.
inline constexpr unsigned way_shift = 24;
constexpr code seen_by_way(code value, int way) { return value | static_cast<code>(way) << way_shift; }
constexpr code value_seen(code seen) { return seen & ((code{1} << way_shift) - 1); }
constexpr int way_seen(code seen) { return static_cast<int>(seen >> way_shift); }

/// The bytes of a value; the checker compares and stores values by them.
template <class T>
std::string to_bytes(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>,
                "a shared or live value needs a representation without padding");
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T from_bytes(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// A value as the traces print it.
template <class T>
std::string to_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return to_string(value);
  }
}

/// The values one variable has taken, in the order of their codes.
class value_table {
 public:
  code intern(const std::string& bytes) {
    const auto [entry, fresh] = codes_.try_emplace(bytes, static_cast<code>(values_.size()));
    if (fresh) values_.push_back(bytes);
    return entry->second;
  }
  const std::string& bytes(code c) const { return values_[c]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::string> values_;
  std::unordered_map<std::string, code> codes_;
};

/// A shared variable of the program under test.
struct shared_variable {
  std::string name;            ///< as printed: X, X.1 (instance 1), P[2] (home process 2), P.1[2]
  process_id home = nobody;    ///< whose memory it is in on a DSM machine
  bool names_process = false;  ///< its values are process numbers, renamed when processes are
  value_table values;
  std::string (*print)(std::string_view) = nullptr;
  /// If its values are of several modes: their names, and the number of a value's mode.
  std::vector<std::string> modes;
  int (*mode)(std::string_view) = nullptr;
  /// On safe registers: the code that stands for "a write is going on", and what a read may then return.
  code unstable = 0;
  std::vector<code> domain;
  int ways_max = 1;  ///< in how many ways one step of it may end

  bool safe() const { return !domain.empty(); }
  std::string text(code c) const { return safe() && c == unstable ? "?" : print(values.bytes(c)); }
};

}  // namespace kgate::lab
