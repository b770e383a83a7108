// SPDX-License-Identifier: Apache-2.0
#include "cluster/session.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "kgate/cluster.hpp"

namespace kgate::detail::cluster {

namespace {

using namespace std::chrono_literals;

/// Signals are for the threads of the program: those that are started meanwhile get none.
class without_signals {
 public:
  without_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// The library does not close its sockets on exec: a command would inherit the connection. Nor does it tell the
/// descriptor, which is one that leads to this server and is not closed on exec yet. All below the lowest free one are
/// open, and a new one is likely to be just below that. `other` is any descriptor.
void close_connection_on_exec(zhandle_t* handle, int other) {
  static std::mutex one_at_a_time;                                // two could take the same descriptor for theirs
  const std::unique_lock alone(one_at_a_time, std::try_to_lock);  // a fork may have left it locked for ever
  sockaddr_storage server{};
  socklen_t length = sizeof server;
  if (zookeeper_get_connected_host(handle, reinterpret_cast<sockaddr*>(&server), &length) == nullptr) return;
  const auto close_on_exec = [&](int fd) {
    sockaddr_storage peer{};
    socklen_t peer_length = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0 || peer_length != length ||
        std::memcmp(&peer, &server, length) != 0)
      return false;
    const int flags = fcntl(fd, F_GETFD);
    return (flags & FD_CLOEXEC) == 0 && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == 0;
  };
  constexpr int standard_error = 2;
  const int lowest_free = fcntl(other, F_DUPFD_CLOEXEC, standard_error + 1);
  if (lowest_free >= 0) close(lowest_free);
  for (int fd = lowest_free - 1; alone && fd > standard_error; --fd)
    if (close_on_exec(fd)) return;
  DIR* const all = opendir("/proc/self/fd");
  if (all == nullptr) return;
  while (const dirent* entry = readdir(all)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > standard_error && close_on_exec(fd) && alone) break;
  }
  closedir(all);
}

std::string seconds_text(std::chrono::milliseconds time) {
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() % 1000 / 100) + " s";
}

/// The users of what this session creates: the authenticated one alone, or all.
const ACL_vector* rules(bool authenticated) { return authenticated ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE; }
/// The same for a node that gates of all users are below. A user that may delete there can remove a gate's own node
/// only when nothing is below it, which those of the gate alone bring about.
const ACL_vector* parent_rules(bool authenticated) {
  static char auth_scheme[] = "auth", world_scheme[] = "world", none[] = "", anyone[] = "anyone";
  static const int others = ZOO_PERM_READ | ZOO_PERM_CREATE | ZOO_PERM_DELETE;
  static ACL both[] = {{ZOO_PERM_ALL, {auth_scheme, none}}, {others, {world_scheme, anyone}}};
  static const ACL_vector shared{2, both};
  return authenticated ? &shared : &ZOO_OPEN_ACL_UNSAFE;
}

}  // namespace

std::chrono::nanoseconds boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

void listener::forget() {
  const std::scoped_lock lock(mutex_);
  fired_ = false;
  changed_node_.clear();
}

void listener::notify_of(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  fired_ = true;
  changed_node_ = path;
  changed_.notify_all();
}

std::string listener::changed_node() {
  const std::scoped_lock lock(mutex_);
  return changed_node_;
}

void listener::notify() {
  const std::scoped_lock lock(mutex_);
  fired_ = true;
  changed_.notify_all();
}

event listener::wait(const std::stop_token& stop, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return fired_ || alerted_; };
  const bool seen = deadline == std::chrono::steady_clock::time_point::max()
                        ? changed_.wait(lock, stop, woken)
                        : changed_.wait_until(lock, stop, deadline, woken);
  alerted_ = false;
  if (fired_) return changed_node_.empty() ? event::changed : event::granted;
  return seen ? event::local : event::given_up;
}

void listener::alert() {
  const std::scoped_lock lock(mutex_);
  alerted_ = true;
  changed_.notify_all();
}

session::session(const address& where, const std::string& authentication, std::chrono::milliseconds connect_timeout)
    : owner_(getpid()), hosts_(where.hosts) {
  const auto deadline = std::chrono::steady_clock::now() + connect_timeout;
  lost_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (lost_fd_ < 0)
    throw gate_error({gate_errc::system, std::string("cannot make a descriptor: ") + std::strerror(errno)});
  try {
    connect(where, connect_timeout);
    if (!authentication.empty()) authenticate(authentication, deadline);
    first_contact(deadline);
  } catch (...) {
    if (handle_ != nullptr) zookeeper_close(handle_);
    close(lost_fd_);
    throw;
  }
  const without_signals quiet;
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch_over(stop); });
}

bool session::is_inherited() const { return getpid() != owner_; }

session::~session() {
  if (is_inherited()) {
    watcher_.detach();
    return;
  }
  watcher_.request_stop();
  {
    const std::scoped_lock lock(mutex_);
    lost_now_ = true;  // nothing is held any more
    publish();
    validity_ = nullptr;
    changed_.notify_all();
  }
  watcher_.join();
  if (handle_ != nullptr) zookeeper_close(handle_);
  close(lost_fd_);
}

void session::connect(const address& where, std::chrono::milliseconds limit) {
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));
  {
    const without_signals quiet;
    handle_ = zookeeper_init(where.hosts.c_str(), on_event, static_cast<int>(where.session.count()), nullptr, this, 0);
  }
  if (handle_ == nullptr)
    throw ensemble_unreachable({gate_errc::system, "no server of " + hosts_ + " can be found: " + std::strerror(errno) +
                                                       "; is the address right?"});
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return connected_ || refused_ || lost_now_; });
  if (!connected_)
    throw ensemble_unreachable({gate_errc::system, "no server of " + hosts_ + " answered within " +
                                                       seconds_text(limit) +
                                                       "; is the address right, and does a quorum of servers run?"});
  id_ = static_cast<std::uint64_t>(zoo_client_id(handle_)->client_id);
  timeout_ = std::chrono::milliseconds(zoo_recv_timeout(handle_));
}

void session::first_contact(std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    contact_ = boot_time();
    Stat there{};
    const int code = zoo_exists(handle_, "/", 0, &there);
    if (code == ZOK) return;
    std::unique_lock lock(mutex_);
    // A server that is busy or fails over has lost the connection again: the library looks for another one.
    const bool again = (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT) &&
                       changed_.wait_until(lock, deadline, [this] { return connected_ || lost_now_; }) && !lost_now_ &&
                       std::chrono::steady_clock::now() < deadline;
    if (!again)
      throw ensemble_unreachable({gate_errc::system, "the ensemble " + hosts_ + " does not answer: " + zerror(code)});
  }
}

void session::authenticate(const std::string& secret, std::chrono::steady_clock::time_point deadline) {
  struct waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    int code = 0;
  };
  const auto answer = std::make_shared<waiting>();
  auto* const kept = new std::shared_ptr<waiting>(answer);
  const auto completed = [](int code, const void* data) {
    const auto* const all = static_cast<const std::shared_ptr<waiting>*>(data);
    {
      const std::scoped_lock lock((*all)->mutex);
      (*all)->over = true;
      (*all)->code = code;
      (*all)->changed.notify_all();
    }
    delete all;
  };
  if (const int code =
          zoo_add_auth(handle_, "digest", secret.data(), static_cast<int>(secret.size()), completed, kept)) {
    delete kept;
    throw gate_error({gate_errc::no_permission, std::string("the authentication failed: ") + zerror(code)});
  }
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_until(lock, deadline, [&] { return answer->over; });
  if (!answer->over || answer->code != ZOK)
    throw gate_error({gate_errc::no_permission, "the ensemble " + hosts_ + " refused the authentication"});
  authenticated_ = true;
}

void session::on_event(zhandle_t* handle, int type, int state, const char* path, void* self) {
  auto* const me = static_cast<session*>(self);
  if (type == ZOO_SESSION_EVENT)
    me->state_changed(handle, state);
  else if (path != nullptr)
    me->fire(path, type == ZOO_CHANGED_EVENT);
}

void session::state_changed(zhandle_t* handle, int state) {
  const std::scoped_lock lock(mutex_);
  const bool connects = state == ZOO_CONNECTED_STATE;
  if (connects) close_connection_on_exec(handle, lost_fd_);  // handle_ may not be set yet
  connected_ = connects;
  beat_ = connects;
  if (state == ZOO_AUTH_FAILED_STATE) refused_ = true;
  if ((state == ZOO_EXPIRED_SESSION_STATE || refused_) && !lost_now_) {
    lost_now_ = true;
    loss_ = refused_ ? "the ensemble refused the authentication" : "the ensemble has ended the session";
    publish();
  }
  // A reconnected client looks again: what it watched may have changed meanwhile.
  for (const auto& [path, who] : listeners_) who->notify();
  changed_.notify_all();
}

void session::fire(const std::string& path, bool data_changed) {
  const std::scoped_lock lock(mutex_);
  const auto [first, last] = listeners_.equal_range(path);
  for (auto one = first; one != last; ++one)
    if (data_changed)
      one->second->notify_of(path);
    else
      one->second->notify();
  listeners_.erase(first, last);
}

void session::expect(const std::string& path, listener* who) {
  if (who == nullptr) return;
  const std::scoped_lock lock(mutex_);
  const auto [first, last] = listeners_.equal_range(path);
  if (std::none_of(first, last, [who](const auto& one) { return one.second == who; })) listeners_.emplace(path, who);
}

void session::dismiss(listener& who) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(listeners_, [&](const auto& one) { return one.second == &who; });
}

/// A request that is made to learn that the servers still hear of this session.
struct session::pulse {
  session& of;
  std::chrono::nanoseconds sent;
};

void session::send_pulse() {
  auto* const one = new pulse{*this, boot_time()};
  const auto completed = [](int code, const Stat*, const void* data) {
    const auto* const was = static_cast<const pulse*>(data);
    if (code == ZOK) was->of.heard(was->sent);
    delete was;
  };
  if (zoo_aexists(handle_, "/", 0, completed, one) != ZOK) delete one;
}

void session::heard(std::chrono::nanoseconds sent) {
  const std::scoped_lock lock(mutex_);
  contact_ = std::max(contact_, sent);
  publish();
}

void session::publish() {
  if (validity_ != nullptr) validity_->store(lost_now_ ? 0 : (contact_ + timeout_).count());
}

void session::publish_validity(std::atomic<std::int64_t>& where) {
  const std::scoped_lock lock(mutex_);
  validity_ = &where;
  publish();
}

void session::watch_over(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && !lost_now_) {
    const std::chrono::nanoseconds left = contact_ + timeout_ - boot_time();
    if (left <= 0ns) {
      lost_now_ = true;
      loss_ = "nothing was heard of the ensemble for " + seconds_text(timeout_);
      publish();
      break;
    }
    if (connected_) {
      lock.unlock();
      send_pulse();
      lock.lock();
    }
    beat_ = false;
    const std::chrono::nanoseconds beat = timeout_ / 5;
    changed_.wait_for(lock, connected_ ? std::min(left, beat) : left,
                      [&] { return stop.stop_requested() || lost_now_ || beat_; });
  }
  if (stop.stop_requested()) return;
  for (const auto& [path, who] : listeners_) who->notify();
  changed_.notify_all();
  lock.unlock();
  lost_.request_stop();  // first, so that what is woken by the descriptor finds it requested
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(lost_fd_, &one, sizeof one);
  // The ensemble may still know the session, and the library would keep it alive with all that it has.
  const std::unique_lock alone(in_use_);
  zookeeper_close(std::exchange(handle_, nullptr));
}

bool session::await_connected() {
  std::unique_lock lock(mutex_);
  // The answer may be lost before the state has changed.
  changed_.wait_for(lock, 20ms, [this] { return !connected_ || lost_now_; });
  changed_.wait(lock, [this] { return connected_ || lost_now_; });
  return !lost_now_;
}

bool session::connected() const {
  const std::scoped_lock lock(mutex_);
  return connected_ && !lost_now_;
}

bool session::is_lost() const {
  const std::scoped_lock lock(mutex_);
  return lost_now_;
}

std::string session::loss() const {
  const std::scoped_lock lock(mutex_);
  return loss_;
}

template <class Call>
int session::call(Call&& request) {
  const std::chrono::nanoseconds sent = boot_time();
  const std::shared_lock use(in_use_);
  if (is_lost()) return ZSESSIONEXPIRED;
  const int code = request();
  if (code != ZCONNECTIONLOSS && code != ZOPERATIONTIMEOUT && code != ZSESSIONEXPIRED && code != ZINVALIDSTATE &&
      code != ZCLOSING)
    heard(sent);
  return is_lost() ? ZSESSIONEXPIRED : code;
}

answer session::answer_of(int code, const std::string& path) {
  switch (code) {
    case ZOK:
      return answer::ok;
    case ZNONODE:
      return answer::no_node;
    case ZNODEEXISTS:
      return answer::exists;
    case ZBADVERSION:
    case ZNOTEMPTY:
      return answer::changed;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
      return answer::unknown;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
    case ZCLOSING:
    case ZSESSIONMOVED:
      return code == ZSESSIONMOVED ? answer::unknown : answer::expired;
    case ZNOAUTH:
      throw gate_error({gate_errc::no_permission, "the ensemble " + hosts_ + " does not permit this at " + path +
                                                      (authenticated_ ? " to the user of KGATE_ZK_AUTH"
                                                                      : "; KGATE_ZK_AUTH_FILE names a secret")});
    default:
      throw gate_error(
          {gate_errc::system, "the ensemble " + hosts_ + " refused a request at " + path + ": " + zerror(code)});
  }
}

answered<node> session::get(const std::string& path, listener* watch) {
  expect(path, watch);
  std::string buffer(4096, '\0');
  Stat stat{};
  int length = 0;
  const int code = call([&] {
    length = static_cast<int>(buffer.size());
    return zoo_wget(handle_, path.c_str(), watch != nullptr ? on_event : nullptr, this, buffer.data(), &length, &stat);
  });
  answered<node> out{answer_of(code, path), {}};
  if (out.is != answer::ok) return out;
  buffer.resize(static_cast<std::size_t>(std::max(length, 0)));
  out.value = {std::move(buffer), static_cast<std::uint64_t>(stat.czxid), stat.version, stat.ctime,
               static_cast<std::uint64_t>(stat.ephemeralOwner)};
  return out;
}

answered<std::vector<std::string>> session::children(const std::string& path, listener* watch) {
  expect(path, watch);
  String_vector names{};
  const int code = call(
      [&] { return zoo_wget_children(handle_, path.c_str(), watch != nullptr ? on_event : nullptr, this, &names); });
  answered<std::vector<std::string>> out;
  if (names.data != nullptr) {
    out.value.assign(names.data, names.data + names.count);
    deallocate_String_vector(&names);
  }
  out.is = answer_of(code, path);
  return out;
}

answered<std::string> session::create_waiter(const std::string& prefix, const std::string& data) {
  std::string made(prefix.size() + 64, '\0');
  const int code = call([&] {
    return zoo_create(handle_, prefix.c_str(), data.data(), static_cast<int>(data.size()), rules(authenticated_),
                      ZOO_EPHEMERAL | ZOO_SEQUENCE, made.data(), static_cast<int>(made.size()));
  });
  made.resize(std::strlen(made.c_str()));
  return {answer_of(code, prefix), made};
}

answered<std::uint64_t> session::transact(const std::vector<write>& all) {
  if (all.size() == 1 && all.front().what == write::kind::remove) {
    const write& only = all.front();  // costs the servers less than a transaction of one part
    return {answer_of(call([&] { return zoo_delete(handle_, only.path.c_str(), only.version); }), only.path), 0};
  }
  std::vector<zoo_op_t> ops(all.size());
  std::vector<zoo_op_result_t> results(all.size());
  std::vector<Stat> stats(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const write& w = all[i];
    const char* const path = w.path.c_str();
    const int size = static_cast<int>(w.data.size());
    switch (w.what) {
      case write::kind::create:
      case write::kind::create_ephemeral:
        zoo_create_op_init(&ops[i], path, w.data.data(), size, rules(authenticated_),
                           w.what == write::kind::create ? 0 : ZOO_EPHEMERAL, nullptr, 0);
        break;
      case write::kind::create_parent:
        zoo_create_op_init(&ops[i], path, nullptr, -1, parent_rules(authenticated_), 0, nullptr, 0);
        break;
      case write::kind::remove:
        zoo_delete_op_init(&ops[i], path, w.version);
        break;
      case write::kind::set:
        zoo_set_op_init(&ops[i], path, w.data.data(), size, w.version, &stats[i]);
        break;
      case write::kind::check:
        zoo_check_op_init(&ops[i], path, w.version);
        break;
    }
  }
  const int code = call([&] { return zoo_multi(handle_, static_cast<int>(ops.size()), ops.data(), results.data()); });
  std::size_t failed = 0;  // the part that is why: those before it succeeded, and those after it were not tried
  while (failed + 1 < results.size() && (results[failed].err == ZOK || results[failed].err == ZRUNTIMEINCONSISTENCY))
    ++failed;
  answered<std::uint64_t> out{answer_of(code, all[failed].path), 0};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].what == write::kind::set) out.value = static_cast<std::uint64_t>(stats[i].mzxid);
  return out;
}

answered<bool> session::sync(const std::string& path) {
  struct waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    int code = 0;
  } state;
  const auto completed = [](int code, const char*, const void* data) {
    auto* const it = static_cast<waiting*>(const_cast<void*>(data));
    const std::scoped_lock lock(it->mutex);
    it->over = true;
    it->code = code;
    it->changed.notify_all();
  };
  const int code = call([&] {
    if (const int refused = zoo_async(handle_, path.c_str(), completed, &state)) return refused;
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.over; });
    return state.code;
  });
  return {answer_of(code, path), true};
}

answered<std::string> session::access_rules(const std::string& path) {
  ACL_vector list{};
  Stat stat{};
  const int code = call([&] { return zoo_get_acl(handle_, path.c_str(), &list, &stat); });
  answered<std::string> out;
  if (code == ZOK) {
    for (int i = 0; i < list.count; ++i) {
      const ACL& one = list.data[i];
      out.value += std::string(one.id.scheme) + ":" + one.id.id + ":" + std::to_string(one.perms) + "\n";
    }
    deallocate_ACL_vector(&list);
  }
  out.is = answer_of(code, path);
  return out;
}

}  // namespace kgate::detail::cluster
