// SPDX-License-Identifier: Apache-2.0
// kgate-lab report: everything measured, on one page, with the trace viewer beside it.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "lab/report/page.hpp"
#include "lab/report/plot.hpp"
#include "lab/report/report_data.hpp"
#include "lab/report/report_page.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/page_file.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

/// What bench/semaphores writes is nested a few levels deep; so much more would exhaust the stack.
constexpr int bench_depth_max = 64;

struct options {
  std::string folder = ".";
  std::optional<std::string> bench;
  bool quick = false;
  bool json = false;
};

/// The folder, made if need be. What was made for nothing is removed.
class output_folder {
 public:
  explicit output_folder(const std::string& path) : path_(path) {
    std::error_code error;
    made_ = std::filesystem::create_directory(path_, error);
    if (error || !std::filesystem::is_directory(path_, error))
      throw usage_error(fmt::format("-o needs a folder that can be written, not '{}': {}", one_line(path),
                                    error ? error.message() : std::strerror(ENOTDIR)));
  }
  ~output_folder() {
    std::error_code error;
    if (made_) std::filesystem::remove(path_, error);  // only if it is empty
  }
  output_folder(const output_folder&) = delete;
  output_folder& operator=(const output_folder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

/// The list in this field. Throws std::invalid_argument or an exception of the JSON library if there is none.
const nlohmann::json& list_in(const nlohmann::json& j, const char* field) {
  const nlohmann::json& list = j.at(field);
  if (!list.is_array()) throw std::invalid_argument(fmt::format("\"{}\" is no list", field));
  return list;
}

/// What bench/semaphores --json has written. Throws usage_error if the page could not show it.
nlohmann::json read_bench(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw usage_error(fmt::format("--bench cannot read '{}': {}", path, std::strerror(in ? EISDIR : errno)));
  const auto refuse = [&path](const char* why) {
    return usage_error(fmt::format("--bench needs what bench/semaphores --json has written, not '{}': {}", path, why));
  };
  try {
    nlohmann::json j = nlohmann::json::parse(in, [](int depth, auto, const nlohmann::json&) {
      if (depth > bench_depth_max) throw std::invalid_argument("it is nested too deeply");
      return true;
    });
    for (const auto& r : list_in(j, "results")) {
      r.at("cell").get<std::string>();
      for (const auto& p : list_in(r, "peers")) p.at("peer").get<std::string>(), p.at("median_ops_per_s");
    }
    return j;
  } catch (const nlohmann::json::exception& e) {
    throw refuse(e.what());
  } catch (const std::invalid_argument& e) {
    throw refuse(e.what());
  }
}

exit_code run(const options& given) {
  const nlohmann::json bench = given.bench ? read_bench(*given.bench) : nlohmann::json();
  const output_folder folder(given.folder);
  page_file page("-o", folder.file("report.html")), viewer("-o", folder.file("viewer.html"));
  if (!lab::report::can_draw())
    throw usage_error("the report's plots need gnuplot; please install the package gnuplot-nox");

  progress_line line;
  const std::atomic<bool>& interrupted = catch_interrupts();
  const lab::report::report_data data =
      lab::report::gather(given.quick ? lab::report::quick_effort() : lab::report::default_effort(), bench, interrupted,
                          [&line](const std::string& what) { line.show("report: " + what); });
  if (interrupted) {
    line.clear();
    return exit_code::undecided;
  }
  line.show("report: drawing");
  std::string text;
  try {
    text = lab::report::report_page(data.all);
  } catch (const std::runtime_error&) {
    if (!interrupted) throw;  // Ctrl-C ends gnuplot as well
  }
  if (interrupted) {
    line.clear();
    return exit_code::undecided;
  }
  viewer.stage(lab::report::viewer_page(data.example));
  page.stage(text);
  viewer.commit();
  page.commit();
  line.clear();
  const double seconds = data.all.at("seconds").get<double>();
  if (given.json)
    print(
        nlohmann::json{{"report", page.path()}, {"viewer", viewer.path()}, {"bytes", text.size()}, {"seconds", seconds}}
            .dump(2) +
        "\n");
  else
    print(fmt::format("{}  {}, {:.0f} s\n{}  the trace viewer, with a counterexample\n", page.path(),
                      bytes_text(text.size()), seconds, viewer.path()));
  return exit_code::holds;
}

}  // namespace

command add_report(CLI::App& tool) {
  auto it = std::make_shared<options>();
  CLI::App* o = tool.add_subcommand("report", "Measure everything and write a page of it");
  o->add_option("-o", it->folder, "Where report.html and viewer.html go; default here")->type_name("DIR");
  o->add_option("--bench", it->bench, "Also show what bench/semaphores --json wrote")->type_name("FILE");
  o->add_flag("--quick", it->quick, "A sketch in seconds: fewer and smaller measurements");
  o->add_flag("--json", it->json, "Where the pages are, for programs");
  o->footer(
      "Verdicts for the whole catalogue, remote references beside the theorems, space,\n"
      "figures 10 and 11 of Anderson & Moir on this machine and simulated, and which\n"
      "of the paper's observations hold. Takes minutes; needs gnuplot. The pages open\n"
      "without a network. Ctrl-C ends it, exit code 3, with nothing written.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab report --quick -o sketch\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
