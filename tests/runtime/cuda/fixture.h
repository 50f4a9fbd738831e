// A context on the simulated driver for each test, and kernels in PTX. The driver is the library that applications
// load.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "runtime/client/cuda/interface/functions.h"

namespace wm::cuda {

#define CU_OK(call) ASSERT_EQ(call, CUDA_SUCCESS)

// A kernel `body` with the parameters `parameters`, as in ".param .u64 p, .param .u32 n".
inline std::string kernel_text(const std::string& name, const std::string& parameters, const std::string& body) {
  return ".visible .entry " + name + "(" + parameters + ")\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n" +
         ".reg .b64 %d<16>;\n.reg .f32 %f<8>;\n" + body + "\n}\n";
}
inline std::string module_text(const std::string& rest) {
  return ".version 7.5\n.target sm_75\n.address_size 64\n" + rest;
}

// out[i] = in[i] * factor + i for i < n.
inline std::string scale_kernel() {
  return kernel_text("scale", ".param .u64 in, .param .u64 out, .param .u32 factor, .param .u32 n", R"(
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [factor];
cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
mul.wide.u32 %d3, %r4, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
ld.global.u32 %r7, [%d1]; mad.lo.s32 %r8, %r7, %r6, %r4; st.global.u32 [%d2], %r8;
ret;)");
}

// Adds 1 to a word from every thread.
inline std::string count_kernel() {
  return kernel_text("count", ".param .u64 word", R"(
ld.param.u64 %d1, [word]; atom.global.add.u32 %r1, [%d1], 1; ret;)");
}

// Waits until the word `flag` is not 0, then stores it to `out`.
inline std::string wait_kernel() {
  return kernel_text("wait_for", ".param .u64 flag, .param .u64 out", R"(
ld.param.u64 %d1, [flag]; ld.param.u64 %d2, [out];
again: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
st.global.u32 [%d2], %r1; ret;)");
}

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CU_OK(cuInit(0));
    CU_OK(cuCtxCreate_v2(&context_, 0, 0));
  }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy_v2(context_), CUDA_SUCCESS); }

  CUfunction function(const std::string& kernels, const char* name) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, module_text(kernels).c_str()), CUDA_SUCCESS);
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module, name), CUDA_SUCCESS);
    return found;
  }
  CUdeviceptr upload(const std::vector<std::uint32_t>& values) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, values.size() * 4), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), values.size() * 4), CUDA_SUCCESS);
    return address;
  }
  std::vector<std::uint32_t> download(CUdeviceptr address, std::size_t count) {
    std::vector<std::uint32_t> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * 4), CUDA_SUCCESS);
    return values;
  }
  // One launch of `blocks` blocks of `threads`.
  static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                         CUstream stream = nullptr) {
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, arguments.data(), nullptr);
  }

  CUcontext context_ = nullptr;
};

}  // namespace wm::cuda
