// Images in PTX as NVIDIA's OpenCL compiler (driver 580) writes it: what becomes of their declarations, and what is
// refused. tests/runtime/device/cuda_image_test.cc runs rewritten kernels.
#include "rewrite/ptx/images.h"

#include "ptx/print.h"
#include "rewrite/ptx/image_record.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

constexpr const char* kImageHeader = ".version 9.0\n.target sm_90, texmode_independent\n.address_size 64\n";

// Parts of what the compiler made of read_imagef and write_imageui, with a literal sampler and an image of a buffer.
constexpr const char* kCompiled = R"(
.global .samplerref samp$2 = { addr_mode_0 = wrap, addr_mode_1 = clamp_to_edge, addr_mode_2 = clamp_to_border, filter_mode = linear, force_unnormalized_coords = 1 };
.entry k(
	.param .texref k_param_0,
	.param .u64 .ptr .surfref k_param_1,
	.param .samplerref k_param_2,
	.param .u64 .ptr .global .align 16 k_param_3
)
{
	.reg .f32 	%f<9>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd2, [k_param_1];
	ld.param.u64 	%rd3, [k_param_3];
	mov.u32 	%r1, %tid.x;
	cvt.rn.f32.s32 	%f1, %r1;
	tex.2d.v4.f32.f32 	{%f2, %f3, %f4, %f5}, [k_param_0, samp$2, {%f1, %f1}];
	st.global.v4.f32 	[%rd3], {%f2, %f3, %f4, %f5};
	tex.2d.v4.f32.s32 	{%f2, %f3, %f4, %f5}, [k_param_0, k_param_2, {%r1, %r1}];
	tex.2d.v4.f32.s32 	{%f2, %f3, %f4, %f5}, [k_param_0, samp$2, {%r1, 3}];
	txq.channel_order.b32 	%r2, [k_param_0];
	sust.p.1d_buffer.v4.b32.trap 	[%rd2, {%r1}], {%r2, %r2, %r2, %r2};
	ret;
})";

TEST(ImageRewriting, OpaqueDeclarationsAreReadAndPrinted) {
  const ptx::Module module = parsed(std::string(kImageHeader) + kCompiled);
  const std::string text = ptx::print(module);
  for (const char* part :
       {".global .samplerref samp$2 = { addr_mode_0 = wrap, addr_mode_1 = clamp_to_edge, addr_mode_2 = "
        "clamp_to_border, "
        "filter_mode = linear, force_unnormalized_coords = 1 };",
        ".param .texref k_param_0", ".param .u64 .ptr .surfref k_param_1", ".param .samplerref k_param_2",
        "sust.p.1d_buffer.v4.b32.trap [%rd2, {%r1}], {%r2, %r2, %r2, %r2};"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(parsed(text), module);
}

TEST(ImageRewriting, AKernelHasATextureForEachPairOfAnImageAndASampler) {
  const auto adapted = adapt_opencl(parsed(std::string(kImageHeader) + kCompiled));
  ASSERT_TRUE(adapted.ok()) << adapted.error().to_string();
  ASSERT_EQ(adapted->kernels.size(), 1U);
  const AdaptedKernel& k = adapted->kernels.front();
  using Kind = KernelImages::Parameter::Kind;
  ASSERT_EQ(k.parameters.size(), 4U);
  EXPECT_EQ(k.parameters[0].image.kind, Kind::read_image);
  EXPECT_EQ(k.parameters[0].image.shape, ImageShape::d2);
  EXPECT_EQ(k.parameters[0].bytes, sizeof(ImageRecord));
  EXPECT_EQ(k.parameters[1].image.kind, Kind::written_image);
  EXPECT_EQ(k.parameters[1].image.shape, ImageShape::d1_buffer);
  EXPECT_EQ(k.parameters[2].image.kind, Kind::sampler);
  EXPECT_TRUE(k.parameters[3].pointer);
  ASSERT_EQ(k.textures.size(), 3U) << "a literal sampler with whole numbers has an object of its own";
  EXPECT_FALSE(k.textures[0].by_texels || k.textures[0].sampler_parameter);
  EXPECT_TRUE(k.textures[1].by_texels && k.textures[2].by_texels);
  EXPECT_TRUE(k.textures[0].sampler.filters && k.textures[0].sampler.force_unnormalized_coords);
  EXPECT_EQ(k.textures[1].sampler_parameter, 2U);
  const std::string text = ptx::print(adapted->module);
  for (const char* opaque : {"texref", "samplerref", "surfref", "txq", "suq", "sust.p", "texmode", ".s32 {"}) {
    EXPECT_EQ(text.find(opaque), std::string::npos) << opaque << "\n" << text;
  }
  EXPECT_NE(text.find("call wm_write_image_1d_buffer"), std::string::npos) << text;
}

// A compiler may pass an image or a sampler by the register that holds its pointer.
TEST(ImageRewriting, SamplersAndImagesAreFoundByTheirRegisters) {
  const auto adapted = adapt_opencl(parsed(std::string(kImageHeader) + R"(
.entry k(.param .u64 .ptr .texref a, .param .u64 .ptr .samplerref s, .param .samplerref t)
{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [s];
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, t, {%f5, %f6}];
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];
ret;
})"));
  ASSERT_TRUE(adapted.ok()) << adapted.error().to_string();
  const auto& textures = adapted->kernels.front().textures;
  ASSERT_EQ(textures.size(), 2U);
  EXPECT_EQ(textures[0].sampler_parameter, 2U);
  EXPECT_EQ(textures[1].sampler_parameter, 1U);
  EXPECT_EQ(textures[1].image, 0U);
  const std::string text = ptx::print(adapted->module);
  EXPECT_NE(text.find("[wm_textures+8]"), std::string::npos) << text;
}

std::string refusal(const std::string& parameters, const std::string& body) {
  const auto adapted =
      adapt_opencl(parsed(std::string(kImageHeader) + ".global .samplerref s;\n.entry k(" + parameters +
                          ")\n{\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<4>; .reg .pred %p;\n" + body +
                          "ret;\n}\n.entry fine()\n{\nret;\n}\n"));
  if (!adapted) return adapted.error().what;
  return adapted->refused.empty() ? "" : adapted->refused.front().reason;
}

TEST(ImageRewriting, WhatTexturesCannotDoIsRefusedByName) {
  EXPECT_EQ(refusal(".param .texref a, .param .samplerref s1",
                    "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [a, s1, {%f5, %f6}];"),
            "it gathers texels (tld4)");
  EXPECT_EQ(refusal(".param .texref a, .param .samplerref s1",
                    "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [a, s1, {%f5, %f6}], %f7;"),
            "it reads mip levels of an image");
  EXPECT_EQ(refusal(".param .texref a", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [a, s, {%f5, %f6}];"),
            "a sampler that it uses is neither a parameter nor a literal");
  EXPECT_EQ(refusal(".param .texref a, .param .samplerref s1",
                    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [a, s1, {%f5, %f6}];"
                    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [a, s1, {%f5, %f6, %f7, %f7}];"),
            "an image is accessed as two kinds of images");
  EXPECT_EQ(refusal(".param .u64 .ptr .surfref a, .param .u64 .ptr .surfref b",
                    "ld.param.u64 %rd1, [a]; setp.eq.u32 %p, %r1, 0; @%p ld.param.u64 %rd1, [b];"
                    "sust.p.1d_buffer.v4.b32.trap [%rd1, {%r1}], {%r1, %r1, %r1, %r1};"),
            "an image that it accesses is not one of its parameters");
  EXPECT_EQ(refusal(".param .u64 .ptr .surfref a", "ld.param.u64 %rd1, [a]; mov.u64 %rd2, a;"),
            "an image or a sampler is used as a value");
}

TEST(ImageRewriting, FunctionsThatAccessImagesAreRefused) {
  const auto adapted = adapt_opencl(parsed(std::string(kImageHeader) + R"(
.func f(.param .b64 image) { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.b64 %rd1, [image]; txq.width.b32 %r1, [%rd1]; ret; }
.entry k(.param .texref a) { ret; })"));
  ASSERT_FALSE(adapted.ok());
  EXPECT_EQ(adapted.error().what, "function 'f' accesses images that it is given");
}

}  // namespace
}  // namespace wm::rewrite
