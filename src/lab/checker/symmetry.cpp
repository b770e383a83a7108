// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/symmetry.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

namespace kgate::lab {

namespace {

constexpr std::uint32_t unknown = 0xFFFFFFFF;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9E3779B97F4A7C15ULL + (h << 6) + (h >> 2);
  return h;
}

/// A variable's name without its home: the same for all elements of an array over processes.
std::string base_name(const shared_variable& v) {
  return v.home == nobody ? v.name : v.name.substr(0, v.name.rfind('['));
}

}  // namespace

canonical_form::canonical_form(tables& t) : table_(t), N_(t.source().N()) {
  if (N_ > symmetric_processes_max)
    throw std::invalid_argument("symmetry: at most " + std::to_string(symmetric_processes_max) + " processes");
  const program& source = t.source();
  permutation to(static_cast<std::size_t>(N_));
  std::iota(to.begin(), to.end(), 0);
  do {
    renaming r;
    r.to = to;
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
}

std::size_t canonical_form::index_of(const permutation& to) const {
  std::size_t index = 0;
  for (int i = 0; i < N_; ++i) {
    std::size_t smaller = 0;
    for (int j = i + 1; j < N_; ++j) smaller += to[j] < to[i];
    index = index * static_cast<std::size_t>(N_ - i) + smaller;
  }
  return index;
}

/// Equal for two processes whenever some renaming that fixes the state could exchange them: made only of what renaming keeps.
std::uint64_t canonical_form::signature(int p, const std::uint64_t* words) const {
  const program& source = table_.source();
  const auto here = static_cast<local_id>(table_.packing().local[p].get(words));
  const local_state& s = source.local(p, here);
  std::uint64_t h = std::hash<std::string>{}(s.label);
  h = mix(h, static_cast<std::uint64_t>(s.where) * 64 + static_cast<std::uint64_t>(s.op) * 2 + s.waiting);
  h = mix(h, static_cast<std::uint64_t>(s.name + 1) * 1024 + static_cast<std::uint64_t>(s.passage));
  if (s.variable >= 0) h = mix(h, std::hash<std::string>{}(base_name(source.variable(s.variable))));
  for (int v = 0; v < source.variables(); ++v) {
    const shared_variable& variable = source.variable(v);
    const code c = static_cast<code>(table_.packing().variable[v].get(words));
    if (variable.home == pid(p) && !variable.names_process) h = mix(h, std::hash<std::string>{}(variable.values.bytes(c)));
    if (variable.home == nobody && variable.names_process && variable.values.bytes(c) == to_bytes(pid(p)))
      h = mix(h, static_cast<std::uint64_t>(v) + 1);
  }
  return h;
}

template <class F>
void canonical_form::for_each_candidate(const std::uint64_t* words, F&& f) {
  std::vector<std::pair<std::uint64_t, int>> order;
  for (int p = 0; p < N_; ++p) order.emplace_back(signature(p, words), p);
  std::sort(order.begin(), order.end());
  // Process order[i] may become any number of its group of equal signatures; groups keep their place.
  permutation to(static_cast<std::size_t>(N_));
  std::function<void(int)> assign = [&](int begin) {
    if (begin == N_) {
      f(renamings_[index_of(to)]);
      return;
    }
    int end = begin;
    std::vector<int> group;
    while (end < N_ && order[end].first == order[begin].first) group.push_back(end++);
    do {
      for (int i = begin; i < end; ++i) to[order[i].second] = group[i - begin];
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
    const local_id mirrored = table_.source().mirror(p, s, r.to[p], [&](int v, code c) { return renamed(r, v, c); });
    table_.ensure_row(r.to[p], mirrored);
    known[s] = mirrored;
  }
  return known[s];
}

void canonical_form::apply(renaming& r, const std::uint64_t* from, std::uint64_t* to) {
  const layout& pack = table_.packing();
  std::fill_n(to, pack.words, 0);
  for (int p = 0; p < N_; ++p)
    pack.local[r.to[p]].set(to, renamed_local(r, p, static_cast<local_id>(pack.local[p].get(from))));
  for (std::size_t v = 0; v < pack.variable.size(); ++v)
    pack.variable[r.variable[v]].set(to, renamed(r, static_cast<int>(v), static_cast<code>(pack.variable[v].get(from))));
}

void canonical_form::reduce(std::uint64_t* words) {
  const unsigned count = table_.packing().words;
  std::uint64_t least[state_words_max], next[state_words_max];
  bool any = false;
  for_each_candidate(words, [&](renaming& r) {
    apply(r, words, next);
    if (!any || std::lexicographical_compare(next, next + count, least, least + count)) std::copy_n(next, count, least);
    any = true;
  });
  std::copy_n(least, count, words);
}

std::uint64_t canonical_form::orbit_size(const std::uint64_t* words) {
  const unsigned count = table_.packing().words;
  std::uint64_t least[state_words_max], next[state_words_max];
  std::uint64_t fixing = 0;
  for_each_candidate(words, [&](renaming& r) {
    apply(r, words, next);
    if (fixing == 0 || std::lexicographical_compare(next, next + count, least, least + count)) {
      std::copy_n(next, count, least);
      fixing = 1;
    } else if (std::equal(next, next + count, least)) {
      ++fixing;
    }
  });
  return renamings_.size() / fixing;
}

void canonical_form::for_each_renaming(const std::uint64_t* words, const std::function<void(const std::uint64_t*)>& f) {
  std::uint64_t next[state_words_max];
  for (renaming& r : renamings_) {
    apply(r, words, next);
    f(next);
  }
}

}  // namespace kgate::lab
