// The zoo's contract: what a benchmark folder provides, and how the rest of the project finds it.
//
// kernels/<name>/<name>.cl   the kernels, OpenCL C; entry `<ident>` or `<ident>_<kernel>` where there are several
// kernels/<name>/<name>.cc   `Benchmark benchmark_<ident>()`: inputs in three sizes, launches, CPU reference
// <ident> is <name> with '-' as '_'. The build finds the folder, compiles its .cl to PTX and lists it; no other edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::zoo {

// `short_blocks` is `large`, but for benchmarks whose blocks run so long at `large` that a policy which waits for
// blocks to end cannot act within a run of a few million cycles. These have many blocks that end within 100,000 cycles.
enum class Size { small, medium, large, short_blocks };

// The expected final content of a buffer. An element passes when |got - expected| <= absolute + relative * |expected|;
// integers compare exactly. A NaN passes only where a NaN is expected, an infinity only where that infinity is.
struct Expectation {
  enum class Element { u8, u16, i32, u32, u64, f32, f64, f16, bf16 };
  gpu::BufferId buffer;
  Element element = Element::u32;
  std::vector<std::byte> values;
  double absolute = 0;
  double relative = 0;
};

// A buffer's final content, for checks that are not element-wise (an order that may differ, say).
using Contents = std::function<const std::vector<std::byte>&(gpu::BufferId)>;

// One benchmark at one size: the application and its expected results.
struct Case {
  gpu::Application application;
  std::vector<Expectation> expected;
  std::function<void(Case&)> reference;  // optional: adds expectations when asked, for references that take time
  std::function<Result<void>(const Contents&)> check;  // optional, run after the expectations passed

  template <typename T>
  void expect(gpu::BufferId buffer, const std::vector<T>& values, double absolute = 0, double relative = 0);
};

struct Kernel {
  std::string name;   // as in `histo/main`: "main"; a lone kernel has its benchmark's name
  std::string entry;  // in the PTX
};

struct Benchmark {
  std::string name;                  // "mri-q"
  std::string about;                 // one line: what it computes
  std::string suite;                 // "Parboil", "Rodinia", "CUDA SDK", "PolyBench", "ISPASS", "micro"
  std::vector<std::string> aliases;  // the papers' abbreviations: "BLK"
  std::vector<Kernel> kernels;       // in the order the application first launches them
  std::function<Case(Size)> make;
  // Its kernels take pointers to __constant memory. OpenCL and the simulators pass these; a CUDA driver cannot, which
  // would read other memory.
  bool constant_pointers = false;
};

// A benchmark with its compiled kernels.
struct Entry {
  Benchmark benchmark;
  std::string_view ptx;     // made by the build from `source`
  std::string_view source;  // the OpenCL C
};

// Every benchmark, by name.
const std::vector<Entry>& entries();

// By name or alias (case-insensitive for aliases), or an error that names the nearest.
Result<const Entry*> find(std::string_view name);

// Compares the final contents with what the case expects; the error names the first wrong element and counts the rest.
Result<void> verify(const Case& c, const Contents& contents);

template <typename T>
void Case::expect(gpu::BufferId buffer, const std::vector<T>& values, double absolute, double relative) {
  using enum Expectation::Element;
  Expectation e{.buffer = buffer, .element = u32, .values = {}, .absolute = absolute, .relative = relative};
  if constexpr (std::is_same_v<T, float>)
    e.element = f32;
  else if constexpr (std::is_same_v<T, double>)
    e.element = f64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    e.element = i32;
  else if constexpr (sizeof(T) == 1)
    e.element = u8;
  else if constexpr (sizeof(T) == 2)
    e.element = u16;
  else if constexpr (sizeof(T) == 8)
    e.element = u64;
  e.values.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(e.values.data(), values.data(), e.values.size());
  expected.push_back(std::move(e));
}

}  // namespace wm::zoo
