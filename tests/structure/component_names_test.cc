// The table of components in docs/reference/yaml.md lists the files that the build finds: set WM_UPDATE_DOCS=1 to write
// it anew.
#include <array>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "structure/source_tree.h"
#include "structure/temporary_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

struct Component {
  const char* key;
  const char* about;
  const char* folder;
};

constexpr std::array kComponents{
    Component{"policy", "warp scheduler", "src/sim/cycle/sm/schedulers"},
    Component{"replacement", "cache replacement", "src/sim/cycle/memory/replacement"},
    Component{"scheduler", "DRAM scheduler", "src/sim/cycle/dram/schedulers"},
};

constexpr std::string_view kBegin = "| key | component | names (one file each) |\n|---|---|---|\n";

std::string component_table(const std::filesystem::path& root) {
  std::string table(kBegin);
  for (const Component& component : kComponents) {
    std::string names;
    for (const std::filesystem::path& file : files_below(root, component.folder)) {
      if (file.extension() != ".h") continue;
      names += (names.empty() ? "`" : ", `") + file.stem().string() + "`";
    }
    table += "| `" + std::string(component.key) + "` | " + component.about + " | " + names + " |\n";
  }
  return table;
}

// `page` with `table` in place of the one it has; unchanged if it has none.
std::string with_table(std::string page, const std::string& table) {
  const std::size_t begin = page.find(kBegin);
  if (begin == std::string::npos) return page;
  const std::size_t end = page.find("\n\n", begin);
  return page.replace(begin, end + 1 - begin, table);
}

TEST(Docs, ComponentsOfTheYamlPageAreTheFilesOfTheTree) {
  const std::filesystem::path path = source_path("docs/reference/yaml.md");
  const std::string table = component_table(source_path());
  const std::string page = read_text(path);
  ASSERT_NE(page.find(kBegin), std::string::npos);
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) std::ofstream(path) << with_table(page, table);
  EXPECT_EQ(read_text(path), with_table(page, table)) << "WM_UPDATE_DOCS=1 writes the table";
}

TEST(ComponentTable, NamesTheHeadersOfEachFolder) {
  const TemporaryTree tree;
  tree.file("src/sim/cycle/sm/schedulers/lrr.h", "");
  tree.file("src/sim/cycle/sm/schedulers/gto.h", "");
  EXPECT_EQ(component_table(tree.root()),
            std::string(kBegin) +
                "| `policy` | warp scheduler | `gto`, `lrr` |\n| `replacement` | cache replacement |  |\n"
                "| `scheduler` | DRAM scheduler |  |\n");
  EXPECT_EQ(with_table("a\n\n" + std::string(kBegin) + "| old |\n\nb\n", "new\n"), "a\n\nnew\n\nb\n");
}

}  // namespace
}  // namespace wm::structure
