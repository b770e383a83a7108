// SPDX-License-Identifier: Apache-2.0
#include "contenders.hpp"

#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>

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

}  // namespace

std::vector<std::unique_ptr<contender>> contenders(const std::string& directory, int k) {
  std::vector<std::unique_ptr<contender>> all;
  all.push_back(std::make_unique<gate_contender>("strict", directory, k, 0));
  all.push_back(std::make_unique<gate_contender>("default", directory, k, std::nullopt));
  all.push_back(std::make_unique<posix_contender>(k));
  all.push_back(std::make_unique<system_v_contender>(k));
  return all;
}

}  // namespace gates_bench
