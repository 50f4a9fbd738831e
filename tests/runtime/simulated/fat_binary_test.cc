// Containers as nvcc makes them, put together here, are read; damaged ones are refused.
#include "runtime/simulated/fat_binary.h"

#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/simulated/container.h"

namespace wm::runtime {
namespace {

TEST(FatBinary, IsFoundByAThreadThatOutlivesTheMainThread) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer cannot join the main thread";
#endif
  const auto bytes = container({{.payload = ".version 8.0"}});
  const ::pid_t child = ::fork();
  if (child == 0) {
    static const auto* const image = &bytes;
    static ::pthread_t main_thread;
    main_thread = ::pthread_self();
    ::pthread_t thread;
    const auto read = [](void*) -> void* {
      ::pthread_join(main_thread, nullptr);
      ::_exit(fat_binary_bytes(image->data()) == image->size() ? 0 : 1);
    };
    if (::pthread_create(&thread, nullptr, read, nullptr) != 0) ::_exit(2);
    ::syscall(SYS_exit, 0);  // ends this thread, not the process
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(FatBinary, TheNewestPtxThatTheGpuRunsIsChosen) {
  const auto bytes = container({{.architecture = 75, .payload = "seventy-five"},
                                {.kind = 2, .architecture = 90, .payload = "machine code"},
                                {.architecture = 90, .payload = "ninety"},
                                {.architecture = 100, .payload = "hundred"}});
  EXPECT_EQ(fat_binary_bytes(bytes.data()), bytes.size());
  EXPECT_EQ(*best_ptx(bytes, 90), "ninety");
  EXPECT_EQ(*best_ptx(bytes, 80), "seventy-five");
  EXPECT_EQ(*best_ptx(bytes, 120), "hundred");
}

TEST(FatBinary, ASizeBeyondReadableMemoryIsAnError) {
  auto bytes = container({{.architecture = 90, .payload = "ninety"}});
  for (const std::uint64_t size : {std::uint64_t{1} << 56, ~std::uint64_t{0}}) {
    put(bytes, 8, size);
    const std::uint64_t read = fat_binary_bytes(bytes.data());
    EXPECT_GE(read, bytes.size());
    EXPECT_LT(read, std::uint64_t{1} << 47);
    EXPECT_FALSE(best_ptx({bytes.data(), read}, 90));
  }
}

TEST(FatBinary, MachineCodeOnlyIsAnErrorWithAdvice) {
  const auto bytes =
      container({{.kind = 2, .architecture = 90, .payload = "code"}, {.architecture = 100, .payload = "x"}});
  EXPECT_EQ(best_ptx(bytes, 90).error().what,
            "the program has no PTX for sm_90 or older (PTX for sm_100, machine code for sm_90): build it with nvcc "
            "-gencode arch=compute_90,code=compute_90");
}

TEST(FatBinary, Lz4IsDecompressed) {
  // Nine literals, then a match of 9 bytes from 3 back, then two literals.
  const std::string data(
      "\x95"
      "abcabcabc"
      "\x03\x00"
      "\x20"
      "!!",
      15);
  const std::string text = "abcabcabcabcabcabc!!";
  EXPECT_EQ(*decompress_lz4(std::as_bytes(std::span(data)), text.size()), text);
  EXPECT_EQ(*best_ptx(container({{.payload = data, .flags = 0x2000, .uncompressed = text.size()}}), 90), text);
  EXPECT_FALSE(decompress_lz4(std::as_bytes(std::span(data)), text.size() + 1));
  EXPECT_FALSE(decompress_lz4(std::as_bytes(std::span(data)).first(11), text.size()));
  const std::string before_start(
      "\x10"
      "a"
      "\x02\x00",
      4);
  EXPECT_FALSE(decompress_lz4(std::as_bytes(std::span(before_start)), 5));
}

TEST(FatBinary, AContainerThatIsCutOffIsRefused) {
  const auto bytes = container({{.payload = "some text that is long enough"}});
  EXPECT_FALSE(read_fat_binary(std::span(bytes).first(15)));
  EXPECT_FALSE(read_fat_binary(std::span(bytes).first(bytes.size() - 1)));
  auto longer = bytes;
  put(longer, 16 + 8, std::uint64_t{1} << 40);
  EXPECT_FALSE(read_fat_binary(longer));
  auto header = bytes;
  put(header, 16 + 4, std::uint32_t{1});
  EXPECT_FALSE(read_fat_binary(header));
}

}  // namespace
}  // namespace wm::runtime
