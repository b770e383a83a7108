// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/run_monitor.hpp"

#include <utility>

namespace kgate::lab {

endless_run_watch::endless_run_watch(const run_monitor& of, const limits& within,
                                     std::function<void(const std::string&)> endless)
    : of_(of), limits_(within), endless_(std::move(endless)), thread_([this] { watch(); }) {}

endless_run_watch::~endless_run_watch() {
  over_ = true;
  thread_.join();
}

void endless_run_watch::watch() {
  constexpr std::chrono::milliseconds tick{20};
  std::uint64_t run = 0;
  std::chrono::milliseconds since{0};  // in ticks, which do not pass either while the whole program stands still
  while (!over_) {
    std::this_thread::sleep_for(tick);
    const std::uint64_t begun = of_.begun.load();
    if (begun != run || of_.ended.load() == begun) {
      run = begun;
      since = {};
      continue;
    }
    since += tick;
    const bool hurry = limits_.hurry != nullptr && limits_.hurry->load();
    if (since < (hurry ? limits_.run_max / 10 : limits_.run_max)) continue;
    if (const char* part = of_.part.load()) {
      endless_("the text's " + std::string(part) + " loops for ever");
      return;
    }
    const std::string label = of_.label.load();
    endless_("process " + std::to_string(of_.process.load()) + " loops for ever without an access, " +
             (label.empty() ? "before its first access" : "after label " + label));
    return;
  }
}

}  // namespace kgate::lab
