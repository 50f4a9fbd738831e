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

}  // namespace
}  // namespace wm::cuda
