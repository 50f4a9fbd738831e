// The textbook matrix product in 16x16 tiles of shared memory, as clang 19 compiles it: the benchmark that simulators
// are compared on. The zoo's own sgemm tiles registers too.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "gpu/application.h"

namespace wm::bench {

// c = a * b, n x n each, blocks of 16x16 threads:
//   for each tile: ta[ty][tx] = a[row][tile + tx]; tb[ty][tx] = b[tile + ty][column];
//                  barrier; sum += ta[ty][k] * tb[k][tx] for the 16 k, unrolled; barrier
inline constexpr const char* kTiledSgemm = R"(.version 8.5
.target sm_75, texmode_independent
.address_size 64
.entry sgemm_tile(
 .param .u64 .ptr .global .align 4 sgemm_tile_param_0,
 .param .u64 .ptr .global .align 4 sgemm_tile_param_1,
 .param .u64 .ptr .global .align 4 sgemm_tile_param_2,
 .param .u32 sgemm_tile_param_3
)
{
 .reg .pred  %p<3>;
 .reg .b32  %r<27>;
 .reg .f32  %f<57>;
 .reg .b64  %rd<18>;
 .shared .align 4 .b8 sgemm_tile_$_ta[1024];
 .shared .align 4 .b8 sgemm_tile_$_tb[1024];
 ld.param.u32  %r14, [sgemm_tile_param_3];
 ld.param.u64  %rd7, [sgemm_tile_param_2];
 mov.u32  %r1, %tid.x;
 mov.u32  %r16, %ctaid.x;
 shl.b32  %r3, %r16, 4;
 add.s32  %r4, %r3, %r1;
 setp.eq.s32  %p1, %r14, 0;
 mov.f32  %f56, 0f00000000;
 mov.b32  %r24, 0;
 @%p1 bra  $L__BB0_3;
 ld.param.u64  %rd6, [sgemm_tile_param_1];
 ld.param.u64  %rd5, [sgemm_tile_param_0];
 mov.u32  %r2, %tid.y;
 mov.u32  %r18, %ctaid.y;
 shl.b32  %r19, %r18, 4;
 add.s32  %r20, %r19, %r2;
 mul.lo.s32  %r24, %r20, %r14;
 mul.wide.u32  %rd8, %r2, 64;
 mov.u64  %rd9, sgemm_tile_$_ta;
 add.s64  %rd3, %rd9, %rd8;
 mul.wide.u32  %rd10, %r1, 4;
 add.s64  %rd1, %rd3, %rd10;
 mov.u64  %rd11, sgemm_tile_$_tb;
 add.s64  %rd4, %rd11, %rd10;
 add.s64  %rd2, %rd4, %rd8;
 mad.lo.s32  %r21, %r2, %r14, %r1;
 add.s32  %r25, %r21, %r3;
 shl.b32  %r7, %r14, 4;
 add.s32  %r8, %r1, %r24;
 mov.f32  %f56, 0f00000000;
 mov.b32  %r26, 0;
$L__BB0_2:
 add.s32  %r22, %r8, %r26;
 mul.wide.u32  %rd12, %r22, 4;
 add.s64  %rd13, %rd5, %rd12;
 ld.global.nc.f32  %f6, [%rd13];
 st.shared.f32  [%rd1], %f6;
 mul.wide.u32  %rd14, %r25, 4;
 add.s64  %rd15, %rd6, %rd14;
 ld.global.nc.f32  %f7, [%rd15];
 st.shared.f32  [%rd2], %f7;
 bar.sync  0;
 ld.shared.f32  %f8, [%rd3];
 ld.shared.f32  %f9, [%rd4];
 fma.rn.f32  %f10, %f8, %f9, %f56;
 ld.shared.f32  %f11, [%rd3+4];
 ld.shared.f32  %f12, [%rd4+64];
 fma.rn.f32  %f13, %f11, %f12, %f10;
 ld.shared.f32  %f14, [%rd3+8];
 ld.shared.f32  %f15, [%rd4+128];
 fma.rn.f32  %f16, %f14, %f15, %f13;
 ld.shared.f32  %f17, [%rd3+12];
 ld.shared.f32  %f18, [%rd4+192];
 fma.rn.f32  %f19, %f17, %f18, %f16;
 ld.shared.f32  %f20, [%rd3+16];
 ld.shared.f32  %f21, [%rd4+256];
 fma.rn.f32  %f22, %f20, %f21, %f19;
 ld.shared.f32  %f23, [%rd3+20];
 ld.shared.f32  %f24, [%rd4+320];
 fma.rn.f32  %f25, %f23, %f24, %f22;
 ld.shared.f32  %f26, [%rd3+24];
 ld.shared.f32  %f27, [%rd4+384];
 fma.rn.f32  %f28, %f26, %f27, %f25;
 ld.shared.f32  %f29, [%rd3+28];
 ld.shared.f32  %f30, [%rd4+448];
 fma.rn.f32  %f31, %f29, %f30, %f28;
 ld.shared.f32  %f32, [%rd3+32];
 ld.shared.f32  %f33, [%rd4+512];
 fma.rn.f32  %f34, %f32, %f33, %f31;
 ld.shared.f32  %f35, [%rd3+36];
 ld.shared.f32  %f36, [%rd4+576];
 fma.rn.f32  %f37, %f35, %f36, %f34;
 ld.shared.f32  %f38, [%rd3+40];
 ld.shared.f32  %f39, [%rd4+640];
 fma.rn.f32  %f40, %f38, %f39, %f37;
 ld.shared.f32  %f41, [%rd3+44];
 ld.shared.f32  %f42, [%rd4+704];
 fma.rn.f32  %f43, %f41, %f42, %f40;
 ld.shared.f32  %f44, [%rd3+48];
 ld.shared.f32  %f45, [%rd4+768];
 fma.rn.f32  %f46, %f44, %f45, %f43;
 ld.shared.f32  %f47, [%rd3+52];
 ld.shared.f32  %f48, [%rd4+832];
 fma.rn.f32  %f49, %f47, %f48, %f46;
 ld.shared.f32  %f50, [%rd3+56];
 ld.shared.f32  %f51, [%rd4+896];
 fma.rn.f32  %f52, %f50, %f51, %f49;
 ld.shared.f32  %f53, [%rd3+60];
 ld.shared.f32  %f54, [%rd4+960];
 fma.rn.f32  %f56, %f53, %f54, %f52;
 bar.sync  0;
 add.s32  %r26, %r26, 16;
 add.s32  %r25, %r25, %r7;
 setp.lt.u32  %p2, %r26, %r14;
 @%p2 bra  $L__BB0_2;
$L__BB0_3:
 add.s32  %r23, %r24, %r4;
 mul.wide.u32  %rd16, %r23, 4;
 add.s64  %rd17, %rd7, %rd16;
 st.global.f32  [%rd17], %f56;
 ret;
}
)";

// 256^3 of it.
inline gpu::Application tiled_sgemm() {
  constexpr std::uint32_t kSize = 256;
  Random random(1);
  std::vector<float> values(std::size_t{kSize} * kSize);
  for (float& v : values) v = random.uniform(-1, 1);
  gpu::Application app;
  const auto a = app.add("a", values), b = app.add("b", values), c = app.add_uninitialized("c", values.size() * 4);
  app.upload(a);
  app.upload(b);
  app.launch({"sgemm_tile",
              {kSize / 16, kSize / 16, 1},
              {16, 16, 1},
              {gpu::buffer(a), gpu::buffer(b), gpu::buffer(c), gpu::scalar(kSize)},
              0});
  return app;
}

}  // namespace wm::bench
