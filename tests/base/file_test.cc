#include "base/file.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace wm {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("wm-file-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, WrittenTextIsReadBack) {
  const std::string content("line\n\0binary\xff", 13);
  ASSERT_TRUE(write_file(path("a"), content));
  EXPECT_EQ(*read_file(path("a")), content);
  EXPECT_EQ(files(), 1U) << "nothing stays beside the file";
}

TEST_F(FileTest, AFileIsReplacedWhole) {
  ASSERT_TRUE(write_file(path("a"), std::string(100'000, 'x')));
  ASSERT_TRUE(write_file(path("a"), "short"));
  EXPECT_EQ(*read_file(path("a")), "short");
}

TEST_F(FileTest, AFailureLeavesNothingBehind) {
  fs::create_directories(folder_ / "taken" / "inside");  // a folder in the file's place: the rename must fail
  const auto outcome = write_file(path("missing/a"), "x");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().what, "cannot write '" + path("missing/a") + "': No such file or directory");
  EXPECT_FALSE(write_file(path("taken"), "x"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, ADeviceIsWrittenInPlace) { EXPECT_TRUE(write_file("/dev/null", "x")); }

TEST_F(FileTest, NoMoreIsReadThanTheLimit) {
  ASSERT_TRUE(write_file(path("a"), std::string(100'000, 'x')));
  EXPECT_EQ(read_file(path("a"), 100'000)->size(), 100'000U);
  EXPECT_EQ(read_file(path("a"), 99'999).error().what, "'" + path("a") + "' has more than 99999 bytes");
  EXPECT_EQ(read_file("/dev/zero", 1 << 20).error().what, "'/dev/zero' has more than 1048576 bytes");
}

TEST_F(FileTest, AFolderIsNoFile) {
  EXPECT_EQ(read_file(folder_.string()).error().what, "'" + folder_.string() + "' is a folder");
}

}  // namespace
}  // namespace wm
