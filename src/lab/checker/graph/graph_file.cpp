// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/graph/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kgate::lab {

namespace {

/// The states in the order of the search, and the position of each there.
struct numbering {
  std::vector<state_id> states;
  std::vector<std::uint32_t> position;

  explicit numbering(const exploration& e) : position(e.store->end(), 0) {
    for (const auto& level : e.levels)
      for (const id_range& range : level)
        for (state_id s = range.begin; s < range.end; ++s) {
          position[s] = static_cast<std::uint32_t>(states.size());
          states.push_back(s);
        }
  }
};

/// As it stands between quotation marks, on one line.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string step_text(const program& p, const step& it, local_id from) {
  const local_state& local = p.local(it.p, from);
  std::string text = fmt::format("p{} {}: {}", it.p, local.label, to_string(local.op));
  if (local.variable >= 0) text += " " + p.variable(local.variable).name;
  return escaped(text);
}

std::string values_text(exploration& e, state_id s) {
  const program& p = e.table->source();
  std::string text;
  for (int v = 0; v < p.variables(); ++v)
    text += fmt::format(
        "{}{}={}", v == 0 ? "" : "\\n", escaped(p.variable(v).name),
        escaped(p.variable(v).text(static_cast<code>(e.table->packing().variable[v].get(e.store->record(s))))));
  return text;
}

}  // namespace

std::string graph_text(exploration& e, graph_format format, const std::string& comment) {
  const numbering order(e);
  const bool dot = format == graph_format::dot;
  std::string text = dot ? fmt::format("{}digraph states {{\n  node [shape=box];\n",
                                       comment.empty() ? "" : fmt::format("// {}\n", escaped(comment)))
                         : fmt::format("des (0, {}, {})\n", e.transitions, order.states.size());
  auto out = std::back_inserter(text);
  with_words(e.store->words(), [&]<unsigned W>() {
    for (std::size_t i = 0; i < order.states.size(); ++i) {
      const state_id s = order.states[i];
      if (dot) fmt::format_to(out, "  {} [label=\"{}\"];\n", i, values_text(e, s));
      for_each_step<W>(
          *e.table, no_observer{}, e.contention, e.store->record(s),
          [&](const step& it, const std::uint64_t* to) {
            const auto from = static_cast<local_id>(e.table->packing().local[it.p].get(e.store->record(s)));
            const std::string label = step_text(e.table->source(), it, from);
            const std::uint32_t target = order.position[e.store->find<W>(to)];
            if (dot)
              fmt::format_to(out, "  {} -> {} [label=\"{}\"];\n", i, target, label);
            else
              fmt::format_to(out, "({}, \"{}\", {})\n", i, label, target);
          },
          [](const step&) {});
    }
  });
  return dot ? text + "}\n" : text;
}

}  // namespace kgate::lab
