// The CUDA runtime API, through the library that programs load.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

#include "tree.h"

namespace wm::cuda {
namespace {

void* runtime_function(const char* name) {
  static void* library = ::dlopen(binary_path("lib/simulated/libcudart.so.13").c_str(), RTLD_NOW);
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

template <typename Result, typename... Arguments>
Result runtime_call(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<Result (*)(Arguments...)>(runtime_function(name));
  EXPECT_NE(function, nullptr) << name;
  return function == nullptr ? Result{} : function(arguments...);
}

std::string error_name(int error) { return runtime_call<const char*>("cudaGetErrorName", error); }

TEST(RuntimeLibrary, ErrorsHaveTheNamesOfTheRuntime) {
  EXPECT_EQ(error_name(0), "cudaSuccess");
  EXPECT_EQ(error_name(1), "cudaErrorInvalidValue");
  EXPECT_EQ(error_name(700), "cudaErrorIllegalAddress");
  EXPECT_EQ(error_name(801), "cudaErrorNotSupported");
  EXPECT_EQ(error_name(12345), "unrecognized error code");
}

TEST(RuntimeLibrary, EveryFunctionOfTheListsIsExported) {
  for (const char* file : {"lib/simulated/libcudart.so.12", "lib/simulated/libcudart.so.13"}) {
    void* library = ::dlopen(binary_path(file).c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << ::dlerror();
#define WM_RUNTIME(name) EXPECT_NE(::dlsym(library, #name), nullptr) << file << ": " << #name;
#define WM_RUNTIME_REFUSED(name) EXPECT_NE(::dlsym(library, #name), nullptr) << file << ": " << #name;
#include "runtime/client/cudart/implemented.def"
#include "runtime/client/cudart/refused.def"
#undef WM_RUNTIME
#undef WM_RUNTIME_REFUSED
  }
}

TEST(RuntimeLibrary, AMissingFunctionIsNotSupported) {
  EXPECT_EQ(runtime_call<int>("cudaIpcGetMemHandle", nullptr, nullptr), 801);
  EXPECT_EQ(runtime_call<int>("cudaGetLastError"), 801);
}

TEST(RuntimeLibrary, ALaunchWithoutConfigurationIsMissingIt) {
  unsigned grid[3], block[3];
  std::size_t shared = 0;
  void* stream = nullptr;
  EXPECT_EQ(error_name(runtime_call<int>("__cudaPopCallConfiguration", +grid, +block, &shared, &stream)),
            "cudaErrorMissingConfiguration");
  EXPECT_EQ(error_name(runtime_call<int>("cudaGetLastError")), "cudaErrorMissingConfiguration");
  EXPECT_EQ(runtime_call<int>("cudaGetLastError"), 0);
}

TEST(RuntimeLibrary, ACopyToAnArrayContinuesInItsNextRow) {
  struct {
    int x, y, z, w, kind;
  } const format{32, 0, 0, 0, 1};  // unsigned words
  void* array = nullptr;
  ASSERT_EQ(runtime_call<int>("cudaMallocArray", &array, static_cast<const void*>(&format), std::size_t{4},
                              std::size_t{4}, 0U),
            0);
  unsigned words[12], back[12] = {};
  for (unsigned i = 0; i < 12; ++i) words[i] = i + 1;
  const std::size_t x = 8, y = 0;  // the second half of the first row, two rows, and half of the last one
  EXPECT_EQ(runtime_call<int>("cudaMemcpyToArray", array, x, y, static_cast<const void*>(words), sizeof words, 1), 0);
  EXPECT_EQ(runtime_call<int>("cudaMemcpyFromArray", static_cast<void*>(back), array, x, y, sizeof back, 2), 0);
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(back[i], i + 1);
  EXPECT_EQ(runtime_call<int>("cudaMemcpyToArray", array, x, std::size_t{1}, static_cast<const void*>(words),
                              sizeof words, 1),
            1);
  EXPECT_EQ(runtime_call<int>("cudaFreeArray", array), 0);
  (void)runtime_call<int>("cudaGetLastError");
}

TEST(RuntimeLibrary, PoolsAndFillsInTheThreadsOwnStream) {
  const void* none = nullptr;
  void* memory = nullptr;
  void* stream = nullptr;
  ASSERT_EQ(runtime_call<int>("cudaMallocAsync_ptsz", &memory, std::size_t{64}, stream), 0);
  EXPECT_EQ(
      runtime_call<int>("cudaMemset2DAsync_ptsz", memory, std::size_t{8}, 7, std::size_t{4}, std::size_t{8}, stream),
      0);
  unsigned words[16] = {};
  EXPECT_EQ(runtime_call<int>("cudaMemcpy_ptds", static_cast<void*>(words), static_cast<const void*>(memory),
                              sizeof words, 4),
            0);
  EXPECT_EQ(words[0], 0x07070707U);
  EXPECT_EQ(words[14], 0x07070707U);
  EXPECT_NE(words[15], 0x07070707U);
  EXPECT_EQ(runtime_call<int>("cudaFreeAsync_ptsz", memory, stream), 0);
  void* entry = nullptr;
  int status = -1;
  EXPECT_EQ(runtime_call<int>("cudaGetDriverEntryPoint", "cuMemAlloc", &entry, 0ULL, &status), 0);
  EXPECT_NE(entry, none);
  EXPECT_EQ(runtime_call<int>("cudaGetDriverEntryPoint", "cuNothing", &entry, 0ULL, &status), 0);
  EXPECT_EQ(status, 1);
}

}  // namespace
}  // namespace wm::cuda
