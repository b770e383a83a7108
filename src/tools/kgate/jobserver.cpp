// SPDX-License-Identifier: Apache-2.0
// kgate jobserver: a jobserver for make and its like whose tokens are slots of a gate.
//
// The pipe of a jobserver does not tell who waits for a token. So one token is offered as long as it is not taken: when
// it is, the next slot is queued for; when tokens come back, all but one are given back to the gate. An offer that
// nobody takes while others wait at the gate is withdrawn for a while.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "tools/kgate/launch.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr int offer_ms = 50;       ///< how long a token is offered in vain before it is withdrawn, if others wait
constexpr int withdrawn_ms = 200;  ///< how long before the next offer then
constexpr int descriptor_min = 20;

/// The pipe or FIFO that tokens pass through. One page long: then it can be written to exactly when it is empty, and
/// the kernel tells when that happens.
class token_pipe {
 public:
  token_pipe() = default;
  token_pipe(const token_pipe&) = delete;
  token_pipe& operator=(const token_pipe&) = delete;
  ~token_pipe() {
    for (const int fd : {theirs_[0], theirs_[1], ours_[0], ours_[1]})
      if (fd >= 0) close(fd);
    if (!folder_.empty()) {
      unlink(fifo_.c_str());
      rmdir(folder_.c_str());
    }
  }

  bool open(bool as_fifo) {
    const bool made = as_fifo ? open_fifo() : open_pipe();
    if (made) fcntl(ours_[1], F_SETPIPE_SZ, 4096);
    return made;
  }
  /// For --jobserver-auth.
  std::string auth() const {
    return fifo_.empty() ? std::to_string(theirs_[0]) + "," + std::to_string(theirs_[1]) : "fifo:" + fifo_;
  }
  int read_end() const { return ours_[0]; }
  int write_end() const { return ours_[1]; }
  int tokens() const {
    int bytes = 0;
    return ioctl(ours_[0], FIONREAD, &bytes) == 0 ? bytes : 0;
  }
  bool put() const { return write(ours_[1], "+", 1) == 1; }
  /// Takes a token back, unless somebody was faster.
  bool take() const {
    char token = 0;
    return read(ours_[0], &token, 1) == 1;
  }

 private:
  bool open_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    for (int i = 0; i < 2; ++i) {
      theirs_[i] = fcntl(ends[i], F_DUPFD, descriptor_min);  // inherited by the command
      close(ends[i]);
      // An opening of our own, so that only we do not block.
      ours_[i] = ::open(("/proc/self/fd/" + std::to_string(theirs_[i])).c_str(),
                        (i == 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_CLOEXEC);
      if (theirs_[i] < 0 || ours_[i] < 0) return false;
    }
    return true;
  }
  bool open_fifo() {
    const char* const base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/kgate-jobserver-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return false;
    folder_ = name;
    fifo_ = folder_ + "/fifo";
    if (mkfifo(fifo_.c_str(), 0600) != 0) return false;
    ours_[0] = ::open(fifo_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ours_[1] = ::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return ours_[0] >= 0 && ours_[1] >= 0;
  }

  int theirs_[2] = {-1, -1};
  int ours_[2] = {-1, -1};
  std::string folder_, fifo_;
};

/// The slots behind the tokens, and the thread that queues for the next one.
class token_slots {
 public:
  token_slots(core& gate, token_pipe& pipe, std::string command)
      : gate_(gate), pipe_(pipe), command_(std::move(command)), thread_([this] { acquire(); }) {}
  token_slots(const token_slots&) = delete;
  token_slots& operator=(const token_slots&) = delete;
  ~token_slots() {
    {
      const std::lock_guard guard(mutex_);
      ended_ = true;
      withdraw_request();
    }
    changed_.notify_all();
    thread_.join();
    while (give_back()) {
    }
  }

  /// Whether one more token is wanted. A request that has not been granted is withdrawn.
  void want(bool wanted) {
    const std::lock_guard guard(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
    if (!wanted) withdraw_request();
    changed_.notify_all();
  }
  /// One slot goes back to the gate. False if there is none.
  bool give_back() {
    membership mine;
    {
      const std::lock_guard guard(mutex_);
      if (held_.empty()) return false;
      mine = held_.back();
      held_.pop_back();
    }
    word became;
    gate_.leave(mine, became);
    const std::lock_guard guard(mutex_);
    spare_.push_back(mine);
    return true;
  }
  bool any() {
    const std::lock_guard guard(mutex_);
    return !held_.empty();
  }

 private:
  /// With the mutex held.
  void withdraw_request() {
    cancelled_.store(true);
    if (asking_)
      protocol<mapped_cells>(gate_.cells()).dismiss(asking_member_->number, asking_member_->out.at(kind::waits));
  }

  void acquire() {
    for (;;) {
      membership mine;
      {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [&] { return ended_ || wanted_; });
        if (ended_) return;
        if (!spare_.empty()) {
          mine = spare_.back();
          spare_.pop_back();
        } else if (gate_.join(command_, mine)) {
          wanted_ = false;  // more members than a gate can have: no more tokens until one is wanted again
          continue;
        }
        cancelled_.store(false);
        asking_ = true;
        asking_member_ = &mine;
      }
      wait_options how;
      how.cancelled = &cancelled_;
      word became;
      const entry result = gate_.enter(mine, 1, how, became);
      std::unique_lock guard(mutex_);
      asking_ = false;
      if (result == entry::entered) {
        held_.push_back(mine);
        wanted_ = false;
        pipe_.put();
        continue;
      }
      spare_.push_back(mine);
      if (result != entry::cancelled) wanted_ = false;  // removed or damaged: the tree goes on with what it has
      guard.unlock();
      gate_.advance();
    }
  }

  core& gate_;
  token_pipe& pipe_;
  std::string command_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, ended_ = false, asking_ = false;
  membership* asking_member_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::vector<membership> held_, spare_;
  std::thread thread_;
};

/// The words of make without its own -j, which would make it start a jobserver of its own.
std::vector<char*> without_jobs(const std::vector<char*>& words) {
  const std::string_view command = words.front();
  const std::string_view name = command.substr(command.rfind('/') + 1);
  if (name != "make" && name != "gmake") return words;
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::vector<char*> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool alone = word == "-j" || word == "--jobs";
    if (alone && i + 1 < words.size() && is_number(words[i + 1])) ++i;
    if (alone || word.rfind("--jobs=", 0) == 0 || (word.rfind("-j", 0) == 0 && is_number(word.substr(2)))) continue;
    out.push_back(words[i]);
  }
  return out;
}

/// MAKEFLAGS as it is, with this jobserver instead of any other.
std::string make_flags(int slots, const std::string& auth) {
  const char* const given = std::getenv("MAKEFLAGS");
  std::string out = "MAKEFLAGS=";
  std::string_view left = given != nullptr ? given : "";
  bool first = true;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    if (word.empty() || word.rfind("-j", 0) == 0 || word.rfind("--jobserver", 0) == 0) continue;
    out += (first ? "" : " ") + std::string(word);
    first = false;
  }
  return out + " -j" + std::to_string(slots) + " --jobserver-auth=" + auth;
}

/// Serves tokens until the command and all that hold tokens have ended.
class server {
 public:
  server(core& gate, token_pipe& pipe, token_slots& slots, const signal_watch& signals)
      : gate_(gate), pipe_(pipe), slots_(slots) {
    signals_ = signalfd(-1, &signals.watched(), SFD_CLOEXEC | SFD_NONBLOCK);
    events_ = epoll_create1(EPOLL_CLOEXEC);
    watch(signals_, EPOLLIN);
    watch(pipe_.read_end(), EPOLLIN | EPOLLET);    // a token came back
    watch(pipe_.write_end(), EPOLLOUT | EPOLLET);  // the last one was taken
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    close(events_);
    close(signals_);
  }

  /// The wait status of the command.
  int attend(pid_t command) {
    int ended = 0;
    while (!command_ended_) {
      settle();
      wait_for_event();
      take_signals(command, ended);
    }
    return ended;
  }

  /// The command has ended, and with it every need of tokens: those in the pipe go back at once, the others when they
  /// come back, or when nobody is left who could have them.
  void collect() {
    slots_.want(false);
    for (;;) {
      while (pipe_.tokens() > 0 && pipe_.take()) slots_.give_back();
      if (!slots_.any() || ending_) return;
      const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
      if (reaped > 0) continue;
      if (reaped < 0 && errno == ECHILD) return;
      int ignored = 0;
      wait_for_event();
      take_signals(-1, ignored);
    }
  }

 private:
  void watch(int fd, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    epoll_ctl(events_, EPOLL_CTL_ADD, fd, &event);
  }

  void settle() {
    const std::int64_t now = now_ns();
    int tokens = pipe_.tokens();
    for (; tokens > 1 && pipe_.take(); --tokens) slots_.give_back();
    if (tokens == 0) {
      offered_since_ = 0;
      slots_.want(now >= withdrawn_until_);
      return;
    }
    slots_.want(false);
    if (offered_since_ == 0) offered_since_ = now;
    const bool in_vain = now - offered_since_ > std::int64_t{offer_ms} * 1'000'000;
    if (in_vain && gate_.cells().word().waiting() && pipe_.take()) {
      slots_.give_back();
      offered_since_ = 0;
      withdrawn_until_ = now + std::int64_t{withdrawn_ms} * 1'000'000;
    }
  }

  void wait_for_event() const {
    epoll_event came[4];
    epoll_wait(events_, came, 4, offer_ms);
  }

  void take_signals(pid_t command, int& ended) {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      siginfo_t came{};
      came.si_signo = static_cast<int>(info.ssi_signo);
      came.si_code = info.ssi_code;
      if (command < 0)
        ending_ |= came.si_signo == SIGTERM || came.si_signo == SIGINT || came.si_signo == SIGHUP;
      else if (!command_ended_ && handle_signal(came, command, ended))
        command_ended_ = true;
    }
  }

  core& gate_;
  token_pipe& pipe_;
  token_slots& slots_;
  int signals_ = -1, events_ = -1;
  bool command_ended_ = false, ending_ = false;
  std::int64_t offered_since_ = 0, withdrawn_until_ = 0;
};

}  // namespace

int jobserver(const request& options) {
  std::vector<held_slot> slots;
  if (const std::optional<int> code = acquire_slots(options, slots)) return *code;
  held_slot& mine = slots.front();
  token_pipe pipe;
  if (!pipe.open(options.style == "fifo")) {
    complain(std::string("cannot make the jobserver's ") + options.style + ": " + std::strerror(errno));
    mine.leave();
    return exit_error;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever the command leaves behind may have tokens: their end shall be seen
  const signal_watch signals;
  prepared_command command(without_jobs(options.words), slots, {make_flags(mine.gate_slots, pipe.auth())});
  const started how = start(command, slots, signals, true);
  if (how.process < 0) {
    mine.leave();
    return failed_start(how, command);
  }
  int ended = 0;
  {
    token_slots tokens(mine.gate, pipe, shown_command(options));
    server serving(mine.gate, pipe, tokens, signals);
    ended = serving.attend(how.process);
    mine.leave();
    if (how.error == 0 && !how.lost) serving.collect();
  }
  if (how.error != 0 || how.lost) return failed_start(how, command);
  return pass_on(ended);
}

}  // namespace kgate::tool
