// At the large size the launches are those of the papers' tables (geometry.csv).
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "base/pattern.h"
#include "kernels/benchmark.h"
#include "kernels/table.h"

namespace wm::zoo {

namespace {

struct Geometry {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;  // over all launches
  std::uint64_t threads = 0;

  [[nodiscard]] std::uint64_t mean_blocks() const {
    return static_cast<std::uint64_t>(std::lround(static_cast<double>(blocks) / static_cast<double>(launches)));
  }
};

std::map<std::string, Geometry> geometry(const gpu::Application& app) {
  std::map<std::string, Geometry> by_entry;
  for (const gpu::Step& step : app.steps)
    if (const auto* l = std::get_if<gpu::Launch>(&step); l != nullptr) {
      Geometry& g = by_entry[l->kernel];
      ++g.launches;
      g.blocks += l->grid.count();
      g.threads = l->block.count();
    }
  return by_entry;
}

// Bytes of the .shared variables an entry declares, as the compiler wrote them.
std::uint64_t shared_bytes(std::string_view ptx, const std::string& entry) {
  const std::size_t from = ptx.find(".entry " + entry + "(");
  const std::string body(ptx.substr(from, ptx.find("\n}", from) - from));
  static const Pattern variable(R"(\.shared \.align [0-9]+ \.[a-z]+([0-9]+) [^[;]+(\[([0-9]+)\])?;)");
  std::uint64_t bytes = 0;
  for (const Pattern::Match& found : variable.matches(body))
    bytes += std::stoull(found[1]) / 8 * (found[3].empty() ? 1 : std::stoull(found[3]));
  return bytes;
}

class AtLarge : public testing::TestWithParam<std::string> {};

std::vector<std::string> benchmarks_with_geometry() {
  std::vector<std::string> names;
  for (const Row& row : read_table("geometry.csv"))
    if (names.empty() || names.back() != row.at("benchmark")) names.push_back(row.at("benchmark"));
  return names;
}

}  // namespace

TEST_P(AtLarge, LaunchesMatchThePapersTables) {
  const auto entry = find(GetParam());
  ASSERT_TRUE(entry.ok());
  const Benchmark& benchmark = (*entry)->benchmark;
  const auto launched = geometry(benchmark.make(Size::large).application);
  for (const Row& row : read_table("geometry.csv")) {
    if (row.at("benchmark") != benchmark.name) continue;
    const auto same = [&](const char* column, std::uint64_t value) {
      if (row.at(column) == "-") return;
      EXPECT_EQ(std::to_string(value), row.at(column)) << row.at("kernel") << ' ' << column;
    };
    bool found = false;
    for (const Kernel& k : benchmark.kernels) {
      if (k.name != row.at("kernel")) continue;
      found = true;
      const Geometry& g = launched.at(k.entry);
      same("launches", g.launches);
      same("blocks", g.mean_blocks());
      same("threads", g.threads);
      same("shared", shared_bytes((*entry)->ptx, k.entry));
    }
    EXPECT_TRUE(found) << row.at("kernel");
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, AtLarge, testing::ValuesIn(benchmarks_with_geometry()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace wm::zoo
