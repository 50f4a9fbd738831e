// Every key of the GPU configurations is in docs/reference/yaml.md.
#include <cctype>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "structure/source_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

// The words in front of a colon, without those of comments.
std::set<std::string> keys_of(std::string_view line) {
  std::set<std::string> keys;
  std::string word;
  for (const char c : line.substr(0, line.find('#'))) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (c == ':' && !word.empty()) keys.insert(word);
    word.clear();
  }
  return keys;
}

TEST(YamlKeys, AreTheWordsBeforeColons) {
  EXPECT_THAT(keys_of("l1: {size: 16 KB, ways: 4}  # note: no key"), ::testing::ElementsAre("l1", "size", "ways"));
}

TEST(SourceTree, EveryKeyOfAGpuIsDocumented) {
  const std::filesystem::path root = source_path();
  const std::string page = read_text(root / "docs/reference/yaml.md");
  std::set<std::string> missing;
  for (const std::filesystem::path& file : files_below(root, "configs/gpus")) {
    for_each_line(root / file, [&](int, std::string_view line) {
      if (line.starts_with("about:")) return;
      for (const std::string& key : keys_of(line)) {
        if (page.find("`" + key + "`") == std::string::npos) missing.insert(key);
      }
    });
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

}  // namespace
}  // namespace wm::structure
