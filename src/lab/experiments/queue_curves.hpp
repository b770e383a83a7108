// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The experiment of Anderson & Moir 1997, section 6: a fixed number of priority-queue operations divided among P
/// processes that share fewer processors, and how long they take all together. What a run of it gives, on whatever
/// machine.

#include <algorithm>
#include <string>
#include <vector>

namespace kgate::lab {

/// Which of the paper's two figures: they differ in the k-exclusion (nested fast paths over figure 3 or figure 8), in
/// the number of operations, and in the sizes of Herlihy's object.
enum class queue_figure { fig10, fig11 };

struct queue_setting {
  const char* name;   ///< "fig10"
  const char* block;  ///< "figure 3"
  int operations;     ///< in all
  int herlihy[2];     ///< for how many processes Herlihy's object is made
};

constexpr queue_setting setting_of(queue_figure f) {
  return f == queue_figure::fig10 ? queue_setting{"fig10", "figure 3", 50'000, {100, 200}}
                                  : queue_setting{"fig11", "figure 8", 20'000, {200, 400}};
}

/// The paper's number a hundredfold: today's processors would finish that number within a time slice, and no thread
/// would be preempted.
constexpr long native_operations(queue_figure f) { return 100L * setting_of(f).operations; }

/// The k of the curves of the paper's own method.
inline constexpr int queue_resilience[] = {1, 2, 4, 8, 16};

/// The capacity of the queue, and that where copying is to cost more: it is half full, so sixteen times as much
/// is copied.
inline constexpr int queue_capacity = 16;
inline constexpr int large_queue_capacity = 256;

/// One measurement.
struct queue_point {
  int processes = 0;
  long operations = 0;  ///< asked for
  long done = 0;        ///< fewer if time was up
  double seconds = 0;   ///< from the start to the end of the last process
  bool finished() const { return done == operations; }
  /// How long all operations take at the rate seen: the time itself if it finished.
  double total_seconds() const {
    return done == 0 ? 0 : seconds * static_cast<double>(operations) / static_cast<double>(done);
  }
};

struct queue_curve {
  std::string id;    ///< mcs, herlihy-100, k-4, ...: for machines
  std::string name;  ///< for people
  int k = 0;         ///< of the k-assignment; 0: none
  int herlihy = 0;   ///< for how many processes Herlihy's object is made; 0: none, the object is changed in place
  std::vector<queue_point> points;  ///< every measurement, in order of P; several with the same P are repetitions
};

struct queue_curves {
  queue_figure figure = queue_figure::fig10;
  int processors = 0;
  std::vector<queue_curve> curves;
  std::vector<queue_curve> large;  ///< k-assignment once more, with the large queue, at counts_of_large()
};

/// The large queue is measured at the least, the middle and the greatest of the process counts.
inline std::vector<int> counts_of_large(const std::vector<int>& processes) {
  std::vector<int> some = processes;
  std::sort(some.begin(), some.end());
  if (some.size() > 3) some = {some.front(), some[some.size() / 2], some.back()};
  return some;
}

}  // namespace kgate::lab
