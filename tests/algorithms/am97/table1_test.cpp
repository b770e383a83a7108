// SPDX-License-Identifier: Apache-2.0
// Table 1 of Anderson & Moir, its column without contention: how the remote references of a passage grow with N if
// nobody else is outside its remainder, for every row whose algorithm is in the catalogue.

#include <gtest/gtest.h>

#include "lab/experiments/rmr_table.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

enum class growth { constant, linear, quadratic };

struct table_row {
  const char* id;
  memory_model model;
  growth with_N;
};
std::ostream& operator<<(std::ostream& out, const table_row& r) { return out << r.id << ' ' << to_string(r.model); }

int alone(const table_row& r, int N) {
  const int k = std::min(2, find_algorithm(r.id).base->allowed.k_max);
  return sample_rmr(find_algorithm(r.id), N, k, {r.model, true}, 1, 3'000U * static_cast<unsigned>(N)).worst;
}

class Table1 : public testing::TestWithParam<table_row> {};
TEST_P(Table1, GrowsWithoutContentionAsItSays) {
  const table_row& r = GetParam();
  const int at4 = alone(r, 4), at8 = alone(r, 8), at16 = alone(r, 16);
  SCOPED_TRACE(testing::Message() << at4 << ' ' << at8 << ' ' << at16);
  EXPECT_GT(at4, 0);
  switch (r.with_N) {
    case growth::constant:
      EXPECT_EQ(at8, at4);
      EXPECT_EQ(at16, at4);
      break;
    case growth::linear:
      EXPECT_EQ(at16 - at8, 2 * (at8 - at4));
      EXPECT_GT(at8, at4);
      break;
    case growth::quadratic:
      EXPECT_GT(at16 - at8, 3 * (at8 - at4));
      EXPECT_LE(at16 - at8, 5 * (at8 - at4));
      break;
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, Table1,
                         testing::Values(table_row{"flbb79-tickets", memory_model::cc, growth::constant},
                                         table_row{"flbb79-tickets", memory_model::dsm, growth::constant},
                                         table_row{"flbb79-bounded", memory_model::dsm, growth::constant},
                                         table_row{"afek94-fife", memory_model::dsm, growth::linear},
                                         table_row{"peterson-k", memory_model::cc, growth::linear},
                                         table_row{"peterson-k", memory_model::dsm, growth::quadratic},
                                         table_row{"fa-semaphore", memory_model::cc, growth::constant},
                                         table_row{"fa-semaphore", memory_model::dsm, growth::constant},
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
