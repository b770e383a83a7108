// SPDX-License-Identifier: Apache-2.0
// One thread, one poll loop: jobs that wait for a gate shared with other processes, and for a semaphore of this one.
// No job blocks; one that waits too long gives up.
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kgate/acquire_event.hpp"
#include "kgate/enter_event.hpp"

using namespace std::chrono_literals;

int main() {
  std::string directory = (std::filesystem::temp_directory_path() / "kgate-example-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 1;
  int entered = 0, gave_up = 0;
  bool acquired = false;
  {
    kgate::gate gpus("gpu", 2, {.directory = directory});
    kgate::semaphore one(1);
    one.acquire();
    kgate::acquire_event turn(one);                          // in the queue of the semaphore
    std::optional<kgate::gate::permit> held = gpus.enter();  // as another process might
    std::deque<kgate::enter_event> jobs;
    for (int i = 0; i < 10; ++i) jobs.emplace_back(gpus, 10s);
    kgate::enter_event impatient(gpus, 2ms);
    one.release();
    std::deque<kgate::gate::permit> inside;
    for (std::size_t next = 0; next < jobs.size() || !impatient.ended() || !acquired;) {
      std::vector<pollfd> watched{{impatient.descriptor(), POLLIN, 0}, {turn.descriptor(), POLLIN, 0}};
      if (impatient.ended()) watched[0].fd = -1;
      if (acquired) watched[1].fd = -1;
      if (next < jobs.size()) watched.push_back({jobs[next].descriptor(), POLLIN, 0});
      if (poll(watched.data(), watched.size(), 20'000) <= 0) return 1;
      if ((watched[1].revents & POLLIN) != 0) acquired = static_cast<bool>(turn.take());
      if (watched.size() == 3 && (watched[2].revents & POLLIN) != 0 && impatient.ended()) {
        if (auto permit = jobs[next++].take()) {
          ++entered;
          inside.push_back(std::move(*permit));
          if (inside.size() == 2 || held) inside.pop_front();  // its work is done
          held.reset();
        }
      }
    }
    if (!impatient.take()) ++gave_up;
  }
  std::filesystem::remove_all(directory);
  std::printf("%d jobs got a slot, %d gave up, the semaphore's turn %s\n", entered, gave_up,
              acquired ? "came" : "did not come");
  return entered == 10 && gave_up == 1 && acquired ? 0 : 1;
}
