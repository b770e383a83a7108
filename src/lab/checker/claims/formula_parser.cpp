// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "lab/checker/claims/formula.hpp"

namespace kgate::lab {

namespace {

/// How many characters must be changed, added or taken away to make one word of another, capitals aside.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> last(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j)
      next[j] = std::min({last[j] + 1, next[j - 1] + 1,
                          last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? std::size_t{0} : std::size_t{1})});
    last.swap(next);
  }
  return last.back();
}

/// " (nearest is X)", of some words.
template <class Words>
std::string suggestion(std::string_view wrong, const Words& words) {
  const auto nearest = std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) {
    return distance(wrong, a) < distance(wrong, b);
  });
  return nearest == words.end() ? "" : fmt::format(" (nearest is {})", *nearest);
}

}  // namespace

/// Reads a formula by recursive descent. A quantified part is read once for each process.
class formula_parser {
 public:
  formula_parser(std::string_view text, const program& p, temporal_formula& into)
      : text_(text), program_(p), into_(into) {}

  int run() {
    if (text_.size() > length_max)
      throw std::invalid_argument(fmt::format("a formula has at most {} characters, not {}", length_max, text_.size()));
    const int root = formula();
    skip();
    if (at_ != text_.size()) fail("an operator or the end");
    return root;
  }

 private:
  using node = temporal_formula::node;
  using kind = temporal_formula::kind;

  static constexpr int quantifiers_max = 5;        ///< each parses the rest once for each process
  static constexpr std::size_t length_max = 4000;  ///< parentheses inside each other are parsed by recursion

  [[noreturn]] void fail(const std::string& expected, const std::string& hint = "") const {
    throw std::invalid_argument(
        fmt::format("in the formula '{}', character {}: {} is expected{}{}", text_, at_ + 1, expected,
                    at_ < text_.size() ? fmt::format(", not '{}'", text_.substr(at_, 12)) : "", hint));
  }

  // Tokens.
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const std::size_t end = at_ + token.size();
    if (letter(token.back()) && end < text_.size() && letter(text_[end])) return false;
    at_ = end;
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}'", token));
  }
  std::string word() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  // Formulas.
  int yes() { return into_.add({kind::yes}); }
  int no() { return into_.add({kind::no}); }
  int negated(int n) { return into_.negated(n, into_); }
  int both(int a, int b) { return into_.add({kind::both, a, b}); }
  int either(int a, int b) { return into_.add({kind::either, a, b}); }
  int always(int a) { return into_.add({kind::release, no(), a}); }

  int formula() {
    const int left = disjunction();
    if (take("<->")) {
      const int right = formula();
      return either(both(left, right), both(negated(left), negated(right)));
    }
    return take("->") ? either(negated(left), formula()) : left;
  }
  int disjunction() {
    int left = conjunction();
    while (take("||")) left = either(left, conjunction());
    return left;
  }
  int conjunction() {
    int left = until();
    while (take("&&")) left = both(left, until());
    return left;
  }
  int until() {
    const int left = unary();
    if (take("until") || take("U")) return into_.add({kind::until, left, until()});
    if (take("unless") || take("W")) {
      const int right = until();
      return into_.add({kind::release, right, either(left, right)});
    }
    return left;
  }
  int unary() {
    if (take("[]") || take("always")) return always(unary());
    if (take("<>") || take("eventually")) return into_.add({kind::until, yes(), unary()});
    if (take("forall")) return quantified(yes(), [this](int a, int b) { return both(a, b); });
    if (take("exists")) return quantified(no(), [this](int a, int b) { return either(a, b); });
    if (take("true")) return yes();
    if (take("false")) return no();
    if (take("(")) {
      const int inner = formula();
      need(")");
      return inner;
    }
    skip();
    if (text_.substr(at_).starts_with("!")) {
      ++at_;
      return negated(unary());
    }
    return atom();
  }
  /// The rest of the formula for each process in turn, joined.
  int quantified(int joined, const std::function<int(int, int)>& join) {
    const std::string name = word();
    if (name.empty()) fail("a name for the process");
    if (quantifiers_ == quantifiers_max)
      fail(fmt::format("at most {} times forall and exists inside each other", quantifiers_max));
    ++quantifiers_;
    need(":");
    const std::size_t from = at_;
    const auto outer = bound_;
    for (int p = 0; p < program_.N(); ++p) {
      at_ = from;
      bound_[name] = p;
      const int one = formula();
      joined = p == 0 ? one : join(joined, one);
    }
    bound_ = outer;
    --quantifiers_;
    return joined;
  }

  // Atoms.
  static std::optional<region> region_of(std::string_view name) {
    if (name == "remainder") return region::remainder;
    if (name == "entry") return region::entry;
    if (name == "inside") return region::critical;
    if (name == "exit") return region::exit;
    return std::nullopt;
  }
  std::optional<int> process_named(const std::string& name) const {
    if (const auto found = bound_.find(name); found != bound_.end()) return found->second;
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos || name.size() > 4)
      return std::nullopt;
    return std::stoi(name);
  }
  int process() {
    const std::size_t from = at_;
    const auto p = process_named(word());
    if (p && *p < program_.N()) return *p;
    at_ = from;
    fail(fmt::format("a process number from 0 to {}, or a name that forall or exists gave one,", program_.N() - 1));
  }
  state_atom::relation relation() {
    using enum state_atom::relation;
    if (take("<=")) return at_most;
    if (take(">=")) return at_least;
    if (take("!=")) return unequal;
    if (take("==") || take("=")) return equal;
    if (take("<")) return less;
    if (take(">")) return more;
    fail("one of = != < <= > >=");
  }
  /// A number, a word, a process, or anything in quotation marks.
  std::string compared_value() {
    skip();
    if (take("\"")) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) fail("a closing quotation mark");
      std::string value(text_.substr(at_, end - at_));
      at_ = end + 1;
      return value;
    }
    const bool negative = take("-");
    std::string value = word();
    if (value.empty()) fail("a value");
    if (const auto p = bound_.find(value); p != bound_.end()) value = std::to_string(p->second);
    return (negative ? "-" : "") + value;
  }
  int add(const state_atom& a) {
    auto& atoms = into_.atoms_;
    auto found = std::find(atoms.begin(), atoms.end(), a);
    if (found == atoms.end()) {
      if (atoms.size() == temporal_formula::atoms_max) throw std::invalid_argument("the formula has too many atoms");
      found = atoms.insert(atoms.end(), a);
    }
    return into_.add({kind::atom, static_cast<int>(found - atoms.begin())});
  }
  int atom() {
    skip();
    state_atom a;
    if (take("#")) {
      a.is = state_atom::kind::count;
      const std::size_t from = at_;
      const std::string name = word();
      const auto where = region_of(name);
      if (!where) {
        at_ = from;
        fail("remainder, entry, inside or exit after '#'");
      }
      a.where = *where;
      a.compared = relation();
      a.with = compared_value();
      if (a.with.find_first_not_of("0123456789") != std::string::npos) fail("a number to compare with");
      return add(a);
    }
    const std::size_t from = at_;
    const std::string name = word();
    const auto where = region_of(name);
    if ((where || name == "waiting" || name == "crashed" || name == "at") && take("(")) {
      a.process = process();
      a.is = where               ? state_atom::kind::in_region
             : name == "waiting" ? state_atom::kind::waiting
             : name == "crashed" ? state_atom::kind::crashed
                                 : state_atom::kind::at_label;
      if (where) a.where = *where;
      if (a.is == state_atom::kind::at_label) {
        need(",");
        a.with = compared_value();
      }
      need(")");
      return add(a);
    }
    if (const auto p = bound_.find(name); p != bound_.end()) {
      const state_atom::relation how = relation();
      const bool equal = p->second == process();
      if (how != state_atom::relation::equal && how != state_atom::relation::unequal) fail("= or != between processes");
      return equal == (how == state_atom::relation::equal) ? yes() : no();
    }
    return about_variable(from, name);
  }
  int about_variable(std::size_t from, std::string name) {
    if (!name.empty() && text_.substr(at_).starts_with(".")) {
      ++at_;
      name += "." + word();
    }
    if (!name.empty() && take("[")) {
      name += "[" + std::to_string(process()) + "]";
      need("]");
    }
    state_atom a;
    a.is = state_atom::kind::variable;
    for (int v = 0; v < program_.variables(); ++v)
      if (program_.variable(v).name == name) a.variable = v;
    if (a.variable < 0) {
      at_ = from;
      unknown(name);
    }
    a.compared = relation();
    skip();
    const std::size_t value_from = at_;
    a.with = compared_value();
    if (program_.variable(a.variable).names_process) {
      const std::string number = a.with.starts_with("p") ? a.with.substr(1) : a.with;
      if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
        if (number.size() > 4 || std::stoi(number) >= program_.N()) {
          at_ = value_from;
          fail(fmt::format("a process number from 0 to {}", program_.N() - 1));
        }
        a.with = "p" + number;  // as it is printed
      }
    }
    return add(a);
  }

  [[noreturn]] void unknown(const std::string& name) const {
    std::vector<std::string> known;
    known.reserve(static_cast<std::size_t>(program_.variables()));
    for (int v = 0; v < program_.variables(); ++v) known.push_back(program_.variable(v).name);
    std::vector<std::string> words{"entry", "inside", "exit", "remainder", "waiting", "crashed", "at"};
    words.insert(words.end(), known.begin(), known.end());
    constexpr std::size_t shown = 20;
    if (known.size() > shown) known.resize(shown);
    fail(fmt::format("entry(p), inside(p), exit(p), remainder(p), waiting(p), crashed(p), at(p, label), #inside or a "
                     "variable ({})",
                     fmt::join(known, ", ")),
         name.empty() ? "" : suggestion(name, words));
  }

  std::string_view text_;
  const program& program_;
  temporal_formula& into_;
  std::size_t at_ = 0;
  std::map<std::string, int> bound_;
  int quantifiers_ = 0;
};

temporal_formula::temporal_formula(std::string_view text, const program& p) {
  root_ = formula_parser(text, p, *this).run();
}

void require_label(std::string_view named_by, const std::string& label, const program& p,
                   const std::vector<std::string>& others) {
  std::set<std::string> known(others.begin(), others.end());
  for (int q = 0; q < p.N(); ++q)
    for (local_id s = 0; s < p.locals(q); ++s) known.insert(p.local(q, s).label);
  if (!known.contains(label))
    throw std::invalid_argument(fmt::format("{} names label '{}', and the text has none such{}; it has {}", named_by,
                                            label, suggestion(label, known), fmt::join(known, ", ")));
}

void temporal_formula::check_labels(const program& p, const std::vector<std::string>& others) const {
  for (const state_atom& a : atoms_)
    if (a.is == state_atom::kind::at_label) require_label("a formula", a.with, p, others);
}

}  // namespace kgate::lab
