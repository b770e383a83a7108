// SPDX-License-Identifier: Apache-2.0
// What an ensemble has to do for hosts that lease slots (algorithms/cluster_lease.hpp), in virtual time: the text that
// ships, one fiber for each host, on an ensemble that serves one request after the other.
//
// Every host has jobs that want a slot all the time: the worst case for the ensemble. Stated, not measured: how long a
// request travels, how long the ensemble takes for a read, for a name in a list and for a write, how long a job stays.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <vector>

#include "cluster/request.hpp"
#include "kgate/algorithms/cluster_lease.hpp"
#include "lab/schedules/fiber.hpp"

namespace {

using namespace kgate::detail::cluster;
using kgate::lab::schedules::fiber;

struct scenario {
  int hosts = 2;
  int k = 4;
  int jobs = 50;          ///< of each host
  double stay_s = 0.001;  ///< of a job
  double turn_s = 0.1;
  double travel_s = 0.0002;                                       ///< of a request and its answer together
  double read_s = 0.00003, name_s = 0.0000005, write_s = 0.0002;  ///< work of the ensemble
  double seconds = 10;
};

struct counts {
  double reads = 0, writes = 0, names = 0, events = 0, grants = 0, passages = 0, busy_s = 0;
};

class host;

/// The ensemble, and virtual time.
class world {
 public:
  explicit world(const scenario& s) : what(s), holder(static_cast<std::size_t>(s.k), -1), fence(holder.size(), 0) {}

  void plan(double time, host* who, std::uint64_t turn) { events_.push({time, ++planned_, who, turn}); }
  void run(double until);
  /// When a request that is sent now is answered.
  double serve(double seconds) {
    const double arrives = now + what.travel_s / 2;
    free_at_ = std::max(free_at_, arrives) + seconds;
    seen.busy_s += seconds;
    return free_at_ + what.travel_s / 2;
  }
  void fire(std::set<host*>& watchers);

  scenario what;
  double now = 0;
  counts seen;
  std::map<std::int32_t, std::pair<host*, std::set<host*>>> queue;  ///< by sequence: a host and its watchers
  std::vector<int> holder;
  std::vector<std::uint64_t> fence;
  std::set<host*> slot_watchers, queue_watchers;
  std::int32_t next_sequence = 0;
  std::uint64_t next_fence = 0;

 private:
  struct event {
    double time;
    std::uint64_t order;
    host* who;
    std::uint64_t turn;
    bool operator<(const event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
  };
  std::priority_queue<event> events_;
  std::uint64_t planned_ = 0;
  double free_at_ = 0;
};

/// A lessor and its jobs.
class host {
 public:
  struct waiter {
    int request = -1;
    std::int32_t sequence = 0;
    friend bool operator==(const waiter&, const waiter&) = default;
  };
  using slot_set = slot_numbers;
  using token = std::uint64_t;
  struct gate_id {};  ///< there is one gate
  struct holding {
    int request = -1;
    token fence = 0;
  };
  using local_slot = kgate::detail::cluster::local_slot<slot_set, token>;

  host(world& w, int number)
      : world_(w), number_(number), fiber_([this](fiber&) {
          lessor<host>(*this, {}, {world_.what.k, 0}).serve();
        }) {
    mine.at.assign(static_cast<std::size_t>(w.what.k), local_slot{local_slot::kept, {}, {}});
  }

  lease_books<std::vector<local_slot>> mine;
  double longest_wait = 0;
  /// For how long it has been waiting for slots.
  double open_wait() const { return mine.queued ? world_.now - queued_at_ : 0; }

  void resume(std::uint64_t turn) {
    if (turn != turn_) return;  // something else came first
    fiber_.resume();
  }
  void notify() {
    fired_ = true;
    if (waits_) wake_at(world_.now + world_.what.travel_s / 2);
  }

  int request() const { return number_; }
  void next_request() {}
  template <class... T>
  void live(int, const T&...) {}

  answered<waiter> enqueue(gate_id) {
    write();
    const waiter me{number_, world_.next_sequence++};
    world_.queue[me.sequence] = {this, {}};
    queued_at_ = world_.now;
    world_.fire(world_.queue_watchers);
    return {answer::ok, me};
  }
  answered<std::vector<waiter>> queue(gate_id) {
    fired_ = false;
    list();
    std::vector<waiter> out;
    for (const auto& [sequence, who] : world_.queue) out.push_back({who.first->number_, sequence});
    return {answer::ok, std::move(out)};
  }
  answered<bool> anybody_waits(gate_id) {
    fired_ = false;
    list();
    world_.queue_watchers.insert(this);
    return {answer::ok, std::any_of(world_.queue.begin(), world_.queue.end(),
                                    [this](const auto& one) { return one.second.first != this; })};
  }
  answered<bool> watch_waiter(gate_id, const waiter& w) {
    read();
    const auto there = world_.queue.find(w.sequence);
    if (there == world_.queue.end()) return {answer::no_node, false};
    there->second.second.insert(this);
    return {answer::ok, true};
  }
  answered<slot_set> slots(gate_id, bool watched) {
    if (watched) fired_ = false;
    read();
    if (watched) world_.slot_watchers.insert(this);
    slot_set out;
    for (std::size_t i = 0; i < world_.holder.size(); ++i)
      if (world_.holder[i] >= 0) out.numbers.push_back(static_cast<int>(i));
    world_.seen.names += static_cast<double>(out.numbers.size());
    return {answer::ok, out};
  }
  answered<gate_size> size(gate_id) {
    read();
    return {answer::ok, {world_.what.k, 0}};
  }
  answered<token> grant(gate_id, const waiter& me, const slot_set& chosen, std::int32_t) {
    write();
    for (const int slot : chosen.numbers)
      if (world_.holder[static_cast<std::size_t>(slot)] >= 0) return {answer::exists, 0};
    const auto there = world_.queue.find(me.sequence);
    if (there == world_.queue.end()) return {answer::no_node, 0};
    ++world_.next_fence;
    for (const int slot : chosen.numbers) {
      world_.holder[static_cast<std::size_t>(slot)] = number_;
      world_.fence[static_cast<std::size_t>(slot)] = world_.next_fence;
    }
    std::set<host*> watchers = std::move(there->second.second);
    world_.queue.erase(there);
    world_.fire(watchers);
    world_.fire(world_.queue_watchers);
    world_.fire(world_.slot_watchers);
    world_.seen.grants += 1;
    longest_wait = std::max(longest_wait, world_.now - queued_at_);
    return {answer::ok, world_.next_fence};
  }
  answered<bool> remove_waiter(gate_id, const waiter&) { return {answer::ok, true}; }
  answered<holding> holder(gate_id, const slot_set&) { return {answer::no_node, {}}; }
  answered<bool> free(gate_id, const slot_set& chosen) {
    write();
    for (const int slot : chosen.numbers) world_.holder[static_cast<std::size_t>(slot)] = -1;
    world_.fire(world_.slot_watchers);
    return {answer::ok, true};
  }
  answered<bool> sync() { return {answer::ok, true}; }
  bool reconnect() { return true; }

  local_view local() {
    local_view out;
    if (slot_at_ >= 0 && slot_at_ <= world_.now) {
      slot_at_ = -1;
      for (std::size_t i = 0; i < mine.at.size(); ++i)
        if (mine.at[i].is == local_slot::lent) out.taken = static_cast<int>(i);
      lent_since(-1);
    }
    const int lent = mine.count(local_slot::lent);
    out.wanted = std::max(world_.what.jobs - lent, 0);
    out.turn_over = turn_began_ + turn() <= world_.now;
    return out;
  }
  /// It queues behind the jobs that wait.
  void request_slot() {
    const int lent = std::max(mine.count(local_slot::lent), 1);
    const double ahead = std::max(world_.what.jobs - lent, 0) + 1.0;
    slot_at_ = world_.now + ahead * world_.what.stay_s / lent;
  }
  void lend(int, const slot_set&, token) {}
  void open(int) {
    turn_began_ = world_.now;
    lent_since(1);
  }
  void withdraw(int) { turn_began_ = world_.now; }
  void grow(int) {}
  void forfeit() {}
  bool renew() { return true; }
  void close() {}
  event wait() {
    double until = 1e18;
    if (slot_at_ >= 0) until = std::min(until, slot_at_);
    if (mine.count(local_slot::lent) > 0 && turn_began_ + turn() > world_.now)
      until = std::min(until, turn_began_ + turn());
    if (!fired_) {
      waits_ = true;
      sleep_until(until);
      waits_ = false;
    }
    return fired_ ? event::changed : event::local;
  }
  /// Accounts for the passages on the slots that are lent.
  void lent_since(int change) {
    world_.seen.passages += lent_ * (world_.now - counted_) / world_.what.stay_s;
    counted_ = world_.now;
    lent_ += change;
  }

 private:
  double turn() const { return std::max(world_.what.turn_s, waiting_ * 0.0002); }  // as src/cluster/lease_host.cpp
  void wake_at(double time) { world_.plan(time, this, ++turn_); }
  void sleep_until(double time) {
    wake_at(time);
    fiber_.leave();
  }
  void read() {
    world_.seen.reads += 1;
    sleep_until(world_.serve(world_.what.read_s));
  }
  void list() {
    world_.seen.reads += 1;
    const auto names = static_cast<double>(world_.queue.size());
    world_.seen.names += names;
    waiting_ = names;
    sleep_until(world_.serve(world_.what.read_s + names * world_.what.name_s));
  }
  void write() {
    world_.seen.writes += 1;
    sleep_until(world_.serve(world_.what.write_s));
  }

  world& world_;
  int number_;
  fiber fiber_;
  std::uint64_t turn_ = 0;
  bool fired_ = false, waits_ = false;
  double turn_began_ = 0, slot_at_ = -1, queued_at_ = 0, counted_ = 0;
  double waiting_ = 0;
  int lent_ = 0;
};

void world::fire(std::set<host*>& watchers) {
  std::set<host*> notified;
  notified.swap(watchers);
  seen.events += static_cast<double>(notified.size());
  for (host* const one : notified) one->notify();
}

void world::run(double until) {
  while (!events_.empty() && events_.top().time <= until) {
    const event next = events_.top();
    events_.pop();
    now = next.time;
    next.who->resume(next.turn);
  }
  now = until;
}

void simulate(const scenario& what) {
  world w(what);
  std::vector<std::unique_ptr<host>> hosts;
  for (int i = 0; i < what.hosts; ++i) {
    hosts.push_back(std::make_unique<host>(w, i));
    w.plan(0.001 * i, hosts.back().get(), 0);  // they are not started all at once
  }
  const auto count_again = [&] {
    for (auto& one : hosts) one->lent_since(0);
    w.seen = {};
    for (auto& one : hosts) one->longest_wait = 0;
  };
  w.run(what.seconds);
  count_again();  // what came before is the beginning
  w.run(2 * what.seconds);
  for (auto& one : hosts) one->lent_since(0);
  const counts& c = w.seen;
  const auto per_second = [&](double n) { return n / what.seconds; };
  double longest = 0;
  for (const auto& one : hosts) longest = std::max({longest, one->longest_wait, one->open_wait()});
  std::printf("%d\t%d\t%d\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.0f\t%.2f\t%.2f\n", what.hosts, what.k, what.jobs,
              what.stay_s * 1e6, per_second(c.passages), per_second(c.grants), per_second(c.reads),
              per_second(c.writes), per_second(c.names), per_second(c.busy_s), longest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: simulate_leases K SECONDS [HOSTS[:JOBS[:STAY_US]]]...\n");
    return 2;
  }
  scenario what;
  what.k = std::atoi(argv[1]);
  what.seconds = std::atof(argv[2]);
  std::printf("hosts\tk\tjobs\tstay us\tpassages/s\tleases/s\treads/s\twrites/s\tnames/s\tbusy\tlongest wait s\n");
  for (int i = 3; i < argc; ++i) {
    int jobs = what.jobs;
    double stay_us = what.stay_s * 1e6;
    if (std::sscanf(argv[i], "%d:%d:%lf", &what.hosts, &jobs, &stay_us) < 1 || what.hosts < 1 || jobs < 1 ||
        stay_us <= 0)
      return 2;
    scenario one = what;
    one.jobs = jobs;
    one.stay_s = stay_us * 1e-6;
    simulate(one);
  }
}
