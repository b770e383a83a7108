// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One session of a ZooKeeper ensemble: requests that block until they are answered, watches, and the knowledge when
/// the session is lost. Safe to use from many threads.
///
/// The session is lost when the ensemble says so, or when nothing that was sent within the negotiated time-out has been
/// answered: the servers count from the last request that they received, and they received it after it was sent. A
/// thread sends a small request several times in each time-out, in place of the client library's own pings, so that the
/// time of the last answered one is known.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/address.hpp"
#include "kgate/algorithms/cluster_words.hpp"
#include "kgate/gate_error.hpp"

struct _zhandle;  // NOLINT(bugprone-reserved-identifier): of ZooKeeper's library

namespace kgate::detail::cluster {

/// A clock that goes on while the machine sleeps, as the servers' do.
std::chrono::nanoseconds boot_time();

/// What waits for watches to fire.
class listener {
 public:
  /// Events so far do not count.
  void forget();
  /// Until a watch fires or the session's state changes: changed, or granted if the data of a node have changed; until
  /// alert(): local; or until stop or deadline: given_up.
  event wait(const std::stop_token& stop, std::chrono::steady_clock::time_point deadline);
  void notify();
  /// A watch has notified: the data of this node have changed.
  void notify_of(const std::string& path);
  /// The path of the node whose data have changed.
  std::string changed_node();
  /// Wakes it for another reason.
  void alert();

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool fired_ = false, alerted_ = false;
  std::string changed_node_;
};

struct node {
  std::string data;
  std::uint64_t czxid = 0;
  std::int32_t version = 0;
  std::int64_t created_ms = 0;  ///< by the servers' clock
  std::uint64_t owner = 0;      ///< the session of an ephemeral node
};

/// One part of a transaction. A parent may be read and filled by all, whichever client creates it.
struct write {
  enum class kind : std::uint8_t { create, create_parent, create_ephemeral, remove, set, check };
  kind what = kind::create;
  std::string path;
  std::string data{};
  std::int32_t version = -1;
};

class session {
 public:
  /// Connects. Throws gate_error.
  session(const address& where, const std::string& authentication, std::chrono::milliseconds connect_timeout);
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  // One request each. unknown: the connection was lost before the answer came. Other failures throw gate_error.
  answered<node> get(const std::string& path, listener* watch = nullptr);
  answered<std::vector<std::string>> children(const std::string& path, listener* watch = nullptr);
  /// The path of the node that was made.
  answered<std::string> create_waiter(const std::string& prefix, const std::string& data);
  /// changed: a version is another one, or a node to be removed is not empty. The value is the number of the
  /// transaction, if it has a `set`.
  answered<std::uint64_t> transact(const std::vector<write>& all);
  answered<bool> sync(const std::string& path);
  /// "scheme:id:permissions", one line each.
  answered<std::string> access_rules(const std::string& path);

  /// Forgets the listener; none of its watches reaches it from then on.
  void dismiss(listener& who);

  /// Waits until the session is connected; false if it is lost.
  bool await_connected();
  bool connected() const;
  bool is_lost() const;
  std::stop_token lost() const { return lost_.get_token(); }
  /// Readable once the session is lost.
  int lost_descriptor() const { return lost_fd_; }
  /// Why it is lost.
  std::string loss() const;

  std::uint64_t id() const { return id_; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  bool is_inherited() const;
  bool authenticated() const { return authenticated_; }
  /// From now on tells others, in `where`, until when the session lasts even if nothing more is heard of the ensemble:
  /// on the clock that counts sleep (boot_time()), 0 once it is lost.
  void publish_validity(std::atomic<std::int64_t>& where);
  /// A number that no other request of this session has.
  std::uint64_t next_request() { return requests_.fetch_add(1); }

 private:
  struct pulse;

  static void on_event(_zhandle* handle, int type, int state, const char* path, void* self);
  void state_changed(_zhandle* handle, int state);
  void fire(const std::string& path, bool data_changed);
  void authenticate(const std::string& secret, std::chrono::steady_clock::time_point deadline);
  /// One request answered, or it throws: from then on the time-out counts.
  void first_contact(std::chrono::steady_clock::time_point deadline);
  void connect(const address& where, std::chrono::milliseconds limit);
  void watch_over(const std::stop_token& stop);
  void send_pulse();
  void heard(std::chrono::nanoseconds sent);
  void publish();
  void expect(const std::string& path, listener* who);
  template <class Call>
  int call(Call&& request);
  answer answer_of(int code, const std::string& path);

  _zhandle* handle_ = nullptr;
  pid_t owner_;  ///< the process it belongs to: its threads are not in a forked one
  std::string hosts_;
  std::chrono::milliseconds timeout_{0};
  std::uint64_t id_ = 0;
  bool authenticated_ = false;
  std::atomic<std::uint64_t> requests_{0};

  std::shared_mutex in_use_;  ///< shared by requests; the thread that ends the session has it alone
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::string, listener*> listeners_;
  bool connected_ = false, refused_ = false, lost_now_ = false, beat_ = false;
  std::string loss_;
  std::chrono::nanoseconds contact_{0};  ///< when the last answered request was sent, on the clock that counts sleep

  std::atomic<std::int64_t>* validity_ = nullptr;

  std::stop_source lost_;
  int lost_fd_ = -1;
  std::jthread watcher_;
};

}  // namespace kgate::detail::cluster
