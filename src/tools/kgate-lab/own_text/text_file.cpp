// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/own_text/text_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>

#include "lab/checker/properties/property.hpp"
#include "lab/models/models.hpp"
#include "lab/models/text_plugin.hpp"
#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/own_text/loaded_library.hpp"
#include "tools/kgate-lab/own_text/unit.hpp"

namespace kgate::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view names_suffix = "+names";

/// What was loaded; stays until the tool ends, for rows are known by their address.
struct loaded_text {
  std::string id, paper, text;
  catalog::row row;
};
std::map<std::string, std::unique_ptr<loaded_text>>& loaded_texts() {
  static std::map<std::string, std::unique_ptr<loaded_text>> all;
  return all;
}

struct text_name {
  std::string file, class_name;
  bool with_names = false;
};
text_name parse_name(std::string id) {
  text_name name;
  name.with_names = id.ends_with(names_suffix);
  if (name.with_names) id.resize(id.size() - names_suffix.size());
  const std::size_t end = id.find(".hpp") + 4;
  name.file = id.substr(0, end);
  if (end < id.size()) name.class_name = id.substr(end + 1);
  return name;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file || !fs::is_regular_file(path)) throw usage_error(fmt::format("cannot read {}", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t comment = std::min(text.find("//", at), end);
    code.append(text, at, comment - at).push_back('\n');
    at = end + 1;
  }
  return code;
}

/// The class that the file is about: the one that bears its name, or the only class template with one parameter.
std::string class_in(const text_name& name, const std::string& whole) {
  if (!name.class_name.empty()) return name.class_name;
  const std::string text = without_comments(whole);
  static const std::regex pattern(R"re(template\s*<\s*(?:class|typename)\s+\w+\s*>\s*(?:class|struct)\s+(\w+))re");
  std::string stem = fs::path(name.file).stem().string();
  std::replace(stem.begin(), stem.end(), '-', '_');
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), last; it != last; ++it) {
    if ((*it)[1] == stem) return stem;
    found.push_back((*it)[1]);
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    throw usage_error(
        fmt::format("{} has no class template over a machine, 'template <class M> class {}'; 'kgate-lab "
                    "new FILE.hpp' writes one to start from",
                    name.file, stem));
  throw usage_error(fmt::format("{0} has several class templates ({1}); say which, as in {0}:{2}", name.file,
                                fmt::join(found, ", "), found.back()));
}

const lab::text_plugin& compile(const text_name& name, const std::string& class_name) {
  const fs::path file = fs::absolute(name.file);
  const std::string chosen =
      name.with_names
          ? fmt::format("kgate::am97::names<kgate::lab::checker_machine, {}<kgate::lab::checker_machine>>", class_name)
          : fmt::format("{}<kgate::lab::checker_machine>", class_name);
  const loaded_unit unit = load_unit(fmt::format("#include \"{}\"\n#include \"kgate/algorithms/am97_names.hpp\"\n"
                                                 "#include \"lab/models/text_plugin.hpp\"\n"
                                                 "extern \"C\" const kgate::lab::text_plugin* kgate_lab_text() {{\n"
                                                 "  using namespace kgate;\n"
                                                 "  static const auto plugin = lab::make_text_plugin<{}>();\n"
                                                 "  return &plugin;\n}}\n",
                                                 file.string(), chosen),
                                     {file.parent_path()});
  if (unit.library == nullptr) {
    std::fputs(unit.made.said.c_str(), stderr);
    throw usage_error(fmt::format("{} does not compile ({} says why, above)", name.file, unit.made.compiler));
  }
  const auto make = reinterpret_cast<const lab::text_plugin* (*)()>(dlsym(unit.library, "kgate_lab_text"));
  return *make();
}

/// What could be kept or learnt outside the variables, and what of it no run could be seen to use, is refused.
std::vector<std::string_view> static_memory(const lab::text_plugin& plugin, const std::string& file) {
  loaded_library library = library_of(&plugin);
  if (library.thread_locals)
    throw usage_error(fmt::format(
        "{} has thread-local variables: what processes share must be an M::Var, what they keep must be in Private",
        file));
  if (!library.impure_calls.empty())
    throw usage_error(fmt::format("{} calls {}: a text may depend on nothing but what it observes", file,
                                  fmt::join(library.impure_calls, ", ")));
  return std::move(library.statics);
}

/// "k-exclusion, k-fcfs" as the catalogue keeps it.
catalog::promises promises_in(std::string_view text, const std::string& file) {
  catalog::promises p{.k_exclusion = false, .deadlock_free = false, .starvation_free = false, .bounded_exit = false};
  const std::map<std::string_view, bool catalog::promises::*> known{
      {"k-exclusion", &catalog::promises::k_exclusion},
      {"deadlock-free", &catalog::promises::deadlock_free},
      {"starvation-free", &catalog::promises::starvation_free},
      {"bounded-exit", &catalog::promises::bounded_exit},
      {"distinct-names", &catalog::promises::names},
      {"k-fcfs", &catalog::promises::k_fcfs},
      {"fife", &catalog::promises::fife},
      {"l-queuelike", &catalog::promises::l_queuelike}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.empty()) continue;
    const auto found = known.find(word);
    if (found == known.end()) {
      std::vector<std::string_view> allowed;
      for (const auto& [id, member] : known) allowed.push_back(id);
      throw usage_error(fmt::format("{} promises '{}'; allowed are {}", file, word, fmt::join(allowed, ", ")));
    }
    p.*found->second = true;
  }
  return p;
}

}  // namespace

bool is_text_file(std::string_view id) {
  const std::size_t end = id.find(".hpp");
  if (end == std::string_view::npos) return false;
  const std::string_view rest = id.substr(end + 4);
  return rest.empty() || rest.starts_with(':') || rest == names_suffix;
}

catalog::choice load_text_file(const std::string& id) {
  const text_name name = parse_name(id);
  if (const auto found = loaded_texts().find(id); found != loaded_texts().end())
    return {&found->second->row, name.with_names};
  auto loaded = std::make_unique<loaded_text>();
  loaded->text = read(name.file);
  const lab::text_plugin& plugin = compile(name, class_in(name, loaded->text));
  loaded->id = name.with_names ? id.substr(0, id.size() - names_suffix.size()) : id;
  loaded->paper = name.file;
  catalog::row& row = loaded->row;
  row.id = loaded->id;
  row.title = plugin.title;
  row.paper = loaded->paper;
  row.figure = "your text";
  row.promise = promises_in(plugin.promises, name.file);
  row.promise.names = row.promise.names || (plugin.names && !name.with_names);
  row.symmetric = plugin.symmetric ? catalog::symmetry::full : catalog::symmetry::none;
  row.bounded_variables = !plugin.unbounded_variables;
  row.needs = plugin.safe_registers ? catalog::registers::safe : catalog::registers::atomic;
  lab::add_algorithm(
      row, [make = plugin.make, statics = static_memory(plugin, name.file)](int N, int k, lab::register_kind r) {
        auto made = make(N, k, r);
        made->statics = statics;
        return made;
      });
  return {&loaded_texts().emplace(id, std::move(loaded)).first->second->row, name.with_names};
}

std::string_view text_of(const catalog::row& row) {
  for (const auto& [id, loaded] : loaded_texts())
    if (&loaded->row == &row) return loaded->text;
  return {};
}

}  // namespace kgate::tool
