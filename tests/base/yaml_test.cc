#include "base/yaml.h"

#include <gtest/gtest.h>

#include "base/yaml_map.h"

namespace wm::yaml {
namespace {

struct Sm {
  std::uint32_t threads = 0;
  std::uint8_t blocks = 16;
  Bytes registers;
};

Result<Sm> read_sm(const std::string& text) {
  const auto value = load(text, "gpu.yaml");
  if (!value) return value.error();
  Map top(*value, "");
  Sm sm;
  if (const Value* inner = top.take("sm")) {
    Map map(*inner, "sm");
    map.required("threads", sm.threads).optional("blocks", sm.blocks).required("registers", sm.registers);
    if (auto read = map.finish(); !read) return read.error();
  } else {
    top.miss("sm");
  }
  if (auto read = top.finish(); !read) return read.error();
  return sm;
}

std::string complaint(const std::string& text) {
  const auto sm = read_sm(text);
  return sm ? "" : sm.error().to_string();
}

TEST(Yaml, AGoodFileIsRead) {
  const auto sm = read_sm("sm: {threads: 2048, registers: 256 KB}");
  ASSERT_TRUE(sm) << sm.error().to_string();
  EXPECT_EQ(sm->threads, 2048U);
  EXPECT_EQ(sm->blocks, 16);
  EXPECT_EQ(sm->registers, Bytes{262144});
}

TEST(Yaml, AnUnknownKeyIsNamedWithItsLineAndTheOneMeant) {
  EXPECT_EQ(complaint("# a machine\nsm:\n  treads: 2048\n  registers: 256 KB\n"),
            "gpu.yaml:3: unknown key 'treads' in sm (did you mean 'threads'?)");
}

TEST(Yaml, AMissingKeyIsNamed) {
  EXPECT_EQ(complaint("sm: {registers: 1 KB}"), "gpu.yaml:1: missing key 'threads' in sm");
  EXPECT_EQ(complaint("{}"), "gpu.yaml:1: missing key 'sm'");
}

TEST(Yaml, AWrongTypeSaysWhatWasWanted) {
  EXPECT_EQ(complaint("sm: {threads: many, registers: 1 KB}"),
            "gpu.yaml:1: 'threads' in sm must be a whole number from 0 to 4294967295, not 'many'");
  EXPECT_EQ(complaint("sm: {threads: 1, blocks: 256, registers: 1 KB}"),
            "gpu.yaml:1: 'blocks' in sm must be a whole number from 0 to 255, not '256'");
  EXPECT_EQ(complaint("sm: {threads: '1', registers: 1 KB}"),
            "gpu.yaml:1: 'threads' in sm must be a whole number from 0 to 4294967295, not '1'");
  EXPECT_EQ(complaint("sm: {threads: [1], registers: 1 KB}"),
            "gpu.yaml:1: 'threads' in sm must be a whole number from 0 to 4294967295, not a list");
  EXPECT_EQ(complaint("sm: 7"), "gpu.yaml:1: sm must be a map, not '7'");
  EXPECT_EQ(complaint("- a"), "gpu.yaml:1: the file must be a map, not a list");
}

TEST(Yaml, AQuantityNeedsItsUnit) {
  EXPECT_EQ(complaint("sm: {threads: 1, registers: 64}"),
            "gpu.yaml:1: 'registers' in sm: '64' lacks a unit (B, KB, MB, GB, KiB, MiB, GiB)");
}

TEST(Yaml, AKeyGivenTwiceIsAnError) {
  EXPECT_EQ(complaint("sm: {threads: 1, threads: 2, registers: 1 KB}"), "gpu.yaml:1: key 'threads' is given twice");
}

TEST(Yaml, BrokenTextIsAnErrorWithItsLine) {
  EXPECT_TRUE(complaint("sm:\n  - [1, 2\n").starts_with("gpu.yaml:")) << complaint("sm:\n  - [1, 2\n");
  EXPECT_EQ(complaint(""), "gpu.yaml: the file is empty");
  EXPECT_EQ(complaint("a: 1\n---\nb: 2\n"), "gpu.yaml: more than one document");
}

TEST(Yaml, AliasesCannotBlowUpMemory) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + last;
    for (int j = 0; j < 9; ++j) bomb += ", *a" + last;
    bomb += "]\n";
  }
  const auto value = load(bomb, "bomb.yaml");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().what, "too many values");
}

TEST(Yaml, ListsOfNumbersAreRead) {
  const auto value = load("grid: [4, 2, -1]", "k.yaml");
  ASSERT_TRUE(value);
  Map map(*value, "");
  std::vector<std::int32_t> grid;
  map.required("grid", grid);
  EXPECT_TRUE(map.finish());
  EXPECT_EQ(grid, (std::vector<std::int32_t>{4, 2, -1}));

  std::vector<std::uint32_t> positive;
  EXPECT_EQ(read(map.take("grid")[0], "'grid'", positive).error().to_string(),
            "k.yaml:1: item 3 of 'grid' must be a whole number from 0 to 4294967295, not '-1'");
}

TEST(Yaml, BooleansNumbersAndTextAreTold) {
  const auto value = load("{yes: true, x: 1.5, name: sgemm, bad: 1}", "k.yaml");
  ASSERT_TRUE(value);
  Map map(*value, "");
  bool yes = false;
  bool bad = false;
  double x = 0;
  std::string name;
  map.required("yes", yes).required("x", x).required("name", name);
  EXPECT_TRUE(yes);
  EXPECT_EQ(x, 1.5);
  EXPECT_EQ(name, "sgemm");
  map.required("bad", bad);
  EXPECT_EQ(map.finish().error().to_string(), "k.yaml:1: 'bad' must be true or false, not '1'");
}

TEST(Yaml, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(load_file("/no/such/file.yaml").error().to_string(),
            "cannot read '/no/such/file.yaml': No such file or directory");
}

}  // namespace
}  // namespace wm::yaml
