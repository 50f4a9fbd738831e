#include <cassert>
#include <cstdio>
struct Shape {
  float w, h;
  __device__ virtual float area() const { return w * h; }
  __device__ virtual ~Shape() {}
};
struct Tri : Shape {
  __device__ float area() const override { return w * h / 2; }
};
typedef int (*op)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ float4 vec(float4 a, char c, short s) {
  a.x += c;
  a.y += s;
  return a;
}
__device__ op ops[2] = {add, mul};
__constant__ int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ float init[2][2] = {{1.5f, 2.5f}, {3.5f}};
__device__ double dval = 3.25;
__device__ char text[] = "hello";
__device__ const char* names[] = {"a", "bc", nullptr};
struct Node {
  int v;
  const Node* next;
};
__device__ Node n1 = {1, nullptr};
__device__ Node n2 = {2, &n1};
__device__ __noinline__ void noret() { __trap(); }
extern "C" __global__ void __launch_bounds__(128) calls(Shape* s, int* a, float4* v, int n) {
  int i = threadIdx.x;
  a[i] = ops[n & 1](a[i], n);
  v[i] = vec(v[i], a[0], a[1]);
  a[1] = (int)s->area();
  Tri t;
  t.w = n;
  t.h = 2;
  Shape* p = (n & 2) ? s : &t;
  a[2] = p->area();
  printf("%d %f %s\n", i, v[i].x, names[n]);
  assert(a[i] > 3);
  a[3] = table[n][i] + init[n][i] + dval + text[n] + n2.next->v;
  switch (n) {
    case 0:
      a[0] = 1;
      break;
    case 1:
      a[1] = a[2];
      break;
    case 2:
      a[2] = a[3] * 3;
      break;
    case 3:
      a[3] = 5;
      break;
    case 4:
      a[4] = a[7] / 3;
      break;
    case 5:
      a[5] = 9;
      break;
    case 6:
      a[6] = a[1] + 2;
      break;
    case 7:
      noret();
      break;
    default:
      return;
  }
  for (int j = 0; j < n; ++j) {
    if (a[j] == 5) continue;
    if (a[j] == 9) break;
    a[j] += add(j, n);
  }
  void* h = malloc(16);
  if (h) free(h);
}
