// SPDX-License-Identifier: Apache-2.0
#include "contenders.hpp"

#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "kgate/detail/waiting/futex.hpp"
#include "kgate/gate.hpp"

namespace gates_bench {

namespace {

class gate_contender : public contender {
 public:
  gate_contender(std::string name, const std::string& directory, int k, std::optional<unsigned> overtakings)
      : name_(std::move(name)) {
    options_.directory = directory;
    options_.overtakings = overtakings;
    maker_ = std::make_unique<kgate::gate>(name_, k, options_);
  }
  ~gate_contender() override { maker_->remove(true); }
  std::string name() const override { return name_; }
  void open() override { gate_ = std::make_unique<kgate::gate>(name_, 0, options_); }
  std::unique_ptr<passage> join() override { return std::make_unique<member>(gate_->join()); }

 private:
  struct member : passage {
    explicit member(kgate::gate::member mine) : mine_(std::move(mine)) {}
    void enter() override { mine_.enter(); }
    void leave() override { mine_.leave(); }
    kgate::gate::member mine_;
  };

  std::string name_;
  kgate::gate_options options_;
  std::unique_ptr<kgate::gate> maker_, gate_;
};

class posix_contender : public contender {
 public:
  explicit posix_contender(int k)
      : semaphore_(static_cast<sem_t*>(
            mmap(nullptr, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    sem_init(semaphore_, 1, static_cast<unsigned>(k));
  }
  ~posix_contender() override { munmap(semaphore_, sizeof(sem_t)); }
  std::string name() const override { return "sem_t"; }
  std::unique_ptr<passage> join() override { return std::make_unique<member>(semaphore_); }

 private:
  struct member : passage {
    explicit member(sem_t* semaphore) : semaphore_(semaphore) {}
    void enter() override { sem_wait(semaphore_); }
    void leave() override { sem_post(semaphore_); }
    sem_t* semaphore_;
  };

  sem_t* semaphore_;
};

class system_v_contender : public contender {
 public:
  explicit system_v_contender(int k) : id_(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)) { semctl(id_, 0, SETVAL, k); }
  ~system_v_contender() override { semctl(id_, 0, IPC_RMID); }
  std::string name() const override { return "semop"; }
  std::unique_ptr<passage> join() override { return std::make_unique<member>(id_); }

 private:
  struct member : passage {
    explicit member(int id) : id_(id) {}
    void enter() override { change(-1); }
    void leave() override { change(1); }
    void change(short by) const {
      sembuf operation{0, by, 0};
      semop(id_, &operation, 1);
    }
    int id_;
  };

  int id_;
};

/// What an order that no process may pass costs if nothing else is promised: a ticket for each passage, and a futex for
/// each that has to wait, which the one that leaves wakes. It keeps no list, and one death stops it for ever. With a
/// time limit for each sleep it could at least find out: what that costs, every contender pays that survives deaths.
class bare_contender : public contender {
 public:
  bare_contender(int k, bool timed)
      : shared_(new (mmap(nullptr, sizeof(tickets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                    tickets),
        k_(static_cast<std::uint32_t>(k)),
        timed_(timed) {}
  ~bare_contender() override { munmap(shared_, sizeof(tickets)); }
  std::string name() const override { return timed_ ? "bare-timed" : "bare"; }
  std::unique_ptr<passage> join() override { return std::make_unique<member>(*shared_, k_, timed_); }

 private:
  struct alignas(64) bell {
    std::atomic<std::uint32_t> asleep{0};  ///< the mark of the ticket that sleeps here, or is about to; 0: none
  };
  struct tickets {
    std::atomic<std::uint32_t> drawn{0};
    alignas(64) std::atomic<std::uint32_t> ended{0};
    std::array<bell, 4096> bells;  ///< by ticket; more than there are members
    bell& bell_of(std::uint32_t ticket) { return bells[ticket % bells.size()]; }
  };
  struct member : passage {
    member(tickets& shared, std::uint32_t k, bool timed) : shared_(shared), k_(k), timed_(timed) {}
    void enter() override {
      const std::uint32_t ticket = shared_.drawn.fetch_add(1);
      const auto waits = [&] { return static_cast<std::int32_t>(ticket - shared_.ended.load() - k_) >= 0; };
      constexpr std::timespec limit{0, 8'000'000};
      if (!waits()) return;
      // Of this ticket alone: a member that is held up here may meet the one that sleeps at this bell a round later.
      std::uint32_t mark = ticket << 1 | 1;
      std::atomic<std::uint32_t>& asleep = shared_.bell_of(ticket).asleep;
      while (waits()) {
        asleep.store(mark);
        if (waits())
          kgate::detail::futex_wait(asleep, mark, timed_ ? &limit : nullptr, kgate::detail::futex_scope::machine);
      }
      asleep.compare_exchange_strong(mark, 0, std::memory_order_relaxed);
    }
    void leave() override {
      std::atomic<std::uint32_t>& next = shared_.bell_of(shared_.ended.fetch_add(1) + k_).asleep;
      if (next.load() != 0 && next.exchange(0) != 0)
        kgate::detail::futex_wake(next, 1, kgate::detail::futex_scope::machine);
    }
    tickets& shared_;
    std::uint32_t k_;
    bool timed_;
  };

  tickets* shared_;
  std::uint32_t k_;
  bool timed_;
};

}  // namespace

std::vector<std::unique_ptr<contender>> contenders(const std::string& directory, int k) {
  std::vector<std::unique_ptr<contender>> all;
  all.push_back(std::make_unique<gate_contender>("strict", directory, k, 0));
  all.push_back(std::make_unique<gate_contender>("default", directory, k, std::nullopt));
  all.push_back(std::make_unique<posix_contender>(k));
  all.push_back(std::make_unique<system_v_contender>(k));
  for (const bool timed : {false, true}) all.push_back(std::make_unique<bare_contender>(k, timed));
  return all;
}

}  // namespace gates_bench
