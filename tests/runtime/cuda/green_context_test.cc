// Sets of SMs and green contexts of the simulated driver.
#include <algorithm>
#include <set>

#include "fixture.h"

namespace wm::cuda {
namespace {

class GreenContextTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    CU_OK(cuDeviceGetDevResource(0, &all_, CU_DEV_RESOURCE_TYPE_SM));
  }
  std::vector<CUdevResource> split(unsigned sms, CUdevResource* rest = nullptr, unsigned flags = 0) {
    std::vector<CUdevResource> groups(256);
    auto count = static_cast<unsigned>(groups.size());
    EXPECT_EQ(cuDevSmResourceSplitByCount(groups.data(), &count, &all_, rest, flags, sms), CUDA_SUCCESS);
    groups.resize(count);
    return groups;
  }

  CUdevResource all_{};
};

TEST_F(GreenContextTest, GroupsAndTheRestAreAllSms) {
  CUdevResource rest{};
  const auto groups = split(8, &rest);
  EXPECT_EQ(groups.size() * 8 + rest.sm.smCount, all_.sm.smCount);
  EXPECT_LT(rest.sm.smCount, 8U);
  EXPECT_EQ(split(3).front().sm.smCount, 8U);  // rounded up
  EXPECT_EQ(split(3, nullptr, 1).front().sm.smCount, 4U);
}

TEST_F(GreenContextTest, KernelsOfItsStreamsRunOnItsSms) {
  auto groups = split(8);
  ASSERT_GE(groups.size(), 3U);
  CUdevResource chosen[] = {groups[0], groups[2]};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  CUstream stream = nullptr;
  CU_OK(cuDevResourceGenerateDesc(&description, chosen, 2));
  CU_OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CU_OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  CUgreenCtx of_stream = nullptr;
  CU_OK(cuStreamGetGreenCtx(stream, &of_stream));
  EXPECT_EQ(of_stream, green);
  CUfunction where = function(kernel_text("where", ".param .u64 out", R"(
mov.u32 %r1, %smid; mov.u32 %r2, %ctaid.x; mul.wide.u32 %d1, %r2, 4;
ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r1; ret;)"),
                              "where");
  CUdeviceptr out = upload(std::vector<std::uint32_t>(64, 999));
  CU_OK(launch(where, 64, 1, {&out}, stream));
  CU_OK(cuStreamSynchronize(stream));
  const auto sms = download(out, 64);
  std::set<std::uint32_t> seen(sms.begin(), sms.end()), expected;
  for (std::uint32_t i = 0; i < 8; ++i) expected.insert({i, 16 + i});
  EXPECT_EQ(seen, expected);
  CU_OK(cuStreamDestroy_v2(stream));
  CU_OK(cuGreenCtxDestroy(green));
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(GreenContextTest, WrongSetsAreRefused) {
  auto groups = split(8);
  CUdevResource twice[] = {groups[0], groups[0]};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  EXPECT_EQ(cuDevResourceGenerateDesc(&description, twice, 2), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_EQ(cuDevResourceGenerateDesc(&description, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGreenCtxCreate(&green, nullptr, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetDevResource(0, &all_, 7), CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

}  // namespace
}  // namespace wm::cuda
