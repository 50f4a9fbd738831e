#!/usr/bin/env python3
"""Prints a CUDA program of kernels with recursion and calls through pointers, which compares each with the same code on the host.

  calls.py > calls.cu; nvcc -O2 -arch=sm_90 calls.cu -o calls; ./calls [STACK_BYTES]
  nvcc -O2 -arch=sm_90 -ptx -DDEVICE_ONLY calls.cu    # kernels k0, k1, ... for a simulator: 8 blocks of 128 threads, (in, out)

A line for each kernel. Kernels that need more stack than cudaLimitStackSize end with a fault.
"""
import random

KERNELS = 40
KINDS = ["recursion", "mutual recursion", "table of pointers", "recursion through pointers"]
rng = random.Random(7)


def value(names):
    a, b = rng.choice(names), rng.choice(names)
    return rng.choice([
        f"({a}*{rng.randrange(3, 999) | 1}u+{b})", f"({a}^({b}>>{rng.randrange(1, 15)}))",
        f"({a}+({b}<<{rng.randrange(1, 9)}))", f"({a}-{b}*{rng.randrange(3, 99)}u)"])


def recursion(k):
    n = rng.choice([2, 4, 8, 16, 32])
    return f"""HD u r{k}(u x, u d) {{
  u a[{n}];
  for (u i = 0; i < {n}u; ++i) a[i] = x * i + d;
  if (d == 0) return x ^ a[x % {n}u];
  u s = r{k}({value(["x", "d"])}, d - 1);
  if ((s & 3u) == 1u && d > 1) s += r{k}(s ^ x, d - 2);
  return s + a[s % {n}u];
}}
HD u f{k}(u x) {{ return r{k}(x, x % {rng.choice([3, 6, 10])}u); }}
"""


def mutual(k):
    return f"""HD u q{k}(u x, u d);
HD u r{k}(u x, u d) {{ return d == 0 ? {value(["x"])} : q{k}({value(["x", "d"])}, d - 1) + x; }}
HD u q{k}(u x, u d) {{
  if (d == 0) return {value(["x"])};
  u t = r{k}({value(["x", "d"])}, d - 1);
  return t ^ {value(["t", "x"])};
}}
HD u f{k}(u x) {{ return r{k}(x, x % {rng.choice([5, 12, 20])}u); }}
"""


def table(k):
    functions = "".join(f"HD u t{k}_{j}(u x, u d) {{ return {value(['x', 'd'])} + {value(['x', 'd'])}; }}\n" for j in range(4))
    return functions + f"""HD u f{k}(u x) {{
  u (*t[4])(u, u) = {{t{k}_0, t{k}_1, t{k}_2, t{k}_3}};
  u s = x;
  for (u i = 0; i < {rng.randrange(2, 9)}u; ++i) s = t[(s >> {rng.randrange(0, 9)}) & 3u](s, i);
  return s;
}}
"""


def through_pointers(k):
    return f"""HD u w{k}(u x, u d);
HD u v{k}_0(u x, u d) {{ return d ? w{k}({value(["x", "d"])}, d - 1) + 1u : x; }}
HD u v{k}_1(u x, u d) {{ return d ? w{k}({value(["x", "d"])}, d - 1) ^ x : ~x; }}
HD u w{k}(u x, u d) {{
  u (*p)(u, u) = (x & {1 << rng.randrange(0, 6)}u) ? v{k}_0 : v{k}_1;
  return p(x, d) * 3u + d;
}}
HD u f{k}(u x) {{ return w{k}(x, x % {rng.choice([3, 7, 12])}u); }}
"""


print("""#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
typedef uint32_t u;
#define HD __host__ __device__ __noinline__
""")
for k in range(KERNELS):
    print([recursion, mutual, table, through_pointers][k % 4](k))
    print(f'extern "C" __global__ void k{k}(const u* in, u* out) {{')
    print(f"  u i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = f{k}(in[i]);\n}}")
print("""#ifndef DEVICE_ONLY
static u mixed(u x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16); }
static void check(const char* name, void (*kernel)(const u*, u*), u (*on_host)(u), const char* stack) {
  const u n = 1024;
  std::vector<u> in(n), out(n);
  for (u i = 0; i < n; ++i) in[i] = mixed(i + 1);
  if (stack) cudaDeviceSetLimit(cudaLimitStackSize, std::atoi(stack));
  u *device_in, *device_out;
  cudaMalloc(&device_in, n * 4);
  cudaMalloc(&device_out, n * 4);
  cudaMemcpy(device_in, in.data(), n * 4, cudaMemcpyHostToDevice);
  kernel<<<8, 128>>>(device_in, device_out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(out.data(), device_out, n * 4, cudaMemcpyDeviceToHost);
  u differ = 0;
  for (u i = 0; i < n; ++i) differ += out[i] != on_host(in[i]);
  std::printf("%s: %s, %u of %u differ\\n", name, cudaGetErrorName(error), differ, n);
  if (error != cudaSuccess) std::exit(1);  // the context is lost
  cudaFree(device_in);
  cudaFree(device_out);
}
int main(int argc, char** argv) {
  const char* stack = argc > 1 ? argv[1] : nullptr;""")
for k in range(KERNELS):
    print(f'  check("k{k} {KINDS[k % 4]}", k{k}, f{k}, stack);')
print("}\n#endif")
