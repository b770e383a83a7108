// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>

#include "kgate/objects/locked.hpp"
#include "kgate/resilient.hpp"
#include "scenes.hpp"

namespace kgate::bench {

namespace {

/// What the processes and their tormentor share besides the queue.
struct stage {
  std::atomic<bool> over{false};
  std::atomic<bool> stop_next{false};  ///< the next that is inside is stopped
  std::atomic<pid_t> stopped{0};
  std::atomic<long> done{0};
};
stage* here = nullptr;

/// The queue, in whose operations the tormentor's victim stops.
struct tormented : queue {
  tormented() = default;
  explicit tormented(const queue& q) : queue(q) {}
  result apply(const operation& op) noexcept {
    if (here->stop_next.load(std::memory_order_relaxed) && here->stop_next.exchange(false)) {
      here->stopped = ::getpid();
      ::raise(SIGSTOP);
    }
    return queue::apply(op);
  }
};

/// A lock that processes can share, as std::mutex is for threads.
class process_mutex {
 public:
  process_mutex() {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&mutex_, &attributes);
    ::pthread_mutexattr_destroy(&attributes);
  }
  void lock() { ::pthread_mutex_lock(&mutex_); }
  void unlock() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

template <class Object>
double run(const preemption& how, double seconds) {
  using clock = std::chrono::steady_clock;
  using duration = std::chrono::duration<double>;
  struct scene {
    stage shared;
    Object object{tormented(half_full())};
  };
  void* const memory = ::mmap(nullptr, sizeof(scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const s = ::new (memory) scene;
  here = &s->shared;
  std::vector<pid_t> children;
  for (int i = 0; i < how.processes; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      long count = 0;
      for (; !here->over.load(std::memory_order_relaxed); count += 2) {
        s->object.apply(queue::insert(count % 1000));
        s->object.apply(queue::delete_min());
      }
      here->done += count;
      ::_exit(0);
    }
    children.push_back(child);
  }
  const auto begin = clock::now();
  while (duration(clock::now() - begin).count() < seconds) {
    if (how.between == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    std::this_thread::sleep_for(duration(how.between));
    here->stop_next = true;
    while (here->stopped == 0 && duration(clock::now() - begin).count() < seconds)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (const pid_t victim = here->stopped.exchange(0); victim != 0) {
      std::this_thread::sleep_for(duration(how.stopped));
      ::kill(victim, SIGCONT);
    }
  }
  const double took = duration(clock::now() - begin).count();
  here->over = true;
  here->stop_next = false;
  for (const pid_t child : children) {
    while (::waitpid(child, nullptr, WNOHANG) == 0) {
      ::kill(child, SIGCONT);  // one may have been stopped as time was up
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  const double rate = static_cast<double>(here->done) / took;
  ::munmap(memory, sizeof(scene));
  return rate;
}

}  // namespace

std::vector<preempted_contender> processes_contenders() {
  return {{"mutex", run<locked<tormented, process_mutex>>},
          {"resilient K=2", run<resilient<tormented, 2>>},
          {"resilient K=4", run<resilient<tormented, 4>>}};
}

}  // namespace kgate::bench
