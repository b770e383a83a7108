// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tokens of a jobserver: the pipe that they pass through, the slots behind them, and what keeps these slots.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

/// The pipe or FIFO that tokens pass through. One page long: then it can be written to exactly when it is empty, and
/// the kernel tells when that happens.
class token_pipe {
 public:
  token_pipe() = default;
  token_pipe(const token_pipe&) = delete;
  token_pipe& operator=(const token_pipe&) = delete;
  ~token_pipe();

  bool open(bool as_fifo);
  /// For --jobserver-auth.
  std::string auth() const;
  int read_end() const { return ours_[0]; }
  int write_end() const { return ours_[1]; }
  int tokens() const;
  bool put() const;
  /// Takes a token back, unless a process was faster.
  bool take() const;

 private:
  bool open_pipe();
  bool open_fifo();

  int theirs_[2] = {-1, -1};
  int ours_[2] = {-1, -1};
  std::string folder_, fifo_;
};

/// Removes the FIFOs that killed jobservers of this user left and no process reads any more. How many.
int sweep_fifos();

/// An opening of the gate's .run file that the command inherits, and all that it starts unless they close it. Slots
/// that are locked through it stay taken as long as one of these processes has it, even if this process is killed.
class tree_locks {
 public:
  explicit tree_locks(detail::gates::lock_file& locks);
  tree_locks(const tree_locks&) = delete;
  tree_locks& operator=(const tree_locks&) = delete;
  ~tree_locks();

  bool keep(const detail::gates::membership& member) const;
  void release(const detail::gates::membership& member) const;

 private:
  int fd_;
};

/// The slots behind the tokens, and the thread that queues for the next one.
class token_slots {
 public:
  token_slots(detail::gates::core& gate, const tree_locks& kept, token_pipe& pipe, std::string command)
      : gate_(gate), kept_(kept), pipe_(pipe), command_(std::move(command)), thread_([this] { acquire(); }) {}
  token_slots(const token_slots&) = delete;
  token_slots& operator=(const token_slots&) = delete;
  ~token_slots();

  /// Whether one more token is wanted. A request that has not been granted is withdrawn.
  void want(bool wanted);
  /// What others see of the slot that was taken last: whether its token is offered, or in use.
  void show_offer(bool offered);
  /// One slot goes back to the gate. False if there is none.
  bool give_back();
  /// The command's own slot goes back to the gate.
  void give_back(held_slot& own);
  bool any();
  /// The slots that are held now are not given back: they are free when the tree has ended.
  void leave_to_the_tree();

 private:
  void withdraw_request();
  void acquire();

  detail::gates::core& gate_;
  const tree_locks& kept_;
  token_pipe& pipe_;
  std::string command_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, ended_ = false, asking_ = false;
  detail::gates::membership* asking_member_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::vector<detail::gates::membership> held_, spare_;
  bool offered_ = false;  ///< as shown
  std::thread thread_;
};

}  // namespace kgate::tool
