// SPDX-License-Identifier: Apache-2.0

/// Those of Choi's invariants that speak of shared variables and places in the text, in every state: I1, I2, I3, I4 and
/// I11, and observation O4. I5 to I10 speak of private variables, and are what these are proved with.

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/choi11.hpp"

namespace kgate::lab {
namespace {

using choi11::ticket;

/// The variables are made in this order: Entry, Exit, A[0] .. A[N-1].
class invariants {
 public:
  invariants(int n, int k, int slots, bool linear) : n_(n), k_(k), N_(slots), linear_(linear) {}

  std::string broken(const state_view& s) const {
    const auto value = [&](int v) { return from_bytes<ticket>(s.value(v)); };
    const ticket entry = value(0), exit = value(1), k = static_cast<ticket>(k_), N = static_cast<ticket>(N_);
    const auto enabled = [&](ticket t) {
      const int j = static_cast<int>(t % k);
      const choi11::slot_set waits = linear_ ? own(j) : choi11::wait_set(j, k_);
      return std::any_of(waits.begin(), waits.end(),
                         [&](int w) { return value(2 + static_cast<int>(t % N / k * k) + w) >= t / N + 1; });
    };
    int between = 0, inside = 0;
    for (int p = 0; p < n_; ++p) {
      inside += s.where(p) == region::critical;
      between += s.where(p) == region::critical || s.where(p) == region::entry;
    }
    if (entry != exit + static_cast<ticket>(between)) return "I1";
    if (inside > k_) return "I3";
    bool one_before = true;
    ticket all_enabled = 0;
    for (ticket t = 0; t < exit + k + 2 * N; ++t) {
      const bool now = enabled(t);
      if (now && t >= exit + k) return "I2";
      if (!now && t < exit) return "I4";
      if (now && !one_before) return "I11";
      one_before = now;
      all_enabled += now;
    }
    if (exit + static_cast<ticket>(inside) > all_enabled) return "O4";
    return "";
  }

 private:
  static choi11::slot_set own(int j) {
    choi11::slot_set one;
    one.add(j);
    return one;
  }
  int n_, k_, N_;
  bool linear_;
};

verdict decided(const char* algorithm, int n, int k, int passages, int slots) {
  const trial size{algorithm, n, k, passages};
  auto model = make_model(find_algorithm(algorithm), n, k);
  const invariants all(n, k, slots, std::string_view(algorithm) == "choi11-linear");
  model->invariant = [&](const state_view& s) { return all.broken(s); };
  program p(std::move(model), n, k, options_of(size));
  check_request request;
  request.of = size.name();
  request.properties = {"invariant"};
  request.limits.threads = 2;
  return check(p, request).properties.at(0).is;
}

TEST(choi11_invariants, hold_in_every_state) {
  EXPECT_EQ(decided("choi11", 3, 2, 2, 6), verdict::holds);
  EXPECT_EQ(decided("choi11", 4, 3, 1, 9), verdict::holds);
  EXPECT_EQ(decided("choi11-compact", 3, 2, 2, 4), verdict::holds);
  EXPECT_EQ(decided("choi11-linear", 3, 2, 2, 6), verdict::holds);
}
TEST(choi11_invariants, fail_for_misreadings) {
  EXPECT_EQ(decided("choi11-as-printed-rounding", 3, 2, 2, 6), verdict::violated);
  EXPECT_EQ(decided("choi11-descending", 3, 2, 2, 6), verdict::violated) << "I11 fails before FIFE does";
}

}  // namespace
}  // namespace kgate::lab
