#include <cuda_fp16.h>
#include <cuda_pipeline.h>
extern "C" __global__ void tensor_ops(const uint4* a, float* o, int* io, double* dd) {
  __shared__ __align__(16) uint4 tile[256];
  unsigned r[4], b[2];
  float c[4] = {0, 0, 0, 0};
  int ic[4] = {0, 0, 0, 0};
  __pipeline_memcpy_async(&tile[threadIdx.x], &a[threadIdx.x], 16);
  __pipeline_memcpy_async((int*)&tile[threadIdx.x], (const int*)&a[threadIdx.x], 4, 2);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __pipeline_wait_prior(0);
  __syncthreads();
  unsigned s = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(s));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(s));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[0]), "r"(b[1]));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[0]), "r"(b[1]));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[0]), "r"(b[1]));
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(ic[0]), "+r"(ic[1]), "+r"(ic[2]), "+r"(ic[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[0]), "r"(b[1]));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(dd[0]), "+d"(dd[1])
               : "d"(dd[2]), "d"(dd[3]));
  unsigned t;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(c[0]));
  io[9] = t;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(t) : "f"(c[0]), "f"(c[1]));
  io[10] = t;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(*(short*)&t) : "f"(c[0]), "f"(c[1]));
  io[11] = t;
  o[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
  io[threadIdx.x] = ic[0] + ic[3];
  unsigned long long pol;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(pol));
  asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(t) : "l"(io), "l"(pol));
  io[12] = t;
  asm volatile("griddepcontrol.wait;");
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("{ .reg .pred P; .reg .b32 x; elect.sync x|P, 0xffffffff; @P mov.b32 %0, 1; }" : "=r"(t));
  io[13] = t;
}
