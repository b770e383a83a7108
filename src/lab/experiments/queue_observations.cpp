// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/queue_observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace kgate::lab {

const char* to_string(answer a) { return a == answer::yes ? "yes" : a == answer::no ? "no" : "unknown"; }

std::optional<double> median_seconds(const queue_curve& curve, int processes) {
  std::vector<double> all;
  for (const queue_point& p : curve.points)
    if (p.processes == processes && p.done > 0) all.push_back(p.total_seconds());
  if (all.empty()) return std::nullopt;
  std::sort(all.begin(), all.end());
  const std::size_t half = all.size() / 2;
  return all.size() % 2 == 1 ? all[half] : (all[half - 1] + all[half]) / 2;
}

const queue_curve* find_curve(const queue_curves& all, const std::string& id) {
  for (const queue_curve& c : all.curves)
    if (c.id == id) return &c;
  return nullptr;
}

namespace {

/// The curves that the observations speak of, and where they have points.
class figures {
 public:
  explicit figures(const queue_curves& all) : all_(all) {
    std::set<int> seen;
    for (const queue_curve& c : all.curves)
      for (const queue_point& p : c.points) seen.insert(p.processes);
    for (const int P : seen) (P > all.processors ? crowded_ : calm_).push_back(P);
    for (const int k : queue_resilience) assigned_.push_back(fmt::format("k-{}", k));
    for (const int N : setting_of(all.figure).herlihy) herlihy_.push_back(fmt::format("herlihy-{}", N));
  }

  /// The process counts with more processes than processors.
  const std::vector<int>& crowded() const { return crowded_; }
  const std::vector<std::string>& assigned() const { return assigned_; }
  const std::vector<std::string>& herlihy() const { return herlihy_; }
  /// As many processes as processors, or the nearest count below; 0 if there is none.
  int calm() const { return calm_.empty() ? 0 : calm_.back(); }
  int most() const { return crowded_.empty() ? 0 : crowded_.back(); }

  std::optional<double> time(const std::string& id, int P) const {
    const queue_curve* c = find_curve(all_, id);
    return c == nullptr ? std::nullopt : median_seconds(*c, P);
  }
  std::optional<double> best(const std::vector<std::string>& ids, int P) const {
    std::optional<double> least;
    for (const std::string& id : ids)
      if (const auto t = time(id, P); t && (!least || *t < *least)) least = t;
    return least;
  }

 private:
  const queue_curves& all_;
  std::vector<int> calm_, crowded_;
  std::vector<std::string> assigned_, herlihy_;
};

/// How often one thing is faster than another, over points where both were measured.
struct tally {
  int faster = 0, of = 0;
  void compare(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return;
    ++of;
    faster += *a < *b;
  }
  answer most() const { return of == 0 ? answer::unknown : 2 * faster > of ? answer::yes : answer::no; }
  std::string text() const { return fmt::format("{} of {}", faster, of); }
};

void collapse(const figures& f, queue_observation& o) {
  const auto calm = f.time("mcs", f.calm()), crowded = f.time("mcs", f.most());
  if (!calm || !crowded) return;
  o.holds = *crowded >= 2 * *calm ? answer::yes : answer::no;
  o.evidence = fmt::format("{:.3g} s with {} processes, {:.3g} s with {}: {:.1f} times as long", *calm, f.calm(),
                           *crowded, f.most(), *crowded / *calm);
}

void degrades(const figures& f, queue_observation& o, const std::vector<int>& counts) {
  tally t;
  double ratio = 0;
  for (const int P : counts) {
    const auto small = f.time(f.herlihy()[0], P), large = f.time(f.herlihy()[1], P);
    t.compare(small, large);
    if (small && large) ratio += std::log(*large / *small);
  }
  if (t.of == 0) return;
  o.holds = t.faster == t.of ? answer::yes : answer::no;
  o.evidence =
      fmt::format("the smaller is faster at {} process counts; the larger takes {:.2f} times as long on average",
                  t.text(), std::exp(ratio / t.of));
}

void beats_both(const figures& f, queue_observation& o) {
  tally both, mcs, herlihy;
  for (const std::string& id : f.assigned())
    for (const int P : f.crowded()) {
      const auto mine = f.time(id, P), lock = f.time("mcs", P), free = f.best(f.herlihy(), P);
      mcs.compare(mine, lock);
      herlihy.compare(mine, free);
      if (lock && free) both.compare(mine, std::min(*lock, *free));
    }
  o.holds = both.most();
  o.evidence = fmt::format("faster than both in {} cases, than MCS in {}, than the better Herlihy in {}", both.text(),
                           mcs.text(), herlihy.text());
}

void larger_k(const figures& f, queue_observation& o) {
  const std::string &least = f.assigned().front(), &greatest = f.assigned().back();
  const auto calm_1 = f.time(least, f.calm()), calm_k = f.time(greatest, f.calm());
  const auto most_1 = f.time(least, f.most()), most_k = f.time(greatest, f.most());
  if (!calm_1 || !calm_k || !most_1 || !most_k) return;
  o.holds = *most_k < *most_1 && *most_k / *most_1 < *calm_k / *calm_1 ? answer::yes : answer::no;
  o.evidence = fmt::format("k = 16 takes {:.2f} times as long as k = 1 with {} processes, {:.2f} times with {}",
                           *calm_k / *calm_1, f.calm(), *most_k / *most_1, f.most());
}

void full_is_worse(const figures& f, queue_observation& o) {
  tally t;
  for (const int P : f.crowded()) t.compare(f.best(f.assigned(), P), f.best(f.herlihy(), P));
  o.holds = t.most();
  o.evidence = fmt::format("the best k is faster than the better Herlihy at {} process counts", t.text());
  const auto mine = f.best(f.assigned(), f.most()), free = f.best(f.herlihy(), f.most());
  if (mine && free) o.evidence += fmt::format("; with {} processes {:.3g} s against {:.3g} s", f.most(), *mine, *free);
}

void one_beats_mcs(const figures& f, queue_observation& o) {
  tally t;
  for (const int P : f.crowded()) t.compare(f.time("k-1", P), f.time("mcs", P));
  o.holds = t.most();
  o.evidence = fmt::format("faster at {} process counts", t.text());
  const auto mine = f.time("k-1", f.most()), lock = f.time("mcs", f.most());
  if (mine && lock) o.evidence += fmt::format("; with {} processes {:.3g} s against {:.3g} s", f.most(), *mine, *lock);
}

/// How long k = 1, which copies nothing, takes beside the best of those that copy: the geometric mean over the process
/// counts that all have.
std::optional<double> without_copies(const std::vector<queue_curve>& curves, const std::vector<int>& counts) {
  double sum = 0;
  int count = 0;
  for (const int P : counts) {
    std::optional<double> one, rest;
    for (const queue_curve& c : curves) {
      if (c.k == 0 || c.id.substr(0, 2) != "k-") continue;
      const auto t = median_seconds(c, P);
      if (c.k == 1)
        one = t;
      else if (t && (!rest || *t < *rest))
        rest = t;
    }
    if (!one || !rest) continue;
    sum += std::log(*one / *rest);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / count);
}

std::vector<int> counts_in(const std::vector<queue_curve>& curves) {
  std::set<int> seen;
  for (const queue_curve& c : curves)
    for (const queue_point& p : c.points) seen.insert(p.processes);
  return {seen.begin(), seen.end()};
}

/// Everything else being equal, more is copied: is copying nothing worth more then? What the paper compares are two
/// machines, which differ in much else; that comparison is shown, and decides nothing.
void copying_matters(const queue_curves& all, const queue_curves* other, queue_observation& o) {
  const std::vector<int> counts = counts_in(all.large);
  const auto small = without_copies(all.curves, counts), large = without_copies(all.large, counts);
  if (!small || !large) return;
  o.holds = *large < *small ? answer::yes : answer::no;
  o.evidence = fmt::format("k = 1 takes {:.2f} times as long as the best larger k with {} places, {:.2f} times with {}",
                           *small, queue_capacity, *large, large_queue_capacity);
  if (other == nullptr) return;
  const auto here = without_copies(all.curves, counts_in(all.curves)),
             there = without_copies(other->curves, counts_in(other->curves));
  if (here && there)
    o.evidence +=
        fmt::format("; between the two machines of the figures it is {:.2f} times here and {:.2f} times on that of {}",
                    *here, *there, setting_of(other->figure).name);
}

}  // namespace

std::vector<queue_observation> observe(const queue_curves& all, const queue_curves* other) {
  const figures f(all);
  std::vector<int> counts = f.crowded();
  if (f.calm() > 0) counts.insert(counts.begin(), f.calm());
  std::vector<queue_observation> o{
      {"mcs-collapses",
       "MCS collapses under multiprogramming",
       "with the most processes it takes at least twice as long as with one for each processor",
       {},
       {}},
      {"herlihy-degrades", "Herlihy's object degrades with N", "the larger N is slower at every process count", {}, {}},
      {"assignment-wins",
       "k-assignment beats both in most cases",
       "over all k and all counts of more processes than processors it is faster than MCS and both Herlihy objects "
       "more often than not",
       {},
       {}},
      {"larger-k",
       "larger k is better as multiprogramming rises",
       "k = 16 beats k = 1 with the most processes, and by more than with one for each processor",
       {},
       {}},
      {"full-worse",
       "full wait-freedom is worse again",
       "the best k beats the better Herlihy object at most counts of more processes than processors",
       {},
       {}},
      {"one-beats-mcs", "k = 1 beats MCS", "it is faster at most counts of more processes than processors", {}, {}},
      {"copying",
       "copying costs move the balance",
       fmt::format("k = 1, which copies nothing, does better beside the best larger k with a queue of {} places than "
                   "with one of {}",
                   large_queue_capacity, queue_capacity),
       {},
       {}}};
  for (queue_observation& one : o) one.evidence = "not measured";
  collapse(f, o[0]);
  degrades(f, o[1], counts);
  beats_both(f, o[2]);
  larger_k(f, o[3]);
  full_is_worse(f, o[4]);
  one_beats_mcs(f, o[5]);
  copying_matters(all, other, o[6]);
  return o;
}

namespace {

nlohmann::json to_json(const std::vector<queue_curve>& all) {
  nlohmann::json curves = nlohmann::json::array();
  for (const queue_curve& c : all) {
    nlohmann::json points = nlohmann::json::array();
    for (const queue_point& p : c.points)
      points.push_back({{"processes", p.processes},
                        {"operations", p.operations},
                        {"done", p.done},
                        {"seconds", p.seconds},
                        {"total_seconds", p.total_seconds()}});
    curves.push_back(
        {{"id", c.id}, {"name", c.name}, {"k", c.k}, {"herlihy", c.herlihy}, {"points", std::move(points)}});
  }
  return curves;
}

}  // namespace

nlohmann::json to_json(const queue_curves& all) {
  return {{"experiment", setting_of(all.figure).name},
          {"processors", all.processors},
          {"places", queue_capacity},
          {"curves", to_json(all.curves)},
          {"large_queue", {{"places", large_queue_capacity}, {"curves", to_json(all.large)}}}};
}

nlohmann::json to_json(const std::vector<queue_observation>& observations) {
  nlohmann::json j = nlohmann::json::array();
  for (const queue_observation& o : observations)
    j.push_back(
        {{"id", o.id}, {"claim", o.claim}, {"rule", o.rule}, {"holds", to_string(o.holds)}, {"evidence", o.evidence}});
  return j;
}

}  // namespace kgate::lab
