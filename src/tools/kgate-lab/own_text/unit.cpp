// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/own_text/unit.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <string_view>

#include "lab/checker/model/run_monitor.hpp"
#include "tools/kgate-lab/crash_guard.hpp"
#include "tools/kgate-lab/embedded_sources.hpp"
#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/supervisor.hpp"

namespace kgate::tool {

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

/// Static variables are initialised here, and that may do anything, too.
void* load_watched(const fs::path& object) {
  lab::run_monitor monitor;
  const lab::endless_run_watch watch(monitor, {.hurry = &catch_interrupts()}, [](const std::string& what) {
    say_error({what.c_str()});
    end_at_once(exit_code::undecided);
  });
  const crash_guard guard(monitor);
  const lab::monitored_part runs(monitor, "static initialisation");
  return dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

loaded_unit load_unit(const std::string& text, const std::vector<fs::path>& include_folders) {
  const std::atomic<bool>& interrupted = catch_interrupts();  // before there is a folder
  const scratch_folder folder;
  std::vector<fs::path> folders{folder.path() / "headers"};
  folders.insert(folders.end(), include_folders.begin(), include_folders.end());
  for (const embedded_source& header : embedded_headers()) write(folders[0] / header.name, header.text);
  const fs::path source = folder.path() / "unit.cpp", object = folder.path() / "text.so";
  write(source, text);
  loaded_unit unit;
  unit.made = compile_shared(source, object, folders);
  if (interrupted.load()) throw interrupted_early("interrupted while the text was compiled: nothing is decided");
  if (!unit.made.found)
    throw usage_error("an algorithm in a file needs a C++20 compiler: install g++ or clang++, or set CXX");
  if (!unit.made.succeeded) return unit;
  unit.library = load_watched(object);
  if (unit.library == nullptr) throw std::runtime_error(fmt::format("cannot load what was compiled: {}", dlerror()));
  return unit;
}

}  // namespace kgate::tool
