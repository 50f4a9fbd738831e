// The CUDA runtime API, through the library that programs load.
#include <atomic>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "runtime/cuda/fixture.h"
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

TEST(RuntimeLibrary, AVolumeLargerThanAllMemoryIsRefused) {
  struct {
    void* first;
    std::size_t pitch, width, height;
  } memory{};
  struct Extent {
    std::size_t width, height, depth;
  };
  const std::size_t half = std::size_t{1} << 32;
  for (const Extent extent : {Extent{~std::size_t{0}, 1, 1}, Extent{half * 2, half, 1}, Extent{512, half, half}})
    EXPECT_EQ(error_name(runtime_call<int>("cudaMalloc3D", static_cast<void*>(&memory), extent)),
              "cudaErrorMemoryAllocation");
  (void)runtime_call<int>("cudaGetLastError");
}

TEST(RuntimeLibrary, ADestructorOfAThreadMayFreeMemory) {
  static int freed = -1;
  struct Owner {
    void* memory = nullptr;
    ~Owner() { freed = runtime_call<int>("cudaFree", memory); }
  };
  std::thread([] {
    thread_local Owner owner;
    owner.memory = nullptr;  // it is made before the thread's first call, and ends after what the call made
    EXPECT_EQ(runtime_call<int>("cudaMalloc", &owner.memory, std::size_t{64}), 0);
  }).join();
  EXPECT_EQ(freed, 0);
}

// A program with two fat binaries, each with a kernel that stores 5 to the address it is given.
class RegisteredProgram : public ::testing::Test {
 protected:
  RegisteredProgram() {
    for (int i = 0; i < 2; ++i) {
      text_[i] =
          module_text(kernel_text("store", ".param .u64 p", "ld.param.u64 %d1, [p]; st.global.u32 [%d1], 5; ret;"));
      binaries_[i] = runtime_call<void**>("__cudaRegisterFatBinary", static_cast<void*>(text_[i].data()));
      void* none = nullptr;
      runtime_call<int>("__cudaRegisterFunction", binaries_[i], static_cast<const char*>(host(i)), none, "store", -1,
                        none, none, none, none, none);
    }
  }
  ~RegisteredProgram() override {
    for (void** binary : binaries_) runtime_call<int>("__cudaUnregisterFatBinary", binary);
    reset();
  }

  void** binary(int i) { return binaries_[i]; }
  char* host(int kernel) { return &hosts_[kernel]; }
  int store(int kernel, void* to) {
    struct Dim {
      unsigned x = 1, y = 1, z = 1;
    };
    void *parameters[] = {&to}, *stream = nullptr;
    const int launched = runtime_call<int>("cudaLaunchKernel", static_cast<const void*>(host(kernel)), Dim{}, Dim{},
                                           +parameters, std::size_t{0}, stream);
    return launched != 0 ? launched : runtime_call<int>("cudaDeviceSynchronize");
  }
  static void* memory() {
    void* allocated = nullptr;
    EXPECT_EQ(runtime_call<int>("cudaMalloc", &allocated, std::size_t{4}), 0);
    return allocated;
  }
  static int reset() { return runtime_call<int>("cudaDeviceReset"); }

 private:
  std::string text_[2];
  char hosts_[2] = {};
  void** binaries_[2] = {};
};

TEST_F(RegisteredProgram, AKernelThatAFailedContextCouldNotLoadRunsAfterAReset) {
  EXPECT_EQ(store(0, memory()), 0);
  EXPECT_EQ(error_name(store(0, nullptr)), "cudaErrorIllegalAddress");
  EXPECT_EQ(error_name(store(1, nullptr)), "cudaErrorIllegalAddress");
  EXPECT_EQ(reset(), 0);
  EXPECT_EQ(store(0, memory()), 0);
  EXPECT_EQ(store(1, memory()), 0);
}

TEST_F(RegisteredProgram, KernelsRunAfterTheDriverHasResetThePrimaryContext) {
  EXPECT_EQ(store(0, memory()), 0);
  EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(store(0, memory()), 0);
}

TEST_F(RegisteredProgram, AResetGivesEveryThreadTheNewContext) {
  EXPECT_EQ(store(0, memory()), 0);
  std::thread([&] { EXPECT_EQ(reset(), 0); }).join();
  EXPECT_EQ(store(0, memory()), 0);
}

// The child of a fork does what programs of nvcc do when they exit.
TEST_F(RegisteredProgram, AChildThatIsForkedWhileAnotherThreadLoadsKernelsCanExit) {
  std::atomic<bool> stop{false};
  std::thread loads([&] {
    while (!stop) EXPECT_EQ(store(0, memory()) + reset(), 0);
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);  // ends a child that waits for good
      runtime_call<int>("__cudaUnregisterFatBinary", binary(1));
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  stop = true;
  loads.join();
}

}  // namespace
}  // namespace wm::cuda
