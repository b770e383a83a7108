// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a text outside the catalogue becomes when kgate-lab compiles it: what the class says about itself, and a way to
/// make its model. docs/own-algorithm.md describes what the class may say.

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>

#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

struct text_plugin {
  std::string_view title = "a text of your own";
  std::string_view promises = "k-exclusion, deadlock-free, starvation-free, bounded-exit";
  bool symmetric = false;
  bool unbounded_variables = false;
  bool safe_registers = false;
  bool names = false;
  bool invariant = false;
  std::unique_ptr<model> (*make)(int N, int k, register_kind registers) = nullptr;
};

/// The rules of kgate/detail/machine.hpp, each with a sentence of its own for authors who break it.
template <class Text>
constexpr void require_algorithm() {
  using Memory = checker_machine::Memory;
  using Process = checker_machine::Process;
  static_assert(std::is_constructible_v<Text, Memory&, int, int>,
                "the class needs a constructor (typename M::Memory& memory, int N, int k)");
  static_assert(
      requires { typename Text::Private; },
      "the class needs a type Private for what a process keeps from acquire to release; "
      "'using Private = kgate::nothing_private;' if that is nothing");
  static_assert(
      requires(Text & t, Process & p, typename Text::Private & mine) { t.acquire(p, mine); },
      "the class needs void acquire(typename M::Process& p, Private& mine)");
  static_assert(
      requires(Text & t, Process & p, typename Text::Private & mine) { t.release(p, mine); },
      "the class needs void release(typename M::Process& p, Private& mine)");
}

/// What `Said`, the text itself, says of it, if Text is figure 1 of Anderson & Moir around it.
template <class Text, class Said = Text>
text_plugin make_text_plugin() {
  require_algorithm<Text>();
  text_plugin plugin;
  if constexpr (requires { Said::title; }) plugin.title = Said::title;
  if constexpr (requires { Said::promises; }) plugin.promises = Said::promises;
  if constexpr (requires { Said::symmetric; }) plugin.symmetric = Said::symmetric;
  if constexpr (requires { Said::unbounded_variables; }) plugin.unbounded_variables = Said::unbounded_variables;
  if constexpr (requires { Said::safe_registers; }) plugin.safe_registers = Said::safe_registers;
  plugin.names = requires(typename Text::Private mine) { mine.name; };
  plugin.invariant = requires(const Said& text, const invariant_state& state) {
    std::string(text.broken_invariant(state));
  };
  plugin.make = [](int N, int k, register_kind registers) { return make_model<Text>(N, k, registers); };
  return plugin;
}

}  // namespace kgate::lab
