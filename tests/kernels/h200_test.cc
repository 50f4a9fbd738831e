// The committed comparison with a real GPU covers all of the zoo and found no difference.
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "kernels/benchmark.h"
#include "tree.h"

namespace wm::zoo {
namespace {

std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("benchmark,")) continue;
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, ',');) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

TEST(H200, GaveTheExecutorsBuffersForEveryBenchmark) {
  std::set<std::string> seen;
  for (const auto& row : rows_of(source_path("validation/h200/zoo.csv"))) {
    ASSERT_EQ(row.size(), 11U);
    seen.insert(row[0] + " " + row[1]);
    EXPECT_EQ(row[10], "true") << row[0] << " " << row[1] << " " << row[2];
    // The tickets that atomics hand out are in any order; a denoised pixel may round the other way.
    if (row[3] == "as a whole") {
      EXPECT_TRUE(row[0] == "atomics" || row[0] == "denoise") << row[0];
    } else {
      EXPECT_EQ(row[6], "0") << row[0] << " " << row[2] << ": outside the benchmark's tolerance";
    }
  }
  for (const Entry& e : entries()) {
    if (e.benchmark.constant_pointers) continue;  // a CUDA driver cannot run it
    for (const char* size : {" small", " medium"})
      EXPECT_TRUE(seen.contains(e.benchmark.name + size)) << e.benchmark.name << size;
  }
}

}  // namespace
}  // namespace wm::zoo
