// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What people use today to let at most k in: each an adapter with a name, a constructor from k, enter and leave.

#include <absl/synchronization/mutex.h>
#include <concurrentqueue/concurrentqueue.h>  // defines what the next one uses
#include <concurrentqueue/lightweightsemaphore.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

#include <atomic>
#include <boost/interprocess/sync/interprocess_semaphore.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <list>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate::bench {

inline void must(bool held, const char* what) {
  if (!held) throw std::runtime_error(std::string("benchmark peer: ") + what + " failed");
}

template <class Semaphore>
struct ours {
  explicit ours(int k) : s(k) {}
  void enter() { s.acquire(); }
  void leave() { s.release(); }
  Semaphore s;
};
/// The same with statistics: only the semaphore itself knows when it admitted a thread that does not run yet.
template <class Fairness>
struct ours_counting : ours<basic_semaphore<Fairness, adaptive, statistics>> {
  using ours<basic_semaphore<Fairness, adaptive, statistics>>::ours;
  std::uint64_t most_admitted_meanwhile() const { return this->s.counts().most_admitted_meanwhile; }
};
struct kgate_fifo : ours<basic_semaphore<fifo>> {
  static constexpr const char* name = "kgate fifo";
  using ours::ours;
  using counting = ours_counting<fifo>;
};
struct kgate_slots {
  static constexpr const char* name = "kgate slots";
  explicit kgate_slots(int k) : s(k) {}
  void enter() { number = s.acquire(); }
  void leave() { s.release(number); }
  slots s;
  static inline thread_local std::ptrdiff_t number = 0;
};
struct kgate_throughput : ours<basic_semaphore<bounded_overtaking<>>> {
  static constexpr const char* name = "kgate throughput";
  using ours::ours;
  using counting = ours_counting<bounded_overtaking<>>;
};

/// The floor: what two atomic additions cost. Lets every thread in.
struct xadd_pair {
  static constexpr const char* name = "floor: xadd pair";
  explicit xadd_pair(int) {}
  void enter() { word.fetch_add(1); }
  void leave() { word.fetch_sub(1); }
  alignas(64) std::atomic<std::uint64_t> word{0};
};

/// The same where what they gave is looked at, as every semaphore must: not all processors do that for nothing.
struct used_xadd_pair {
  static constexpr const char* name = "floor: xadd pair, results used";
  explicit used_xadd_pair(int) {}
  void enter() { use(word.fetch_add(1)); }
  void leave() { use(word.fetch_sub(1)); }
  static void use(std::uint64_t old) { asm volatile("" : : "r"(old)); }
  alignas(64) std::atomic<std::uint64_t> word{0};
};

struct std_semaphore {
  static constexpr const char* name = "std::counting_semaphore";
  explicit std_semaphore(int k) : s(k) {}
  void enter() { s.acquire(); }
  void leave() { s.release(); }
  alignas(64) std::counting_semaphore<> s;
};

struct posix_semaphore {
  static constexpr const char* name = "sem_t";
  explicit posix_semaphore(int k) { must(::sem_init(&s, 0, static_cast<unsigned>(k)) == 0, "sem_init"); }
  ~posix_semaphore() { ::sem_destroy(&s); }
  void enter() {
    while (::sem_wait(&s) != 0) {
    }
  }
  void leave() { ::sem_post(&s); }
  alignas(64)::sem_t s;
};

struct named_semaphore {
  static constexpr const char* name = "named sem_t";
  explicit named_semaphore(int k) {
    const std::string path = "/kgate-bench-" + std::to_string(::getpid());
    s = ::sem_open(path.c_str(), O_CREAT | O_EXCL, 0600, static_cast<unsigned>(k));
    must(s != SEM_FAILED, "sem_open");
    ::sem_unlink(path.c_str());
  }
  ~named_semaphore() { ::sem_close(s); }
  void enter() {
    while (::sem_wait(s) != 0) {
    }
  }
  void leave() { ::sem_post(s); }
  ::sem_t* s;
};

struct boost_semaphore {
  static constexpr const char* name = "boost interprocess";
  explicit boost_semaphore(int k) : s(static_cast<unsigned>(k)) {}
  void enter() { s.wait(); }
  void leave() { s.post(); }
  alignas(64) boost::interprocess::interprocess_semaphore s;
};

struct moodycamel_semaphore {
  static constexpr const char* name = "moodycamel";
  explicit moodycamel_semaphore(int k) : s(k) {}
  void enter() { s.wait(); }
  void leave() { s.signal(); }
  alignas(64) moodycamel::LightweightSemaphore s;
};

struct condvar_barging {
  static constexpr const char* name = "mutex+condvar barging";
  explicit condvar_barging(int k) : free(k) {}
  void enter() {
    std::unique_lock lock(m);
    waiting.wait(lock, [&] { return free > 0; });
    --free;
  }
  void leave() {
    {
      const std::lock_guard lock(m);
      ++free;
    }
    waiting.notify_one();
  }
  std::mutex m;
  std::condition_variable waiting;
  int free;
};

/// Every waiter has its own condition variable; a permit is handed to the first waiter.
struct condvar_fifo {
  static constexpr const char* name = "mutex+condvar FIFO";
  struct waiter {
    std::condition_variable woken;
    bool admitted = false;
  };
  explicit condvar_fifo(int k) : free(k) {}
  void enter() {
    std::unique_lock lock(m);
    if (free > 0 && line.empty()) {
      --free;
      return;
    }
    waiter me;
    line.push_back(&me);
    me.woken.wait(lock, [&] { return me.admitted; });
  }
  void leave() {
    const std::lock_guard lock(m);
    if (line.empty()) {
      ++free;
    } else {
      line.front()->admitted = true;
      line.front()->woken.notify_one();
      line.pop_front();
    }
  }
  std::mutex m;
  std::deque<waiter*> line;
  int free;
};

struct absl_semaphore {
  static constexpr const char* name = "absl::Mutex";
  explicit absl_semaphore(int k) : free(k) {}
  void enter() {
    m.LockWhen(absl::Condition(
        +[](int* count) { return *count > 0; }, &free));
    --free;
    m.Unlock();
  }
  void leave() {
    const absl::MutexLock lock(&m);
    ++free;
  }
  absl::Mutex m;
  int free;
};

struct robust_mutexes {
  static constexpr const char* name = "k robust mutexes";
  struct alignas(64) one {
    pthread_mutex_t m;
  };
  explicit robust_mutexes(int k) : all(static_cast<std::size_t>(k)) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    for (one& x : all) pthread_mutex_init(&x.m, &kind);
    pthread_mutexattr_destroy(&kind);
  }
  ~robust_mutexes() {
    for (one& x : all) pthread_mutex_destroy(&x.m);
  }
  void enter() {
    static std::atomic<std::size_t> arrivals{0};
    thread_local const std::size_t first = arrivals.fetch_add(1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      mine = (first + i) % all.size();
      if (pthread_mutex_trylock(&all[mine].m) == 0) return;
    }
    mine = first % all.size();
    pthread_mutex_lock(&all[mine].m);
  }
  void leave() { pthread_mutex_unlock(&all[mine].m); }
  std::vector<one> all;
  static inline thread_local std::size_t mine = 0;
};

template <int Flags>
struct sysv_semaphore {
  explicit sysv_semaphore(int k) {
    id = ::semget(IPC_PRIVATE, 1, 0600);
    must(id >= 0 && ::semctl(id, 0, SETVAL, k) == 0, "semget");
  }
  ~sysv_semaphore() { ::semctl(id, 0, IPC_RMID); }
  void enter() { step(-1); }
  void leave() { step(1); }
  void step(short by) {
    ::sembuf op{0, by, Flags};
    while (::semop(id, &op, 1) != 0) must(errno == EINTR, "semop");
  }
  int id;
};
struct semop_plain : sysv_semaphore<0> {
  static constexpr const char* name = "semop";
  using sysv_semaphore::sysv_semaphore;
};
struct semop_undo : sysv_semaphore<SEM_UNDO> {
  static constexpr const char* name = "semop UNDO";
  using sysv_semaphore::sysv_semaphore;
};

struct eventfd_semaphore {
  static constexpr const char* name = "eventfd";
  explicit eventfd_semaphore(int k) : fd(::eventfd(static_cast<unsigned>(k), EFD_SEMAPHORE)) {
    must(fd >= 0, "eventfd");
  }
  ~eventfd_semaphore() { ::close(fd); }
  void enter() {
    std::uint64_t one = 0;
    while (::read(fd, &one, sizeof one) != sizeof one) {
    }
  }
  void leave() {
    const std::uint64_t one = 1;
    must(::write(fd, &one, sizeof one) == sizeof one, "write to eventfd");
  }
  int fd;
};

struct pipe_semaphore {
  static constexpr const char* name = "pipe";
  explicit pipe_semaphore(int k) {
    must(::pipe(ends) == 0, "pipe");
    for (int i = 0; i < k; ++i) leave();
  }
  ~pipe_semaphore() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void enter() {
    char token = 0;
    while (::read(ends[0], &token, 1) != 1) {
    }
  }
  void leave() { must(::write(ends[1], "t", 1) == 1, "write to pipe"); }
  int ends[2];
};

struct ticket_lock {
  static constexpr const char* name = "ticket lock";
  explicit ticket_lock(int) {}
  void enter() {
    const std::uint32_t mine = next.fetch_add(1);
    while (serving.load() != mine) cpu_relax();
  }
  void leave() { serving.store(serving.load(std::memory_order_relaxed) + 1); }
  alignas(64) std::atomic<std::uint32_t> next{0};
  alignas(64) std::atomic<std::uint32_t> serving{0};
};

struct alignas(64) mcs_node {
  std::atomic<mcs_node*> next{nullptr};
  std::atomic<bool> wait{false};
};
struct mcs_spin_lock {
  static constexpr const char* name = "MCS lock";
  using node = mcs_node;
  explicit mcs_spin_lock(int) {}
  void enter() {
    node& me = mine;
    me.next.store(nullptr, std::memory_order_relaxed);
    me.wait.store(true, std::memory_order_relaxed);
    node* before = tail.exchange(&me);
    if (before == nullptr) return;
    before->next.store(&me);
    while (me.wait.load()) cpu_relax();
  }
  void leave() {
    node& me = mine;
    node* after = me.next.load();
    if (after == nullptr) {
      node* expected = &me;
      if (tail.compare_exchange_strong(expected, nullptr)) return;
      while ((after = me.next.load()) == nullptr) cpu_relax();
    }
    after->wait.store(false);
  }
  alignas(64) std::atomic<node*> tail{nullptr};
  static inline thread_local node mine;
};

}  // namespace kgate::bench
