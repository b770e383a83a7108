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

#include "lab/checker/claims/property.hpp"
#include "lab/models/arenas.hpp"
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
  std::string id, paper, text, class_name, more_promises;
  bool with_names = false;
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
  if (!fs::is_regular_file(path)) throw usage_error(fmt::format("cannot read {}", path));  // a FIFO would wait
  std::ifstream file(path);
  if (!file) throw usage_error(fmt::format("cannot read {}", path));
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

/// Compiles the file, with the headers and a function made of the algorithm on a machine behind it. The
/// function calls the algorithm kgate_lab_chosen_text. What is found by the function's name.
void* compile(const text_name& name, const std::string& class_name, const char* machine, const char* header,
              const std::string& function, const char* function_name) {
  const fs::path file = fs::absolute(name.file);
  // Qualified, so that what the file declares comes before what namespace kgate has of that name.
  const std::string text = fmt::format("{}{}<{}>", class_name.starts_with("::") ? "" : "::", class_name, machine);
  const std::string chosen = name.with_names ? fmt::format("::kgate::am97::names<{}, {}>", machine, text) : text;
  const loaded_unit unit = load_unit(
      fmt::format("#include \"{}\"\n#include \"kgate/algorithms/am97_names.hpp\"\n#include \"{}\"\n"
                  "using namespace kgate;\nusing kgate_lab_text_inside = {};\nusing kgate_lab_chosen_text = {};\n{}\n",
                  file.string(), header, text, chosen, function),
      {file.parent_path()});
  if (unit.library == nullptr) {
    std::fputs(unit.made.said.c_str(), stderr);
    throw usage_error(fmt::format("{} does not compile ({} says why, above)", name.file, unit.made.compiler));
  }
  return dlsym(unit.library, function_name);
}

const lab::text_plugin& compile_for_checker(const text_name& name, const std::string& class_name) {
  void* const found = compile(
      name, class_name, "::kgate::lab::checker_machine", "lab/models/text_plugin.hpp",
      "extern \"C\" const ::kgate::lab::text_plugin* kgate_lab_text() {\n"
      "  static const auto plugin = ::kgate::lab::make_text_plugin<kgate_lab_chosen_text, kgate_lab_text_inside>();\n"
      "  return &plugin;\n}",
      "kgate_lab_text");
  return *reinterpret_cast<const lab::text_plugin* (*)()>(found)();
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

/// Why what the file promises could not be judged; empty if it can.
std::string unjudgeable(std::string_view id, const lab::text_plugin& plugin, bool names) {
  const lab::property* known = lab::find_property(id);
  if (known == nullptr) return fmt::format("allowed are {}", fmt::join(lab::property_ids(), ", "));
  if (id == "distinct-names" && !names) return "that needs 'int name' in Private";
  if (id == "invariant" && !plugin.invariant) return "that needs broken_invariant(s) in the class";
  if (known->needs == "atomic registers" && plugin.safe_registers) return "that needs atomic registers";
  return "";
}

/// "k-exclusion, k-fcfs" as the catalogue keeps it; ids that it has no room for go to `more`.
catalog::promises promises_in(const lab::text_plugin& plugin, bool with_names, const std::string& file,
                              std::string& more) {
  const bool names = plugin.names || with_names;
  catalog::promises p{.k_exclusion = false, .deadlock_free = false, .starvation_free = false, .bounded_exit = false};
  const std::map<std::string_view, bool catalog::promises::*> kept{
      {"k-exclusion", &catalog::promises::k_exclusion},
      {"deadlock-free", &catalog::promises::deadlock_free},
      {"starvation-free", &catalog::promises::starvation_free},
      {"bounded-exit", &catalog::promises::bounded_exit},
      {"distinct-names", &catalog::promises::names},
      {"k-fcfs", &catalog::promises::k_fcfs},
      {"fife", &catalog::promises::fife},
      {"l-queuelike", &catalog::promises::l_queuelike}};
  for (std::string_view text = plugin.promises; !text.empty();) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.empty() || (word == "invariant" && with_names)) continue;  // it is of the text inside
    if (const std::string why = unjudgeable(word, plugin, names); !why.empty())
      throw usage_error(fmt::format("{} promises '{}'; {}", file, word, why));
    if (const auto found = kept.find(word); found != kept.end())
      p.*found->second = true;
    else if ((more + " ").find(fmt::format(" {} ", word)) == std::string::npos)
      more += fmt::format(" {}", word);
  }
  p.more = more;
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
  loaded->class_name = class_in(name, loaded->text);
  loaded->with_names = name.with_names;
  const lab::text_plugin& plugin = compile_for_checker(name, loaded->class_name);
  loaded->id = name.with_names ? id.substr(0, id.size() - names_suffix.size()) : id;
  loaded->paper = name.file;
  catalog::row& row = loaded->row;
  row.id = loaded->id;
  row.title = plugin.title;
  row.paper = loaded->paper;
  row.figure = "your text";
  row.promise = promises_in(plugin, name.with_names, name.file, loaded->more_promises);
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

void load_scheduled_text(const std::string& id) {
  const catalog::choice chosen = load_text_file(id);
  using maker = lab::schedules::any_arena* (*)(int, int, const lab::cost_model*);
  const auto make = reinterpret_cast<maker>(
      compile(parse_name(id), std::string(source_of(*chosen.base)->class_name), "::kgate::lab::schedules::machine",
              "lab/schedules/machine.hpp",
              "extern \"C\" ::kgate::lab::schedules::any_arena* kgate_lab_arena(int N, int k, const "
              "::kgate::lab::cost_model* cost) {\n"
              "  return new ::kgate::lab::schedules::arena<kgate_lab_chosen_text>(N, k, *cost);\n}",
              "kgate_lab_arena"));
  lab::add_arena(*chosen.base, [make](int N, int k, const lab::cost_model& cost) {
    return std::unique_ptr<lab::schedules::any_arena>(make(N, k, &cost));
  });
}

std::optional<text_source> source_of(const catalog::row& row) {
  for (const auto& [id, loaded] : loaded_texts())
    if (&loaded->row == &row) return text_source{loaded->paper, loaded->class_name, loaded->text, loaded->with_names};
  return std::nullopt;
}

std::string_view text_of(const catalog::row& row) {
  const auto source = source_of(row);
  return source ? source->text : std::string_view();
}

}  // namespace kgate::tool
