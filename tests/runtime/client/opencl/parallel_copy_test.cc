#include "runtime/client/opencl/process/parallel_copy.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace wm::runtime::client {
namespace {

TEST(ParallelCopy, BlocksOfAllSizesAreCopiedCompletely) {
  ParallelCopy parallel;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, (std::size_t{1} << 20) + 13}) {
    std::vector<std::byte> from(size), to(size);
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i * 7);
    parallel.copy(to.data(), from.data(), size);
    EXPECT_EQ(to, from) << size;
  }
}

TEST(ParallelCopy, SeveralThreadsMayCopyAtOnce) {
  ParallelCopy parallel;
  const std::vector<std::byte> from(1 << 20, std::byte{42});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        std::vector<std::byte> to(from.size());
        parallel.copy(to.data(), from.data(), to.size());
        EXPECT_EQ(to, from);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace wm::runtime::client
