// SPDX-License-Identifier: Apache-2.0
#include "gate/suspended_waiters.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <new>

#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail::gates {

namespace {

/// Where the kernel cannot sleep on many words at once they are looked at so often.
constexpr std::int64_t recheck_ns = 2'000'000;

void resume_all(suspended_waiter* first) {
  while (first != nullptr) {
    suspended_waiter* const w = first;
    first = w->next;  // w may be gone soon
    w->resume(w->owner);
  }
}

}  // namespace

int bell_listener::start() noexcept {
  if (running_) return 0;
  const int error = thread_.start(thread_main, this, service_thread::otherwise::as_the_caller);
  running_ = error == 0;
  return error;
}

void bell_listener::stop() noexcept {
  if (!running_) return;  // and then the mutex may belong to a thread that a fork has left behind
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    notify();
  }
  thread_.join();
}

void bell_listener::notify() noexcept {
  changes_.fetch_add(1);
  futex_wake(changes_);
}

bool bell_listener::has_room() {
  const std::lock_guard guard(mutex_);
  return waiters_.size() < waiters_max;
}

int bell_listener::add(suspended_waiter& w, suspended_waiter*& to_resume) {
  const std::lock_guard guard(mutex_);
  try {
    waiters_.reserve(waiters_max);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  if (const int error = start()) return error;
  w.home.store(this);
  waiters_.push_back(&w);
  if (const std::optional<entry> how = gate_.proceed(w.wait))
    finish(waiters_.size() - 1, *how, to_resume);
  else
    notify();
  return 0;
}

void bell_listener::withdraw(suspended_waiter& w, entry why, suspended_waiter*& to_resume) {
  const std::lock_guard guard(mutex_);
  const auto found = std::find(waiters_.begin(), waiters_.end(), &w);
  if (found == waiters_.end()) return;
  finish(static_cast<std::size_t>(found - waiters_.begin()), gate_.withdraw(w.wait, why), to_resume);
}

/// Takes a waiter out and notifies its owner, which may be gone afterwards unless it is to be resumed.
void bell_listener::finish(std::size_t index, entry how, suspended_waiter*& to_resume) {
  suspended_waiter& w = *waiters_[index];
  waiters_[index] = waiters_.back();
  waiters_.pop_back();
  w.result = how;
  if (!w.ended(w.owner)) return;
  w.next = to_resume;
  to_resume = &w;
}

/// Takes on every waiter that was rung or whose time has come.
void bell_listener::serve(suspended_waiter*& to_resume) {
  const std::int64_t now = now_ns();
  for (std::size_t i = waiters_.size(); i-- > 0;) {
    suspended_wait& wait = waiters_[i]->wait;
    if (gate_.cells().map().lines[wait.member.number].bell.load() == wait.asleep && now < wait.wake_at_ns) continue;
    if (const std::optional<entry> how = gate_.proceed(wait)) finish(i, *how, to_resume);
  }
}

void bell_listener::sleep(std::unique_lock<std::mutex>& lock) {
  std::array<futex_waiter, waiters_max + 1> words;
  const std::uint32_t seen = changes_.load();
  std::int64_t until = forever;
  words[0] = make_futex_waiter(changes_, seen);
  for (std::size_t i = 0; i < waiters_.size(); ++i) {
    const suspended_wait& wait = waiters_[i]->wait;
    words[i + 1] =
        make_futex_waiter(gate_.cells().map().lines[wait.member.number].bell, wait.asleep, futex_scope::machine);
    until = std::min(until, wait.wake_at_ns);
  }
  const std::size_t count = waiters_.size() + 1;
  lock.unlock();
  const futex_deadline deadline{until / 1'000'000'000, until % 1'000'000'000};
  if (!futex_wait_any(words.data(), count, until == forever ? nullptr : &deadline)) {
    const timespec length{0, static_cast<long>(recheck_ns)};
    futex_wait(changes_, seen, count == 1 ? nullptr : &length);
  }
  lock.lock();
}

void* bell_listener::thread_main(void* self) {
  static_cast<bell_listener*>(self)->run();
  return nullptr;
}

void bell_listener::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    suspended_waiter* to_resume = nullptr;
    serve(to_resume);
    if (to_resume == nullptr) {
      sleep(lock);
      continue;
    }
    lock.unlock();
    resume_all(to_resume);
    lock.lock();
  }
}

int suspended_waiters::add(suspended_waiter& w) {
  suspended_waiter* to_resume = nullptr;
  int error = 0;
  {
    const std::lock_guard guard(mutex_);
    auto free = std::find_if(threads_.begin(), threads_.end(), [](const auto& t) { return t->has_room(); });
    try {
      if (free == threads_.end()) free = threads_.insert(free, std::make_unique<bell_listener>(gate_));
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
    error = (*free)->add(w, to_resume);
  }
  resume_all(to_resume);
  return error;
}

void suspended_waiters::withdraw(suspended_waiter& w, entry why) {
  bell_listener* const home = w.home.load();
  if (home == nullptr) return;
  suspended_waiter* to_resume = nullptr;
  home->withdraw(w, why, to_resume);
  resume_all(to_resume);
}

void suspended_waiters::abandon() noexcept {
  for (const auto& thread : threads_) thread->abandon();
}

}  // namespace kgate::detail::gates
