// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/jobserver_tokens.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr int descriptor_min = 20;
constexpr std::string_view folder_start = "kgate-jobserver-";

std::string folder_of_temporaries() {
  const char* const base = std::getenv("TMPDIR");
  return base != nullptr && *base != '\0' ? base : "/tmp";
}

}  // namespace

token_pipe::~token_pipe() {
  for (const int fd : {theirs_[0], theirs_[1], ours_[0], ours_[1]})
    if (fd >= 0) close(fd);
  if (!folder_.empty()) {
    unlink(fifo_.c_str());
    rmdir(folder_.c_str());
  }
}

bool token_pipe::open(bool as_fifo) {
  const bool made = as_fifo ? open_fifo() : open_pipe();
  if (made) fcntl(ours_[1], F_SETPIPE_SZ, 4096);
  return made;
}

std::string token_pipe::auth() const {
  return fifo_.empty() ? std::to_string(theirs_[0]) + "," + std::to_string(theirs_[1]) : "fifo:" + fifo_;
}

int token_pipe::tokens() const {
  int bytes = 0;
  return ioctl(ours_[0], FIONREAD, &bytes) == 0 ? bytes : 0;
}

bool token_pipe::put() const { return write(ours_[1], "+", 1) == 1; }

bool token_pipe::take() const {
  char token = 0;
  return read(ours_[0], &token, 1) == 1;
}

bool token_pipe::open_pipe() {
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

bool token_pipe::open_fifo() {
  std::string name = folder_of_temporaries() + "/" + std::string(folder_start) + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return false;
  folder_ = name;
  fifo_ = folder_ + "/fifo";
  if (mkfifo(fifo_.c_str(), 0600) != 0) return false;
  ours_[0] = ::open(fifo_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ours_[1] = ::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  return ours_[0] >= 0 && ours_[1] >= 0;
}

int sweep_fifos() {
  constexpr std::time_t long_for_a_start = 60;
  const std::string base = folder_of_temporaries();
  DIR* const listing = opendir(base.c_str());
  if (listing == nullptr) return 0;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    struct stat there {};
    if (name.substr(0, folder_start.size()) == folder_start && name.size() == folder_start.size() + 6 &&
        fstatat(dirfd(listing), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode) &&
        there.st_uid == geteuid() && std::time(nullptr) - there.st_mtime >= long_for_a_start)
      found.push_back(base + "/" + std::string(name));
  }
  closedir(listing);
  int swept = 0;
  for (const std::string& folder : found) {
    const std::string fifo = folder + "/fifo";
    // What uses it reads it: the jobserver, or a tree that it left behind.
    const int fd = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    const bool unused = fd < 0 && (errno == ENXIO || errno == ENOENT);
    if (fd >= 0) close(fd);
    if (!unused) continue;
    unlink(fifo.c_str());
    if (rmdir(folder.c_str()) == 0) ++swept;
  }
  return swept;
}

tree_locks::tree_locks(lock_file& locks) : fd_(locks.open_for_command()) {
  if (fd_ >= 0) fcntl(fd_, F_SETFD, 0);
}

tree_locks::~tree_locks() {
  if (fd_ >= 0) close(fd_);
}

bool tree_locks::keep(const membership& member) const { return lock_command_byte(fd_, F_RDLCK, member.number); }

void tree_locks::release(const membership& member) const { lock_command_byte(fd_, F_UNLCK, member.number); }

token_slots::~token_slots() {
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

void token_slots::want(bool wanted) {
  const std::lock_guard guard(mutex_);
  if (wanted_ == wanted) return;
  wanted_ = wanted;
  if (!wanted) withdraw_request();
  changed_.notify_all();
}

void token_slots::show_offer(bool offered) {
  const std::lock_guard guard(mutex_);
  if (held_.empty() || offered == offered_) return;
  offered_ = offered;
  gate_.set_command(held_.back(), offered ? token_offered : token_in_use);
}

bool token_slots::give_back() {
  membership mine;
  {
    const std::lock_guard guard(mutex_);
    if (held_.empty()) return false;
    mine = held_.back();
    held_.pop_back();
    offered_ = false;
  }
  kept_.release(mine);  // first: should this process be killed in between, the number must not look taken
  word became;
  gate_.leave(mine, became);
  const std::lock_guard guard(mutex_);
  spare_.push_back(mine);
  return true;
}

void token_slots::give_back(held_slot& own) {
  kept_.release(own.member);
  own.leave();
}

bool token_slots::any() {
  const std::lock_guard guard(mutex_);
  return !held_.empty();
}

void token_slots::leave_to_the_tree() {
  const std::lock_guard guard(mutex_);
  for (const membership& mine : held_) gate_.set_leaves_by_ending(mine);
  held_.clear();
}

/// With the mutex held.
void token_slots::withdraw_request() {
  cancelled_.store(true);
  if (asking_) gate_.dismiss_own(*asking_member_);
}

void token_slots::acquire() {
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
      kept_.keep(mine);
      held_.push_back(mine);
      gate_.set_command(mine, token_offered);
      offered_ = true;
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

}  // namespace kgate::tool
