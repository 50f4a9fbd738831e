// Sessions of the daemon over a device that computes nothing: conversations of chance, and those that fuzzing found.
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

#include "base/file.h"
#include "fuzz/session_run.h"
#include "tree.h"

namespace wm::runtime {
namespace {

TEST(Sessions, OfChanceEndAndLeaveNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::uint8_t> bytes(random() % 3000);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    ASSERT_TRUE(fuzz::run_session(bytes)) << "round " << round;
  }
}

TEST(Sessions, ThatFuzzingKeptEndAndLeaveNothing) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("fuzz/corpus/session"))) {
    const auto text = read_file(entry.path().string());
    ASSERT_TRUE(text.ok());
    const auto* first = reinterpret_cast<const std::uint8_t*>(text->data());
    EXPECT_TRUE(fuzz::run_session({first, text->size()})) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace wm::runtime
