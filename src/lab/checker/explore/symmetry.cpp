// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/symmetry.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

namespace kgate::lab {

namespace {

constexpr std::uint32_t unknown = 0xFFFFFFFF;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9E3779B97F4A7C15ULL + (h << 6) + (h >> 2);
  h *= 0xD6E8FEB86659FD93ULL;
  return h ^ h >> 32;
}

/// A variable's name without its home: the same for all elements of an array over processes.
std::string base_name(const shared_variable& v) {
  return v.home == nobody ? v.name : v.name.substr(0, v.name.rfind('['));
}

}  // namespace

canonical_form::canonical_form(tables& t)
    : table_(t), N_(t.source().N()), local_signatures_(static_cast<std::size_t>(t.source().N())) {
  if (N_ > symmetric_processes_max)
    throw std::invalid_argument("symmetry: at most " + std::to_string(symmetric_processes_max) + " processes");
  const program& source = t.source();
  std::vector<int> to(static_cast<std::size_t>(N_));
  std::iota(to.begin(), to.end(), 0);
  do {
    renaming r;
    for (int i = 0; i < N_; ++i) r.to.set(i, to[static_cast<std::size_t>(i)]);
    r.variable.resize(static_cast<std::size_t>(source.variables()));
    for (int v = 0; v < source.variables(); ++v) {
      r.variable[v] = v;
      if (source.variable(v).home == nobody) continue;
      for (int u = 0; u < source.variables(); ++u)
        if (source.variable(u).home == pid(to[source.variable(v).home.value]) &&
            base_name(source.variable(u)) == base_name(source.variable(v)))
          r.variable[v] = u;
    }
    r.codes.resize(static_cast<std::size_t>(source.variables()));
    r.locals.resize(static_cast<std::size_t>(N_));
    renamings_.push_back(std::move(r));
  } while (std::next_permutation(to.begin(), to.end()));
  for (int v = 0; v < source.variables(); ++v) {
    const shared_variable& variable = source.variable(v);
    if ((variable.home == nobody) != variable.names_process) continue;
    marks_.push_back(
        {v, variable.home == nobody ? -1 : variable.home.value, std::hash<std::string>{}(base_name(variable)), {}});
  }
}

std::size_t canonical_form::index_of(const std::uint8_t* to) const {
  std::size_t index = 0;
  for (int i = 0; i < N_; ++i) {
    std::size_t smaller = 0;
    for (int j = i + 1; j < N_; ++j) smaller += to[j] < to[i];
    index = index * static_cast<std::size_t>(N_ - i) + smaller;
  }
  return index;
}

std::uint64_t canonical_form::local_signature(int p, local_id s) {
  std::vector<std::uint64_t>& known = local_signatures_[p];
  if (known.size() <= s) known.resize(s + 1, 0);
  if (known[s] == 0) {
    const program& source = table_.source();
    const local_state& at = source.local(p, s);
    std::uint64_t h = std::hash<std::string>{}(at.label);
    h = mix(h, static_cast<std::uint64_t>(at.where) * 64 + static_cast<std::uint64_t>(at.op) * 2 + at.waiting);
    h = mix(h, static_cast<std::uint64_t>(at.name + 1) * 1024 + static_cast<std::uint64_t>(at.passage));
    if (at.variable >= 0) h = mix(h, std::hash<std::string>{}(base_name(source.variable(at.variable))));
    known[s] = h | 1;
  }
  return known[s];
}

std::uint64_t canonical_form::marked(mark& m, code c) {
  if (m.of_code.size() <= c) m.of_code.resize(c + 1, ~std::uint64_t{0});
  if (m.of_code[c] == ~std::uint64_t{0}) {
    const std::string& bytes = table_.source().variable(m.variable).values.bytes(c);
    if (m.home >= 0) {
      m.of_code[c] = mix(m.base, std::hash<std::string>{}(bytes)) >> 1;
    } else {
      m.of_code[c] = 0;
      for (int p = 0; p < N_; ++p)
        if (bytes == to_bytes(pid(p))) m.of_code[c] = static_cast<std::uint64_t>(p) + 1;
    }
  }
  return m.of_code[c];
}

/// Equal for two processes whenever some renaming that fixes the state could exchange them: made only of what renaming
/// keeps.
void canonical_form::signatures(const std::uint64_t* words, std::uint64_t* of) {
  const layout& pack = table_.packing();
  for (int p = 0; p < N_; ++p) of[p] = local_signature(p, static_cast<local_id>(pack.local[p].get(words)));
  for (mark& m : marks_) {
    const std::uint64_t is = marked(m, static_cast<code>(pack.variable[m.variable].get(words)));
    if (m.home >= 0)
      of[m.home] += is;
    else if (is != 0)
      of[is - 1] += mix(m.base, 1);
  }
}

template <class F>
void canonical_form::for_each_candidate(const std::uint64_t* words, F&& f) {
  std::array<std::uint64_t, symmetric_processes_max> of;
  std::array<int, symmetric_processes_max> order;
  signatures(words, of.data());
  for (int p = 0; p < N_; ++p) {
    int i = p;
    for (; i > 0 && of[order[i - 1]] > of[p]; --i) order[i] = order[i - 1];
    order[i] = p;
  }
  // Process order[i] may become any number of its group of equal signatures; groups keep their order.
  std::array<std::uint8_t, symmetric_processes_max> to;
  bool tied = false;
  for (int i = 0; i < N_; ++i) {
    to[order[i]] = static_cast<std::uint8_t>(i);
    tied |= i > 0 && of[order[i]] == of[order[i - 1]];
  }
  if (!tied) {
    f(renamings_[index_of(to.data())]);
    return;
  }
  std::function<void(int)> assign = [&](int begin) {
    if (begin == N_) {
      f(renamings_[index_of(to.data())]);
      return;
    }
    int end = begin;
    std::vector<std::uint8_t> group;
    while (end < N_ && of[order[end]] == of[order[begin]]) group.push_back(static_cast<std::uint8_t>(end++));
    do {
      for (int i = begin; i < end; ++i) to[order[i]] = group[static_cast<std::size_t>(i - begin)];
      assign(end);
    } while (std::next_permutation(group.begin(), group.end()));
  };
  assign(0);
}

code canonical_form::renamed(renaming& r, int v, code c) {
  std::vector<code>& known = r.codes[v];
  if (known.size() <= c) known.resize(c + 1, unknown);
  if (known[c] == unknown) known[c] = table_.source().renamed_code(v, c, r.variable[v], r.to);
  if (known[c] >> table_.bits().variable[r.variable[v]] != 0) throw overflow{};
  return known[c];
}

local_id canonical_form::renamed_local(renaming& r, int p, local_id s) {
  std::vector<local_id>& known = r.locals[p];
  if (known.size() <= s) known.resize(s + 1, unknown);
  if (known[s] == unknown) {
    const local_id mirrored = table_.source().mirror(p, s, r.to(p), [&](int v, code c) { return renamed(r, v, c); });
    require_alike(r, p, s, mirrored);
    table_.ensure_row(r.to(p), mirrored);
    known[s] = mirrored;
  }
  return known[s];
}

void canonical_form::require_alike(const renaming& r, int p, local_id s, local_id mirrored) const {
  const program& source = table_.source();
  const local_state& here = source.local(p, s);
  const local_state& there = source.local(r.to(p), mirrored);
  const int variable = here.variable < 0 ? -1 : r.variable[here.variable];
  if (here.op == there.op && here.label == there.label && variable == there.variable && here.where == there.where &&
      here.waiting == there.waiting && here.name == there.name && here.done == there.done && here.ways == there.ways)
    return;
  not_alike(p, here.label, r.to(p), there.label);
}

void canonical_form::not_alike(int p, const std::string& label, int q, const std::string& other_label) {
  throw text_error("the algorithm is not symmetric in its processes: what process " + std::to_string(p) +
                   " does at label " + label + " process " + std::to_string(q) +
                   " does not do, with processes renamed, at label " + other_label);
}

void canonical_form::apply(renaming& r, const std::uint64_t* from, std::uint64_t* to) {
  const layout& pack = table_.packing();
  std::fill_n(to, pack.words, 0);
  for (int p = 0; p < N_; ++p)
    pack.local[r.to(p)].set(to, renamed_local(r, p, static_cast<local_id>(pack.local[p].get(from))));
  for (std::size_t v = 0; v < pack.variable.size(); ++v)
    pack.variable[r.variable[v]].set(to,
                                     renamed(r, static_cast<int>(v), static_cast<code>(pack.variable[v].get(from))));
}

permutation canonical_form::reduce(std::uint64_t* words) {
  const unsigned count = table_.packing().words;
  std::uint64_t least[state_words_max], next[state_words_max];
  const renaming* by = nullptr;
  for_each_candidate(words, [&](renaming& r) {
    apply(r, words, next);
    if (by != nullptr && !std::lexicographical_compare(next, next + count, least, least + count)) return;
    std::copy_n(next, count, least);
    by = &r;
  });
  std::copy_n(least, count, words);
  return by->to;
}

std::uint64_t canonical_form::orbit_size(const std::uint64_t* words) {
  const unsigned count = table_.packing().words;
  std::uint64_t first[state_words_max], next[state_words_max];
  std::uint64_t fixing = 0;
  // The renamings that fix the state are as many as the candidates that make one and the same state of it.
  for_each_candidate(words, [&](renaming& r) {
    apply(r, words, fixing == 0 ? first : next);
    if (fixing == 0 || std::equal(next, next + count, first)) ++fixing;
  });
  return renamings_.size() / fixing;
}

void canonical_form::complete_automata() {
  program& source = table_.source();
  struct known_step {
    local_id from;
    code seen;
  };
  // Exchanges of two neighbours generate all renamings.
  std::vector<renaming*> exchanges;
  for (renaming& r : renamings_) {
    int moved = 0;
    for (int i = 0; i < N_; ++i) moved += r.to(i) != i && std::abs(r.to(i) - i) == 1;
    bool others = true;
    for (int i = 0; i < N_; ++i) others &= std::abs(r.to(i) - i) <= 1;
    if (moved == 2 && others) exchanges.push_back(&r);
  }
  std::size_t before = 0;
  for (std::size_t now = 1; now != before;) {
    before = now;
    now = 1;
    for (int p = 0; p < N_; ++p) {
      std::vector<known_step> all;
      source.for_each_step(p, [&](local_id s, code seen, const transition&) { all.push_back({s, seen}); });
      for (const renaming* r : exchanges) {
        const auto renamed = [&](int v, code c) { return source.renamed_code(v, c, r->variable[v], r->to); };
        if (r->to(p) == p) continue;
        std::vector<local_id> mirrored(source.locals(p), unknown);
        for (const known_step& one : all) {
          const int v = source.local(p, one.from).variable;
          const int q = r->to(p);
          if (mirrored[one.from] == unknown) mirrored[one.from] = source.mirror(p, one.from, q, renamed);
          const local_id there = mirrored[one.from];
          const transition by_p = source.step(p, one.from, one.seen);
          const code seen_by_q = v < 0 ? one.seen : seen_by_way(renamed(v, value_seen(one.seen)), way_seen(one.seen));
          const transition by_q = source.step(q, there, seen_by_q);
          const bool writes_alike =
              by_p.writes == by_q.writes && (!by_p.writes || renamed(v, by_p.written) == by_q.written);
          if (by_p.blocked != by_q.blocked || !writes_alike)
            not_alike(p, source.local(p, one.from).label, q, source.local(q, there).label);
        }
      }
    }
    for (int p = 0; p < N_; ++p) source.for_each_step(p, [&](local_id, code, const transition&) { ++now; });
  }
}

void canonical_form::for_each_renaming(const std::uint64_t* words, const std::function<void(const std::uint64_t*)>& f) {
  std::uint64_t next[state_words_max];
  for (renaming& r : renamings_) {
    apply(r, words, next);
    f(next);
  }
}

}  // namespace kgate::lab
