// SPDX-License-Identifier: Apache-2.0
#include "gate/death_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace kgate::detail::gates {

namespace {

constexpr long pidfd_open_number = 434, close_range_number = 436;  // the same on all architectures

int open_pidfd(int process) noexcept { return static_cast<int>(::syscall(pidfd_open_number, process, 0)); }

bool close_between(unsigned first, unsigned last) noexcept {
  return first > last || ::syscall(close_range_number, first, last, 0) == 0;
}

/// Gives the calling thread a table of descriptors with `kept` alone.
bool own_table(int kept) noexcept {
  const auto it = static_cast<unsigned>(kept);
  return unshare(CLONE_FILES) == 0 && (it == 0 || close_between(0, it - 1)) && close_between(it + 1, ~0U);
}

void drain(int fd) noexcept {
  char bytes[64];
  while (read(fd, bytes, sizeof bytes) > 0) {
  }
}

constexpr int no_process = 0;  // what an event of another descriptor says

}  // namespace

attended_deaths::attended_deaths(int also) noexcept : descriptor_(epoll_create1(EPOLL_CLOEXEC)) {
  if (descriptor_ < 0 || add(also, no_process)) return;
  const int error = errno;
  ::close(std::exchange(descriptor_, -1));
  errno = error;
}

// Nothing is removed here: a forked child that has no use for it must not take it from its parent.
attended_deaths::~attended_deaths() {
  const uncancelled meanwhile;
  for (const auto& [process, fd] : watched_) ::close(fd);
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool attended_deaths::add(int fd, int process) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = process;
  return epoll_ctl(descriptor_, EPOLL_CTL_ADD, fd, &event) == 0;
}

int attended_deaths::watch(const std::vector<int>& processes) {
  const uncancelled meanwhile;
  clear();
  for (const int process : processes) {
    const int fd = open_pidfd(process);
    if (fd >= 0) watched_.emplace(process, fd);
    if (fd >= 0 && add(fd, process)) continue;
    const int error = errno;
    clear();
    return error;
  }
  return 0;
}

bool attended_deaths::has_ended() noexcept {
  std::array<epoll_event, 2> events{};  // one may be of another descriptor
  const int count = epoll_wait(descriptor_, events.data(), static_cast<int>(events.size()), 0);
  bool ended = false;
  for (int i = 0; i < count; ++i) ended = ended || events[static_cast<std::size_t>(i)].data.fd != no_process;
  if (ended) clear();
  return ended;
}

void attended_deaths::clear() noexcept {
  const uncancelled meanwhile;
  for (const auto& [process, fd] : watched_) {
    // Closing is not enough where a forked child has it, too.
    epoll_ctl(descriptor_, EPOLL_CTL_DEL, fd, nullptr);
    ::close(fd);
  }
  watched_.clear();
}

/// Lets the caller's event loop watch, if it can. The member is rung: whether they are alive must be asked once more,
/// now that they are watched.
bool death_watch::attended(unsigned member, request& its) {
  const int error = its.attended->watch(its.processes);
  if (error != 0 && error != ESRCH) return false;
  its.is = error == 0 ? phase::watched : phase::ended;
  ring_(member);
  return true;
}

death_watch::answer death_watch::watch(unsigned member, std::vector<int> processes, attended_deaths* by_caller) {
  const uncancelled meanwhile;
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  const std::lock_guard guard(mutex_);
  tidy_up();
  if (processes.empty()) {
    drop(member);
    return answer::watching;
  }
  request& its = wanted_[member];
  if (its.processes == processes) {
    if (its.is == phase::watched) return answer::watching;
    if (its.is == phase::requested) return answer::beginning;
    its.processes.clear();  // once more next time
    return answer::impossible;
  }
  its = {std::move(processes), phase::requested, by_caller};
  if (by_caller != nullptr && attended(member, its)) return answer::beginning;
  its.attended = nullptr;
  if (start() && begun_.load() != begin::failed && poke()) return answer::beginning;
  wanted_.erase(member);
  return answer::impossible;
}

void death_watch::forget(unsigned member) noexcept {
  const uncancelled meanwhile;
  const std::lock_guard guard(mutex_);
  tidy_up();
  drop(member);
  if (running_ && wanted_.empty()) poke();  // then it ends
}

void death_watch::drop(unsigned member) noexcept {
  const auto found = wanted_.find(member);
  if (found == wanted_.end()) return;
  if (found->second.attended != nullptr) found->second.attended->clear();
  wanted_.erase(found);
}

void death_watch::attend(unsigned member) noexcept {
  const std::lock_guard guard(mutex_);
  const auto found = wanted_.find(member);
  if (found == wanted_.end() || found->second.attended == nullptr || !found->second.attended->has_ended()) return;
  found->second.is = phase::ended;
  ring_(member);
}

doze_end death_watch::sleep_until_one_ends(const std::vector<int>& processes, std::int64_t for_ns) {
  const uncancelled meanwhile;
  std::vector<pollfd> polled;
  bool ended = false, failed = processes.empty();
  for (const int process : processes) {
    const int fd = open_pidfd(process);
    if (fd >= 0)
      polled.push_back({fd, POLLIN, 0});
    else
      (errno == ESRCH ? ended : failed) = true;
  }
  const timespec timeout{for_ns / 1'000'000'000, for_ns % 1'000'000'000};
  if (!ended && !failed) ended = ppoll(polled.data(), polled.size(), &timeout, nullptr) > 0;
  for (const pollfd& one : polled) ::close(one.fd);
  return failed ? doze_end::impossible : ended ? doze_end::one_ended : doze_end::disturbed;
}

bool death_watch::start() noexcept {
  if (finished_ && begun_.load() != begin::failed) {
    thread_.join();
    if (file_id::of(commands_) == pipe_) ::close(commands_);
    running_ = finished_ = false;
  }
  if (running_) return true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  commands_end_ = ends[0];
  commands_ = ends[1];
  pipe_ = file_id::of(commands_);
  stopping_ = false;
  begun_.store(begin::pending);
  running_ = thread_.start(thread_main, this, service_thread::otherwise::as_the_caller) == 0;
  if (!running_) {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  return running_;
}

/// Closes the program's copy of the thread's end once the thread has its own; the program may have done so already.
void death_watch::tidy_up() noexcept {
  if (commands_end_ < 0 || begun_.load() == begin::pending) return;
  if (file_id::of(commands_end_) == pipe_) ::close(commands_end_);
  commands_end_ = -1;
}

bool death_watch::poke() noexcept {
  // The program may have closed the descriptor, and used its number for something else. Nor may one write to a pipe
  // that is not read any more.
  if (finished_ || file_id::of(commands_) != pipe_) return false;
  return write(commands_, "", 1) == 1 || errno == EAGAIN;
}

void death_watch::stop() noexcept {
  if (!running_) return;  // and then the mutex may belong to a thread that a fork has left behind
  const uncancelled meanwhile;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    poke();
    if (file_id::of(commands_) == pipe_) ::close(commands_);  // the thread sees that, too
  }
  thread_.join();
  running_ = finished_ = false;
  tidy_up();
}

void death_watch::abandon() noexcept { running_ = finished_ = false; }

void* death_watch::thread_main(void* self) {
  static_cast<death_watch*>(self)->run();
  return nullptr;
}

void death_watch::fail_all() noexcept {
  std::vector<unsigned> rung;
  {
    const std::lock_guard guard(mutex_);
    finished_ = true;
    for (auto& [member, its] : wanted_) {
      if (its.attended != nullptr) continue;
      its.is = phase::failed;
      rung.push_back(member);
    }
  }
  for (const unsigned member : rung) ring_(member);
}

/// Opens what is wanted, closes what is not, and returns which members to ring. False if the thread is to stop.
bool death_watch::reconcile(std::map<int, int>& descriptors, const std::vector<int>& ended,
                            std::vector<unsigned>& rung) {
  const std::lock_guard guard(mutex_);
  // A process with one thread ends sooner, and the next waiter is inside sooner: a member inside has none.
  finished_ = wanted_.empty();
  if (stopping_ || finished_) return false;
  std::map<int, int> kept;
  for (auto& [member, its] : wanted_) {
    if (its.attended != nullptr || its.is == phase::ended || its.is == phase::failed) continue;
    phase now = phase::watched;
    for (const int process : its.processes) {
      if (std::binary_search(ended.begin(), ended.end(), process)) {
        now = phase::ended;
        break;
      }
      auto found = descriptors.find(process);
      if (found == descriptors.end()) {
        const int fd = open_pidfd(process);
        if (fd < 0) {
          now = errno == ESRCH ? phase::ended : phase::failed;
          break;
        }
        found = descriptors.emplace(process, fd).first;
      }
      kept.insert(*found);
    }
    if (now != its.is) rung.push_back(member);
    its.is = now;
  }
  for (const auto& [process, fd] : descriptors)
    if (kept.find(process) == kept.end()) ::close(fd);
  descriptors = std::move(kept);
  return true;
}

void death_watch::run() noexcept {
  const int own = commands_end_;
  const bool apart = own_table(own);
  begun_.store(apart ? begin::done : begin::failed);
  if (!apart) return fail_all();
  std::map<int, int> descriptors;  // by process
  for (;;) {
    std::vector<pollfd> polled{{own, POLLIN, 0}};
    std::vector<int> processes;
    for (const auto& [process, fd] : descriptors) {
      polled.push_back({fd, POLLIN, 0});
      processes.push_back(process);
    }
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
    if ((polled[0].revents & (POLLERR | POLLNVAL)) != 0) break;
    const bool closed = (polled[0].revents & POLLHUP) != 0;
    if (polled[0].revents != 0) drain(own);
    std::vector<int> ended;
    for (std::size_t i = 0; i < processes.size(); ++i)
      if (polled[i + 1].revents != 0) ended.push_back(processes[i]);
    std::vector<unsigned> rung;
    if (!reconcile(descriptors, ended, rung)) return;
    for (const unsigned member : rung) ring_(member);
    if (closed) break;
  }
  fail_all();
}

}  // namespace kgate::detail::gates
