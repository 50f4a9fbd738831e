// Checks shared by the CUDA programs of this folder: a failed call or a wrong value ends the program with code 1.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA(call)                                                                           \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

// Device memory with the values of a vector; freed at the end of its scope.
template <typename T>
struct Buffer {
  T* data = nullptr;
  std::size_t count;
  explicit Buffer(std::size_t n) : count(n) { CUDA(cudaMalloc(&data, n * sizeof(T))); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    CUDA(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data); }
  std::vector<T> read() const {
    std::vector<T> values(count);
    CUDA(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

inline bool near(double a, double b, double tolerance = 1e-4) {
  return std::fabs(a - b) <= tolerance * (1 + std::fabs(a) + std::fabs(b));
}

// The same numbers on every host.
struct Numbers {
  unsigned state = 12345;
  unsigned next() { return state = state * 1664525U + 1013904223U; }
  float unit() { return static_cast<float>(next() >> 8) / 16777216.0F; }
};

inline int passed(const char* name) {
  CUDA(cudaDeviceSynchronize());
  std::printf("%s: ok\n", name);
  return 0;
}
