// SPDX-License-Identifier: Apache-2.0
// Table 1 of Anderson & Moir, for every row whose algorithm is in the catalogue: how the remote references of a passage
// grow with N without contention, that is if no other is outside its remainder; and which are starvation free, which in
// that paper means despite k-1 crashes.

#include <gtest/gtest.h>

#include <array>

#include "lab/experiments/rmr_table.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

enum class growth { constant, linear, quadratic };

struct table_row {
  const char* id;
  memory_model model;
  growth with_N;
  bool starvation_free = true;
  std::array<int, 3> N{4, 8, 16};
};
constexpr std::array up_to_12{4, 8, 12};
constexpr std::array up_to_4{2, 3, 4};
std::ostream& operator<<(std::ostream& out, const table_row& r) { return out << r.id << ' ' << to_string(r.model); }

int alone(const table_row& r, int N) {
  const int k = std::min(2, find_algorithm(r.id).base->allowed.k_max);
  return sample_rmr(find_algorithm(r.id), N, k, {r.model, true}, 1, 3'000U * static_cast<unsigned>(N)).worst;
}

class Table1 : public testing::TestWithParam<table_row> {};
TEST_P(Table1, GrowsWithoutContentionAsItSays) {
  const table_row& r = GetParam();
  const int few = alone(r, r.N[0]), more = alone(r, r.N[1]), most = alone(r, r.N[2]);
  SCOPED_TRACE(testing::Message() << few << ' ' << more << ' ' << most);
  EXPECT_GT(few, 0);
  switch (r.with_N) {
    case growth::constant:
      EXPECT_EQ(more, few);
      EXPECT_EQ(most, few);
      break;
    case growth::linear:
      EXPECT_EQ((most - more) * (r.N[1] - r.N[0]), (more - few) * (r.N[2] - r.N[1]));
      EXPECT_GT(more, few);
      break;
    case growth::quadratic:
      EXPECT_GT(most - more, 3 * (more - few));
      EXPECT_LE(most - more, 5 * (more - few));
      break;
  }
}
TEST_P(Table1, IsStarvationFreeOrNotAsItSays) {
  const catalog::promises promise = find_algorithm(GetParam().id).promise();
  EXPECT_EQ(promise.starvation_free && promise.despite != catalog::crashes::none, GetParam().starvation_free);
}
INSTANTIATE_TEST_SUITE_P(Rows, Table1,
                         testing::Values(table_row{"flbb79-tickets", memory_model::cc, growth::constant},
                                         table_row{"flbb79-tickets", memory_model::dsm, growth::constant},
                                         table_row{"flbb79-bounded", memory_model::cc, growth::constant},
                                         table_row{"flbb79-bounded", memory_model::dsm, growth::constant},
                                         table_row{"flbb79-fifo", memory_model::cc, growth::constant, true, up_to_12},
                                         table_row{"flbb79-fifo", memory_model::dsm, growth::constant, true, up_to_12},
                                         table_row{"afek94-fife", memory_model::cc, growth::linear},
                                         table_row{"afek94-fife", memory_model::dsm, growth::linear},
                                         table_row{"afek94-bounded", memory_model::cc, growth::linear, true, up_to_4},
                                         table_row{"afek94-bounded", memory_model::dsm, growth::linear, true, up_to_4},
                                         table_row{"peterson-k", memory_model::cc, growth::linear, false},
                                         table_row{"peterson-k", memory_model::dsm, growth::quadratic, false},
                                         table_row{"fa-semaphore", memory_model::cc, growth::constant, false},
                                         table_row{"fa-semaphore", memory_model::dsm, growth::constant, false},
                                         table_row{"am97-fastpath-tree-cc", memory_model::cc, growth::constant},
                                         table_row{"am97-fastpath-nested-cc", memory_model::cc, growth::constant},
                                         table_row{"am97-fastpath-tree-dsm", memory_model::dsm, growth::constant},
                                         table_row{"am97-fastpath-nested-dsm", memory_model::dsm, growth::constant},
                                         table_row{"am97-fastpath-tree-dsm-small", memory_model::dsm, growth::constant},
                                         table_row{"am97-fastpath-nested-dsm-small", memory_model::dsm,
                                                   growth::constant}),
                         [](const auto& it) {
                           std::string name = std::string(it.param.id) + "_" + std::string(to_string(it.param.model));
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace kgate::lab
