// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Learns by events that other processes have ended, for members that sleep until then.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "gate/byte_locks.hpp"
#include "gate/service_thread.hpp"
#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

/// What an event loop of the program watches for one member, instead of the thread: a descriptor that is readable
/// while one of the processes has ended. A death_watch uses it, under its lock.
class attended_deaths {
 public:
  /// The descriptor is readable as well while `also` is; -1 if there is none to be had, and errno says why.
  explicit attended_deaths(int also) noexcept;
  attended_deaths(const attended_deaths&) = delete;
  attended_deaths& operator=(const attended_deaths&) = delete;
  ~attended_deaths();
  int descriptor() const noexcept { return descriptor_; }

  /// Replaces what is watched: 0, or the number of an error; then nothing is.
  int watch(const std::vector<int>& processes);
  /// Whether one has ended. Then nothing is watched any more.
  bool has_ended() noexcept;
  void clear() noexcept;

 private:
  bool add(int fd, int process) noexcept;

  int descriptor_;
  std::map<int, int> watched_;  ///< descriptors by process
};

/// One thread for all members of a gate object, which waits for pidfds and does nothing else; started when a member
/// watches a process, ended when none does. Its descriptors are in a table of its own: what the program does with its
/// descriptors does not disturb them, and they are not in its way.
class death_watch {
 public:
  /// Called by the thread for a member whose watch has begun or has ended by a death.
  explicit death_watch(std::function<void(unsigned member)> ring) : ring_(std::move(ring)) {}
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;
  ~death_watch() { stop(); }

  enum class answer : unsigned char {
    watching,   ///< of all of them; the member will be rung when one has ended
    beginning,  ///< the member will be rung when that is so: whether they are alive must be asked again then
    impossible  ///< no event will tell
  };
  /// Replaces what the member watches. With `attended` the caller's event loop does the watching and calls attend(), as
  /// long as there are descriptors for it; else the thread does.
  answer watch(unsigned member, std::vector<int> processes, attended_deaths* attended = nullptr);
  void forget(unsigned member) noexcept;
  /// The descriptor of what the member watches by an event loop may be readable: rings if a process has ended.
  void attend(unsigned member) noexcept;
  /// Without a thread: sleeps until one of the processes has ended, or for so long.
  static doze_end sleep_until_one_ends(const std::vector<int>& processes, std::int64_t for_ns);

  void stop() noexcept;
  /// In a forked child, which has no such thread.
  void abandon() noexcept;

 private:
  enum class phase : unsigned char { requested, watched, ended, failed };
  struct request {
    std::vector<int> processes;  ///< sorted
    phase is = phase::requested;
    attended_deaths* attended = nullptr;  ///< null: by the thread
  };
  static void* thread_main(void* self);
  void run() noexcept;
  bool attended(unsigned member, request& its);
  bool reconcile(std::map<int, int>& descriptors, const std::vector<int>& ended, std::vector<unsigned>& rung);
  void drop(unsigned member) noexcept;
  void fail_all() noexcept;
  bool start() noexcept;
  bool poke() noexcept;
  void tidy_up() noexcept;

  std::function<void(unsigned)> ring_;
  std::mutex mutex_;
  std::map<unsigned, request> wanted_;
  service_thread thread_;
  bool running_ = false;   ///< there is a thread to be joined
  bool finished_ = false;  ///< it has ended, or is about to
  bool stopping_ = false;
  int commands_ = -1;      ///< the program's end of a pipe to the thread
  int commands_end_ = -1;  ///< the thread's, until the thread has a table of its own
  enum class begin : int { pending, done, failed };
  std::atomic<begin> begun_{begin::pending};
  file_id pipe_;
};

}  // namespace kgate::detail::gates
