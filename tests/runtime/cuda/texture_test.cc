// Arrays, textures and surfaces through the API, with kernels that fetch from them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

// out[i] = the four channels of the fetch at (xs[i], ys[i]).
std::string fetch_kernel(const std::string& handle, const std::string& before = {}) {
  return before + kernel_text("fetch", ".param .u64 texture, .param .u64 places, .param .u64 out",
                              R"(
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [places]; ld.param.u64 %d3, [out];
mul.wide.u32 %d4, %r1, 8; add.s64 %d2, %d2, %d4; mul.wide.u32 %d4, %r1, 16; add.s64 %d3, %d3, %d4;
ld.global.v2.f32 {%f1, %f2}, [%d2];
tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [)" +
                                  handle +
                                  R"(, {%f1, %f2}];
st.global.v4.f32 [%d3], {%f3, %f4, %f5, %f6}; ret;)");
}

class CudaTextureTest : public CudaTest {
 protected:
  static CUarray array(CUDA_ARRAY3D_DESCRIPTOR d) {
    CUarray made = nullptr;
    EXPECT_EQ(cuArray3DCreate_v2(&made, &d), CUDA_SUCCESS);
    return made;
  }
  // Fills an array from the host, all rows and slices.
  static void fill(CUarray to, const void* from, std::size_t width_bytes, std::size_t height, std::size_t depth) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = width_bytes;
    copy.srcHeight = height;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = to;
    copy.WidthInBytes = width_bytes;
    copy.Height = height;
    copy.Depth = depth;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  }
  static CUDA_RESOURCE_DESC of(CUarray a) {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
  }
  static CUtexObject texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how) {
    CUtexObject made = 0;
    EXPECT_EQ(cuTexObjectCreate(&made, &resource, &how, nullptr), CUDA_SUCCESS);
    return made;
  }
  CUdeviceptr upload_floats(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size() * 4);
    return upload(bits);
  }
  std::vector<float> download_floats(CUdeviceptr from, std::size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), from, count * 4), CUDA_SUCCESS);
    return values;
  }
};

TEST_F(CudaTextureTest, AFilteredTextureOfAnArrayGivesWeightedTexels) {
  const CUarray a = array({2, 2, 0, CU_AD_FORMAT_FLOAT, 2, 0});
  const float texels[] = {0, 100, 1, 101, 2, 102, 3, 103};
  fill(a, texels, 16, 2, 1);
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject object = texture(of(a), how);
  CUdeviceptr places = upload_floats({0.5F, 0.5F, 1.0F, 1.0F, 1.25F, 0.5F, 9.0F, 9.0F}),
              out = upload_floats(std::vector<float>(16));
  CU_OK(launch(function(fetch_kernel("%d1"), "fetch"), 1, 4, {&object, &places, &out}));
  const std::vector<float> expected{0, 100, 0, 1, 1.5F, 101.5F, 0, 1, 0.75F, 100.75F, 0, 1, 3, 103, 0, 1};
  EXPECT_EQ(download_floats(out, 16), expected);
  CUDA_RESOURCE_DESC resource{};
  CU_OK(cuTexObjectGetResourceDesc(&resource, object));
  EXPECT_EQ(resource.res.array.hArray, a);
  CU_OK(cuTexObjectDestroy(object));
  EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuArrayDestroy(a));
  EXPECT_EQ(cuArrayDestroy(a), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaTextureTest, PitchedMemoryOfBytesIsReadNormalized) {
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  CU_OK(cuMemAllocPitch_v2(&rows, &pitch, 4, 2, 4));
  CU_OK(cuMemsetD8_v2(rows, 51, pitch * 2));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {rows, CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, 2, pitch};
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  CUtexObject object = texture(resource, how);
  CUdeviceptr places = upload_floats({0.5F, 0.5F}), out = upload_floats(std::vector<float>(4));
  CU_OK(launch(function(fetch_kernel("%d1"), "fetch"), 1, 1, {&object, &places, &out}));
  EXPECT_EQ(download_floats(out, 4), (std::vector<float>{0.2F, 0.2F, 0.2F, 0.2F}));
  resource.res.pitch2D.pitchInBytes = 33;
  EXPECT_EQ(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  resource.res.pitch2D.pitchInBytes = pitch * 2;
  EXPECT_EQ(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);  // too little memory
}

TEST_F(CudaTextureTest, LinearMemoryIsFetchedByIndex) {
  CUdeviceptr values = upload({5, 6, 7, 8});
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {values, CU_AD_FORMAT_UNSIGNED_INT32, 1, 16};
  CUtexObject object = texture(resource, {});
  const auto f = function(kernel_text("fetch", ".param .u64 texture, .param .u64 out", R"(
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [texture]; ld.param.u64 %d3, [out];
mul.wide.u32 %d4, %r1, 4; add.s64 %d3, %d3, %d4;
tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d1, {%r1}];
st.global.u32 [%d3], %r3; ret;)"),
                          "fetch");
  CUdeviceptr out = upload(std::vector<std::uint32_t>(6, 99));
  CU_OK(launch(f, 1, 6, {&object, &out}));
  EXPECT_EQ(download(out, 6), (std::vector<std::uint32_t>{5, 6, 7, 8, 0, 0}));
}

TEST_F(CudaTextureTest, AReferenceOfAModuleIsBoundToMemory) {
  CUmodule module = nullptr;
  const std::string text = module_text(fetch_kernel("image", ".global .texref image;\n"));
  CU_OK(cuModuleLoadData(&module, text.c_str()));
  CUfunction f = nullptr;
  CU_OK(cuModuleGetFunction(&f, module, "fetch"));
  CUtexref reference = nullptr, again = nullptr;
  CU_OK(cuModuleGetTexRef(&reference, module, "image"));
  CU_OK(cuModuleGetTexRef(&again, module, "image"));
  EXPECT_EQ(reference, again);
  EXPECT_EQ(cuModuleGetTexRef(&again, module, "other"), CUDA_ERROR_NOT_FOUND);
  const CUarray a = array({2, 2, 0, CU_AD_FORMAT_FLOAT, 1, 0});
  const float texels[] = {1, 2, 3, 4};
  fill(a, texels, 8, 2, 1);
  CU_OK(cuTexRefSetArray(reference, a, 1));
  CU_OK(cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES));
  CU_OK(cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_BORDER));
  float border[] = {42, 0, 0, 0};
  CU_OK(cuTexRefSetBorderColor(reference, border));
  std::uint64_t unused = 0;
  CUdeviceptr places = upload_floats({0.75F, 0.75F, 1.5F, 0.25F}), out = upload_floats(std::vector<float>(8));
  CU_OK(launch(f, 1, 2, {&unused, &places, &out}));
  const auto got = download_floats(out, 8);
  EXPECT_EQ(got[0], 4);
  EXPECT_EQ(got[4], 42);
  CUarray bound = nullptr;
  CU_OK(cuTexRefGetArray(&bound, reference));
  EXPECT_EQ(bound, a);
  CU_OK(cuModuleUnload(module));
  EXPECT_EQ(cuTexRefSetFlags(reference, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaTextureTest, SurfacesWriteReadAndReduceAndTheArrayIsCopiedBack) {
  const CUarray a = array({4, 3, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST});
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC resource = of(a);
  CU_OK(cuSurfObjectCreate(&surface, &resource));
  const auto f = function(kernel_text("draw", ".param .u64 surface", R"(
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; ld.param.u64 %d1, [surface];
shl.b32 %r3, %r1, 2; mad.lo.s32 %r4, %r2, 10, %r1;
sust.b.2d.b32.zero [%d1, {%r3, %r2}], %r4;
suld.b.2d.b32.zero %r5, [%d1, {%r3, %r2}];
sured.b.add.2d.u32.clamp [%d1, {%r3, %r2}], %r5; ret;)"),
                          "draw");
  CU_OK(launch(f, 3, 4, {&surface}));
  std::vector<std::uint32_t> back(12);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = a;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back.data();
  copy.WidthInBytes = 16;
  copy.Height = 3;
  CU_OK(cuMemcpy2D_v2(&copy));
  EXPECT_EQ(back, (std::vector<std::uint32_t>{0, 2, 4, 6, 20, 22, 24, 26, 40, 42, 44, 46}));
  copy.Height = 4;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  // An array that was not made for surfaces, and a texture handle in place of a surface.
  const CUarray plain = array({4, 3, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0});
  const CUDA_RESOURCE_DESC other = of(plain);
  CUsurfObject none = 0;
  EXPECT_EQ(cuSurfObjectCreate(&none, &other), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuSurfObjectDestroy(surface));
}

TEST_F(CudaTextureTest, AStoreOutsideOfASurfaceTraps) {
  const CUarray a = array({4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST});
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC resource = of(a);
  CU_OK(cuSurfObjectCreate(&surface, &resource));
  const auto f = function(kernel_text("draw", ".param .u64 surface", R"(
ld.param.u64 %d1, [surface]; mov.u32 %r1, 16; sust.b.1d.b32.trap [%d1, {%r1}], %r1; ret;)"),
                          "draw");
  CU_OK(launch(f, 1, 1, {&surface}));
  EXPECT_NE(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(CudaTextureTest, AHandleOfNothingIsAFault) {
  std::uint64_t nothing = 0x1234;
  CUdeviceptr places = upload_floats({0, 0}), out = upload_floats(std::vector<float>(4));
  CU_OK(launch(function(fetch_kernel("%d1"), "fetch"), 1, 1, {&nothing, &places, &out}));
  EXPECT_NE(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(CudaTextureTest, LevelsAndLayersOfArrays) {
  CUmipmappedArray levels = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR d{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CU_OK(cuMipmappedArrayCreate(&levels, &d, 9));
  CUarray level = nullptr;
  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, levels, 3), CUDA_ERROR_INVALID_VALUE);  // 4, 2 and 1
  CU_OK(cuMipmappedArrayGetLevel(&level, levels, 1));
  const float texels[] = {1, 2, 3, 4};
  fill(level, texels, 8, 2, 1);
  EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_VALUE);
  const CUarray layers = array({2, 0, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED});
  const float values[] = {10, 11, 12, 13, 14, 15};
  fill(layers, values, 8, 1, 3);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = levels;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  how.maxMipmapLevelClamp = 9;
  CUtexObject mipmapped = texture(resource, how);
  CUtexObject layered = texture(of(layers), CUDA_TEXTURE_DESC{});
  const auto f = function(kernel_text("fetch", ".param .u64 levels, .param .u64 layers, .param .u64 out", R"(
ld.param.u64 %d1, [levels]; ld.param.u64 %d2, [layers]; ld.param.u64 %d3, [out];
mov.f32 %f1, 0f3F400000; mov.f32 %f2, 0f3F800000;
tex.level.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f1}], %f2; st.global.f32 [%d3], %f3;
mov.u32 %r1, 2;
tex.a1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d2, {%r1, %f2}]; st.global.f32 [%d3+4], %f3;
txq.width.b32 %r2, [%d1]; txq.array_size.b32 %r3, [%d2]; txq.num_mipmap_levels.b32 %r4, [%d1];
st.global.u32 [%d3+8], %r2; st.global.u32 [%d3+12], %r3; st.global.u32 [%d3+16], %r4; ret;)"),
                          "fetch");
  CUdeviceptr out = upload(std::vector<std::uint32_t>(5));
  CU_OK(launch(f, 1, 1, {&mipmapped, &layered, &out}));
  const auto got = download(out, 5);
  EXPECT_EQ(std::bit_cast<float>(got[0]), 4);
  EXPECT_EQ(std::bit_cast<float>(got[1]), 15);
  EXPECT_EQ(got[2], 4U);
  EXPECT_EQ(got[3], 3U);
  EXPECT_EQ(got[4], 3U);
  CU_OK(cuMipmappedArrayDestroy(levels));
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaTextureTest, CopiesOfBytesBetweenArraysAndMemory) {
  CUarray a = nullptr, b = nullptr;
  const CUDA_ARRAY_DESCRIPTOR d{8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CU_OK(cuArrayCreate_v2(&a, &d));
  CU_OK(cuArrayCreate_v2(&b, &d));
  CU_OK(cuMemcpyHtoA_v2(a, 0, "abcdefgh", 8));
  CU_OK(cuMemcpyAtoA_v2(b, 4, a, 2, 4));
  CU_OK(cuMemcpyHtoA_v2(b, 0, "1234", 4));
  char text[9] = {};
  CU_OK(cuMemcpyAtoH_v2(text, b, 0, 8));
  EXPECT_STREQ(text, "1234cdef");
  EXPECT_EQ(cuMemcpyAtoH_v2(text, b, 4, 5), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_DESCRIPTOR back{};
  CU_OK(cuArrayGetDescriptor_v2(&back, a));
  EXPECT_EQ(back.Width, 8U);
}

TEST_F(CudaTextureTest, WrongDescriptorsAreRefused) {
  CUarray a = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR d{4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0};
  EXPECT_EQ(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_INVALID_VALUE);
  d.NumChannels = 1;
  d.Width = 0;
  EXPECT_EQ(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_INVALID_VALUE);
  d.Width = 4;
  d.Flags = CUDA_ARRAY3D_CUBEMAP;
  EXPECT_EQ(cuArray3DCreate_v2(&a, &d), CUDA_ERROR_NOT_SUPPORTED);
  d.Flags = 0;
  d.Format = CU_AD_FORMAT_UNSIGNED_INT32;
  CUarray integers = array(d);
  const CUDA_RESOURCE_DESC resource = of(integers);
  CUDA_TEXTURE_DESC how{};
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject object = 0;
  EXPECT_EQ(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  how = {};
  how.flags = CU_TRSF_SRGB;
  EXPECT_EQ(cuTexObjectCreate(&object, &resource, &how, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  const CUDA_RESOURCE_DESC none = of(nullptr);
  how = {};
  EXPECT_EQ(cuTexObjectCreate(&object, &none, &how, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace wm::cuda
