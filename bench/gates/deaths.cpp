// SPDX-License-Identifier: Apache-2.0
// What waiting costs, and how soon a death is noticed: processes that wait at a gate while nothing happens, and holders
// and waiters that are killed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kgate/gate.hpp"

namespace {

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Shared by all processes of a scene.
struct board {
  std::atomic<int> inside{-1};         ///< the number of the process that got in last
  std::atomic<std::int64_t> since{0};  ///< when it did
  std::atomic<int> victim{-1};         ///< of those that pass all the time: the one that is to die inside
  std::atomic<std::int64_t> died{0};
};

class scene {
 public:
  scene(const std::string& directory, board& shared) : shared_(shared) {
    options_.directory = directory;
    gate_ = std::make_unique<kgate::gate>("g", 1, options_);
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;
  ~scene() {
    for (const pid_t pid : processes_) kill(pid, SIGKILL);
    for (const pid_t pid : processes_) waitpid(pid, nullptr, 0);
    gate_->remove(true);
  }

  /// One more process that enters, and stays inside for ever.
  void add() {
    const int number = ++last_;
    const pid_t pid = fork();
    if (pid == 0) {
      kgate::gate mine("g", 0, options_);
      const kgate::gate::permit permit = mine.enter();
      shared_.since = now_us();
      shared_.inside = number;
      for (;;) pause();
    }
    processes_.push_back(pid);
  }
  void await_inside(int number) const {
    while (shared_.inside != number) usleep(2'000);  // seldom: it shares the processors with those it measures
  }
  void await_waiters(std::size_t count) const {
    while (gate_->status().waiters.size() != count) usleep(5'000);
  }
  /// us from the kill until the kernel has ended the holder, and until the next one is inside.
  std::pair<double, double> kill_holder(int number) const {
    const pid_t holder = processes_[static_cast<std::size_t>(number)];
    const std::int64_t began = now_us();
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
    const std::int64_t dead = now_us();
    await_inside(number + 1);
    return {static_cast<double>(dead - began), static_cast<double>(shared_.since - began)};
  }
  /// us until all waiters but the last are dead for the kernel, and until they are healed and it is inside.
  std::pair<double, double> kill_all_but_last() {
    const std::int64_t began = now_us();
    for (std::size_t i = 0; i + 1 < processes_.size(); ++i) kill(processes_[i], SIGKILL);
    for (std::size_t i = 0; i + 1 < processes_.size(); ++i) waitpid(processes_[i], nullptr, 0);
    const std::int64_t dead = now_us();
    processes_.erase(processes_.begin(), processes_.end() - 1);
    await_inside(last_);
    return {static_cast<double>(dead - began), static_cast<double>(shared_.since - began)};
  }
  /// Voluntary context switches of all its processes, threads included.
  long wakeups() const {
    long sum = 0;
    for (const pid_t pid : processes_)
      for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);)
          if (line.starts_with("voluntary_ctxt_switches:")) sum += std::stol(line.substr(line.find(':') + 1));
      }
    return sum;
  }

 private:
  board& shared_;
  kgate::gate_options options_;
  std::unique_ptr<kgate::gate> gate_;
  std::vector<pid_t> processes_;
  int last_ = -1;
};

/// us from the kill of a process that has locked a file until another one, which waits for nothing but its end (by a
/// pidfd), finds the lock free: what the kernel takes whatever is built on it.
double floor_us(const std::string& directory, board& shared) {
  const std::string path = directory + "/floor";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto locked = [](int file, int command) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_len = 1;
    return fcntl(file, command, &range) == 0 && range.l_type != F_UNLCK;
  };
  const pid_t holder = fork();
  if (holder == 0) {
    const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
    locked(own, F_OFD_SETLK);
    for (;;) pause();
  }
  while (!locked(fd, F_OFD_GETLK)) usleep(500);
  shared.since = 0;
  const pid_t watcher = fork();
  if (watcher == 0) {
    pollfd end{static_cast<int>(syscall(SYS_pidfd_open, holder, 0)), POLLIN, 0};
    poll(&end, 1, -1);
    while (locked(fd, F_OFD_GETLK)) {
    }
    shared.since = now_us();
    _exit(0);
  }
  usleep(5'000);
  const std::int64_t began = now_us();
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  waitpid(watcher, nullptr, 0);
  close(fd);
  return static_cast<double>(shared.since - began);
}

/// us until so many processes that do nothing are dead, killed at once. Each has a second thread, as one that waits for
/// long at a gate has.
double floor_of_many_us(int processes) {
  std::vector<pid_t> all;
  for (int i = 0; i < processes; ++i) {
    all.push_back(fork());
    if (all.back() == 0) {
      const std::thread second([] {
        for (;;) pause();
      });
      for (;;) pause();
    }
  }
  usleep(200'000);
  const std::int64_t began = now_us();
  for (const pid_t pid : all) kill(pid, SIGKILL);
  for (const pid_t pid : all) waitpid(pid, nullptr, 0);
  return static_cast<double>(now_us() - began);
}

double at(std::vector<double>& values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

bool failed = false;
nlohmann::ordered_json figures = nlohmann::ordered_json::array();  // of this run

void tell(const std::string& what, double measured) {
  std::printf("%-76s %10.2f\n", what.c_str(), measured);
  figures.push_back({{"what", what}, {"got", measured}});
}
void at_most(const char* what, double measured, double wanted) {
  const bool holds = measured <= wanted;
  std::printf("%-76s %10.0f   %s %.0f\n", what, measured, holds ? "as wanted, at most" : "NOT as wanted, at most",
              wanted);
  std::fflush(stdout);
  failed = failed || !holds;
  figures.push_back({{"what", what}, {"got", measured}, {"wanted", wanted}, {"holds", holds}});
}

/// Long enough for every waiter to have begun to watch.
constexpr int settling_us = 600'000;

void measure_idle(const std::string& directory, board& shared, int waiters, int seconds) {
  scene here(directory, shared);
  for (int i = 0; i <= waiters; ++i) here.add();
  here.await_waiters(static_cast<std::size_t>(waiters));
  usleep(settling_us);
  const long before = here.wakeups();
  sleep(static_cast<unsigned>(seconds));
  const std::string what = std::to_string(waiters) + " idle waiters: wake-ups in " + std::to_string(seconds) + " s";
  at_most(what.c_str(), static_cast<double>(here.wakeups() - before), 0);
}

void measure_kills(const std::string& directory, board& shared, int waiters, int kills) {
  scene here(directory, shared);
  shared.inside = -1;
  for (int i = 0; i <= waiters + kills; ++i) {
    here.add();
    if (i == 0) here.await_inside(0);
    here.await_waiters(static_cast<std::size_t>(i));  // one after the other, so that their order is known
  }
  usleep(settling_us);
  std::vector<double> dead, inside, floor;
  for (int i = 0; i < kills; ++i) {
    floor.push_back(floor_us(directory, shared));
    const auto [ended, entered] = here.kill_holder(i);
    dead.push_back(ended);
    inside.push_back(entered);
    usleep(20'000);
  }
  const std::string what = "SIGKILL of the holder, " + std::to_string(waiters) + " waiting: us until ";
  tell(what + "the kernel has ended it, median", at(dead, 0.5));
  tell(what + "a bare lock is free, with a bare pidfd, median", at(floor, 0.5));
  tell(what + "a bare lock is free, with a bare pidfd, 99 %", at(floor, 0.99));
  at_most((what + "the next one is inside, median").c_str(), at(inside, 0.5), 450);
  at_most((what + "the next one is inside, 99 %").c_str(), at(inside, 0.99), 3000);
}

void measure_massacre(const std::string& directory, board& shared, int killed) {
  scene here(directory, shared);
  shared.inside = -1;
  for (int i = 0; i <= killed; ++i) {
    here.add();
    if (i == 0) here.await_inside(0);
    here.await_waiters(static_cast<std::size_t>(i));
  }
  usleep(settling_us);
  const auto [dead, inside] = here.kill_all_but_last();
  const std::string what = std::to_string(killed) + " killed at once: us until ";
  const double floor = floor_of_many_us(killed);
  tell(what + "the kernel has ended as many of two threads that do nothing", floor);
  tell(what + "the kernel has ended them", dead);
  at_most((what + "the last one is inside").c_str(), inside, 50'000);
  at_most((what + "it is inside after the kernel has").c_str(), inside - dead, 10'000);
}

/// us in which none passes after one has died inside, among members that all wait for microseconds only: processes,
/// each of `threads` members, but for the last one, which dies and has one.
double standstill_us(const kgate::gate_options& options, board& shared, int processes, int threads) {
  shared.victim = -1;
  shared.died = shared.since = 0;
  std::vector<pid_t> children;
  for (int number = 0; number < processes; ++number) {
    const pid_t pid = fork();
    if (pid == 0) {
      kgate::gate gate("busy", 0, options);
      const auto pass = [&] {
        for (kgate::gate::member me = gate.join();;) {
          me.enter();
          if (shared.died != 0 && shared.since == 0) shared.since = now_us();
          if (shared.victim == number) {
            shared.died = now_us();
            kill(getpid(), SIGKILL);
          }
          me.leave();
        }
      };
      std::vector<std::thread> others;
      for (int i = 1; i < threads && number < processes - 1; ++i) others.emplace_back(pass);
      pass();
    }
    children.push_back(pid);
  }
  usleep(200'000);
  shared.victim = processes - 1;
  while (shared.since == 0) usleep(1'000);
  const auto stood = static_cast<double>(shared.since - shared.died);
  for (const pid_t pid : children) kill(pid, SIGKILL);
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  return stood;
}

void measure_busy(const std::string& directory, board& shared, int processes, int threads, int kills) {
  kgate::gate_options options;
  options.directory = directory;
  const kgate::gate created("busy", 1, options);
  std::vector<double> us;
  for (int i = 0; i < kills; ++i) us.push_back(standstill_us(options, shared, processes, threads));
  const std::string what = "SIGKILL of one of " + std::to_string(processes) + " that pass all the time" +
                           (threads == 1 ? "" : ", the others with " + std::to_string(threads) + " threads") +
                           ": us until the next is inside, ";
  at_most((what + "median").c_str(), at(us, 0.5), 25'000);
}

/// us of `kgate status` of so many participants of so many users, most of them without a name.
void measure_status(const std::string& directory, int participants, int users) {
  const std::string kgate = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kgate";
  kgate::gate_options options;
  options.directory = directory + "/status";
  options.mode = 0666;
  std::filesystem::create_directory(options.directory);
  chmod(directory.c_str(), 0755);
  chmod(options.directory.c_str(), 0777);
  kgate::gate view("g", 1, options);
  std::vector<pid_t> all;
  for (int i = 0; i < participants; ++i) {
    all.push_back(fork());
    if (all.back() != 0) continue;
    if (geteuid() == 0 && setuid(static_cast<uid_t>(50'000 + i % users)) != 0) _exit(1);
    kgate::gate mine("g", 0, options);
    const kgate::gate::permit permit = mine.enter();
    for (;;) pause();
  }
  while (view.status().waiters.size() + 1 < static_cast<std::size_t>(participants)) usleep(10'000);
  std::vector<double> us;
  for (int i = 0; i < 5; ++i) {
    std::string words[] = {kgate, "status", "-n", "g", "--dir", options.directory};
    char* line[7] = {};
    for (int j = 0; j < 6; ++j) line[j] = words[j].data();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    const std::int64_t began = now_us();
    pid_t child = 0;
    if (posix_spawn(&child, kgate.c_str(), &files, nullptr, line, environ) != 0) std::abort();
    waitpid(child, nullptr, 0);
    us.push_back(static_cast<double>(now_us() - began));
    posix_spawn_file_actions_destroy(&files);
  }
  for (const pid_t pid : all) kill(pid, SIGKILL);
  for (const pid_t pid : all) waitpid(pid, nullptr, 0);
  const std::string what = "kgate status of " + std::to_string(participants) + " participants of " +
                           std::to_string(users) + " users: us, median";
  at_most(what.c_str(), at(us, 0.5), 100'000);
}

}  // namespace

int main(int argc, char** argv) {
  int seconds = 10, kills = 100;
  bool require = false;
  std::string json_file;
  std::vector<std::string> only;
  CLI::App app{"what waiting at a gate costs, and how soon a death is noticed"};
  app.add_option("--only", only, "of idle, kills, busy, massacre, status")->delimiter(',');
  app.add_option("--seconds", seconds, "of waiting while nothing happens");
  app.add_option("--kills", kills, "of holders");
  app.add_option("--json", json_file, "write the figures to this file");
  app.add_flag("--require", require, "fail if a figure is worse than promised");
  CLI11_PARSE(app, argc, argv);
  char directory[] = "/dev/shm/kgate-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) return EXIT_FAILURE;
  void* const there = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) return EXIT_FAILURE;
  auto& shared = *new (there) board;
  const auto wanted = [&](const char* what) {
    return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
  };
  if (wanted("idle"))
    for (const int waiters : {1, 200, 1000}) measure_idle(directory, shared, waiters, seconds);
  if (wanted("kills"))
    for (const int waiters : {1, 500}) measure_kills(directory, shared, waiters, kills);
  if (wanted("busy")) {
    for (const int processes : {2, 8, 64, 256}) measure_busy(directory, shared, processes, 1, std::max(kills / 5, 1));
    measure_busy(directory, shared, 2, 400, std::max(kills / 5, 1));
  }
  if (wanted("massacre")) measure_massacre(directory, shared, 500);
  if (wanted("status")) measure_status(directory, 1000, 800);
  std::filesystem::remove_all(directory);
  const nlohmann::ordered_json report{{"seconds", seconds}, {"kills", kills}, {"figures", figures}};
  if (!json_file.empty() && !(std::ofstream(json_file) << report.dump(1) << '\n')) return EXIT_FAILURE;
  return require && failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
