// spmv: large is a stiffness-like matrix of 11,948 rows with 12 elements each on average, 50 products, 374 blocks
// of 32.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace spmv {

constexpr std::uint32_t kBlock = 32;

struct Element {
  std::uint32_t column;
  float value;
};
using Rows = std::vector<std::vector<Element>>;

// Most elements lie near the diagonal in short runs, as neighbouring unknowns of a mesh do; some couple far parts.
Rows generate(std::uint32_t count) {
  Random random(0x59a9);
  Rows rows(count);
  for (std::uint32_t r = 0; r < count; ++r) {
    const std::uint32_t length = 3 + random.below(8) + (random.below(4) == 0 ? random.below(38) : 0);
    std::set<std::uint32_t> columns{r};
    while (columns.size() < std::min(length, count / 2)) {
      const bool far = random.below(8) == 0;
      const std::uint32_t run = far ? random.below(count) : r + count + random.below(256) - 128;
      for (std::uint32_t i = 0; i < 3; ++i) columns.insert((run + i) % count);
    }
    for (const std::uint32_t column : columns) rows[r].push_back({column, random.uniform(-1, 1)});
  }
  return rows;
}

struct Jagged {
  std::vector<float> values;
  std::vector<std::uint32_t> columns, row_of, diagonal, depth;
};

Jagged jagged(const Rows& rows) {
  Jagged j;
  j.row_of.resize(rows.size());
  std::iota(j.row_of.begin(), j.row_of.end(), 0U);
  std::stable_sort(j.row_of.begin(), j.row_of.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rows[a].size() > rows[b].size(); });
  const std::size_t groups = (rows.size() + kBlock - 1) / kBlock;
  for (std::size_t g = 0; g < groups; ++g)
    j.depth.push_back(static_cast<std::uint32_t>(rows[j.row_of[g * kBlock]].size()));
  // Depths fall with the group, so the groups that have a k-th element are the first ones.
  for (std::uint32_t k = 0; k < j.depth[0]; ++k) {
    j.diagonal.push_back(static_cast<std::uint32_t>(j.values.size()));
    for (std::size_t g = 0; g < groups && j.depth[g] > k; ++g)
      for (std::size_t i = g * kBlock; i < (g + 1) * kBlock; ++i) {
        const std::vector<Element>* row = i < rows.size() ? &rows[j.row_of[i]] : nullptr;
        const bool present = row != nullptr && row->size() > k;
        j.values.push_back(present ? (*row)[k].value : 0.0F);
        j.columns.push_back(present ? (*row)[k].column : 0);
      }
  }
  return j;
}

Case make(Size size) {
  const auto count = at(size, 1024U, 8192U, 11948U);
  const Rows rows = generate(count);
  const Jagged j = jagged(rows);
  Random random(0x59aa);
  const std::vector<float> x = uniform_floats(random, count, -1, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto values = app.add("values", j.values), columns = app.add("columns", j.columns);
  const auto row_of = app.add("row_of", j.row_of), diagonal = app.add("diagonal", j.diagonal);
  const auto depth = app.add("depth", j.depth), dx = app.add("x", x);
  const auto y = app.add_uninitialized("y", x.size() * sizeof(float));
  for (const auto id : {values, columns, row_of, diagonal, depth, dx}) app.upload(id);
  for (int i = 0; i < at(size, 4, 50, 50); ++i)
    app.launch({"spmv",
                {blocks_for(count, kBlock)},
                {kBlock},
                arguments(values, columns, row_of, diagonal, depth, dx, y, count)});
  app.download(y);

  std::vector<float> expected(count);
  for (std::uint32_t r = 0; r < count; ++r) {
    double sum = 0;
    for (const Element& e : rows[r]) sum += double{e.value} * x[e.column];
    expected[r] = static_cast<float>(sum);
  }
  // At most 50 terms below 1: 50 roundings of partial sums below 16.
  c.expect(y, expected, 50 * 16 * 0x1p-24);
  return c;
}

}  // namespace spmv

Benchmark benchmark_spmv() {
  return {.name = "spmv",
          .about = "sparse matrix times vector, jagged diagonal storage",
          .suite = "Parboil",
          .aliases = {"SPMV"},
          .kernels = {{"spmv", "spmv"}},
          .make = spmv::make};
}

}  // namespace wm::zoo
