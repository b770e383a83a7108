// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/text_mutants/text_mutations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <utility>

namespace kgate::tool {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// A line of the text: its code, and the comment behind it.
struct source_line {
  std::string code, comment;
};

std::vector<source_line> lines_of(std::string_view text) {
  std::vector<source_line> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t comment = std::min(line.find("//"), line.size());
    all.push_back({line.substr(0, comment), line.substr(comment)});
  }
  return all;
}

/// Nothing an error in the algorithm could be made of.
bool is_left_alone(const std::string& code) {
  static const std::regex pattern(
      R"re(^\s*(#|namespace|using|static_assert|template|requires|KGATE_|class |struct |public:|private:|\}|\[\[))re"
      R"re(|to_string\(|live\(|has_invariant\(|frame\(|pause\(|doorway_end\()re");
  return trimmed(code).empty() || std::regex_search(code, pattern);
}

/// A statement of its own that accesses a shared variable: "X.write(p["1"], true);".
bool is_access(const std::string& code) {
  static const std::regex pattern(
      R"re(^\s*[A-Za-z_][\w()\[\]., +*:-]*)re"
      R"re(\.(write|fetch_add|exchange|compare_and_swap|rmw|test_and_set|await)\(p\w*\[.*\);\s*$)re");
  return std::regex_search(code, pattern) && trimmed(code).rfind("return", 0) != 0;
}

class mutator {
 public:
  explicit mutator(std::string_view text) : lines_(lines_of(text)) {}

  std::vector<text_mutation> run() {
    const auto begins = [&](const char* word) {
      return std::find_if(lines_.begin(), lines_.end(),
                          [&](const source_line& line) { return line.code.rfind(word, 0) == 0; }) -
             lines_.begin();
    };
    // Above the namespace, or the first template of a text without one, are comments and includes.
    std::ptrdiff_t first = begins("namespace kgate");
    if (first == std::ssize(lines_)) first = begins("template");
    std::string invariant;  // the line that ends it, while one is passed
    for (auto i = static_cast<std::size_t>(first); i < lines_.size(); ++i) {
      const std::string& code = lines_[i].code;
      if (!invariant.empty()) {
        if (code.rfind(invariant, 0) == 0) invariant.clear();
        continue;
      }
      if (code.find(" broken_invariant(") != std::string::npos) {
        if (trimmed(code).back() != '}') invariant = std::string(code.find_first_not_of(' '), ' ') + "}";
        continue;
      }
      if (is_left_alone(code)) continue;
      statements(i);
      replacements(i);
      conditions(i);
    }
    return std::move(made_);
  }

 private:
  using replaced = std::map<std::size_t, std::string>;  // line -> its new code

  void add(const char* kind, std::size_t i, const replaced& with) {
    std::string change = trimmed(lines_[i].code) + " -> " + trimmed(with.at(i));
    if (const int again = ++seen_[change]; again > 1) change += " #" + std::to_string(again);
    std::string text;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const auto other = with.find(at);
      text += (other != with.end() ? other->second : lines_[at].code) + lines_[at].comment + '\n';
    }
    made_.push_back({kind, change, std::move(text)});
  }

  void statements(std::size_t i) {
    if (!is_access(lines_[i].code)) return;
    add("drop", i, {{i, ";"}});
    std::size_t next = i + 1;
    while (next < lines_.size() && lines_[next].code.find("live(") != std::string::npos) ++next;
    if (next < lines_.size() && is_access(lines_[next].code) && lines_[next].code != lines_[i].code)
      add("swap", i, {{i, lines_[next].code}, {next, lines_[i].code}});
  }

  /// Each occurrence of `what`, a regular expression, replaced by `by`, one at a time.
  void each(const char* kind, std::size_t i, const std::regex& what, const char* by) {
    const std::string& code = lines_[i].code;
    for (std::sregex_iterator it(code.begin(), code.end(), what), last; it != last; ++it) {
      const auto at = static_cast<std::size_t>(it->position());
      const auto length = static_cast<std::size_t>(it->length());
      add(kind, i, {{i, code.substr(0, at) + it->format(by) + code.substr(at + length)}});
    }
  }

  void replacements(std::size_t i) {
    struct rule {
      const char* kind;
      std::regex what;
      const char* by;
    };
    static const rule rules[] = {
        {"compare", std::regex(" < "), " <= "},
        {"compare", std::regex(" <= "), " < "},
        {"compare", std::regex(" > "), " >= "},
        {"compare", std::regex(" >= "), " > "},
        {"compare", std::regex(" == "), " != "},
        {"compare", std::regex(" != "), " == "},
        {"off-by-one", std::regex(R"re( ([+-]) 1\b)re"), " $1 2"},
        {"off-by-one", std::regex(R"re(\b1 \+ )re"), "2 + "},
        {"off-by-one", std::regex(R"re((fetch_add\(p\w*\[[^\]]*\], -?)1\))re"), "$012)"},
        {"off-by-one", std::regex(R"re((\bint \w+ = )0;)re"), "$011;"},
        {"value", std::regex(R"re((write\(p\w*\[[^\]]*\], )true\))re"), "$01false)"},
        {"value", std::regex(R"re((write\(p\w*\[[^\]]*\], )false\))re"), "$01true)"},
        {"initial", std::regex(R"re((\.name = "[^}]*\}, )true\))re"), "$01false)"},
        {"initial", std::regex(R"re((\.name = "[^}]*\}, )false\))re"), "$01true)"},
        {"initial", std::regex(R"re((\.name = "[^}]*\}, )(?!true|false)(\w+)\))re"), "$01$02 + 1)"},
        {"home", std::regex(R"re(\.home = pid\(([^}]*)\)\})re"), ".home = pid(($1) == 0 ? 1 : 0)}"},
    };
    const bool names_variable = lines_[i].code.find(".instance") != std::string::npos;  // for traces only
    for (const rule& one : rules)
      if (!names_variable || std::string_view(one.kind) != "off-by-one") each(one.kind, i, one.what, one.by);
  }

  /// Where the parenthesis that is open at `from` closes.
  static std::optional<std::size_t> closing(const std::string& code, std::size_t from) {
    int depth = 0;
    for (std::size_t at = from; at < code.size(); ++at) {
      depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
      if (depth < 0 || (depth == 0 && code[at] == ')')) return at;
    }
    return std::nullopt;
  }

  void conditions(std::size_t i) {
    const std::string& code = lines_[i].code;
    for (const char* word : {"if (", "while ("}) {
      const std::size_t open = code.find(word);
      if (open == std::string::npos) continue;
      const std::size_t from = open + std::string_view(word).size() - 1;
      const auto end = closing(code, from);
      // Of loops only the halves of their conditions are left out: one that never ends shows nothing.
      if (end && std::string_view(word) == "if (" && code.find("constexpr") == std::string::npos)
        add("check", i, {{i, code.substr(0, from + 1) + "true" + code.substr(*end)}});
    }
    for (const char* word : {" && ", " || "})
      for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
        std::size_t end = code.size();
        if (const auto close = closing(code, at)) end = *close;
        for (const char stop : {';', '{'}) end = std::min(end, code.find(stop, at));
        if (end < code.size()) add("check", i, {{i, code.substr(0, at) + code.substr(end)}});
      }
  }

  std::vector<source_line> lines_;
  std::map<std::string, int> seen_;
  std::vector<text_mutation> made_;
};

}  // namespace

std::vector<text_mutation> text_mutations(std::string_view text) { return mutator(text).run(); }

}  // namespace kgate::tool
