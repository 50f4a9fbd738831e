// Runs the zoo's PTX on a real GPU and in the executor, and compares the contents of all buffers at the end.
//
//   zoo_on_gpu OUT [SIZE…]        writes OUT.csv, one row a buffer, and OUT-times.csv; exit code 1 where any row fails
//   zoo_on_gpu OUT times          launches at the large size, timed on the GPU without other work: OUT-times.csv
//
// Integers must be equal to the bit. Floats are compared by the tolerance the benchmark states for its own output,
// since approximate functions differ in their last bits. A buffer without expectations (an input, an
// intermediate one) must be equal to the bit too, or, in a benchmark of floats, equal by its loosest tolerance. Where a
// benchmark checks its whole output, since an order or a last bit may differ, such a buffer is reported as it is.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cuda_device.h"
#include "exec/address_space.h"
#include "exec/run.h"
#include "kernels/benchmark.h"
#include "ptx/parse.h"

namespace wm::validation {
namespace {

using Bytes = std::vector<std::byte>;

struct Difference {
  std::size_t elements = 0;
  std::size_t unequal = 0;  // not the same bits
  std::size_t outside = 0;  // further apart than the tolerance
  double worst = 0;         // largest relative difference of floats
};

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

template <typename T>
Difference compare(const Bytes& a, const Bytes& b, Tolerance tolerance = {}) {
  Difference d;
  d.elements = a.size() / sizeof(T);
  for (std::size_t i = 0; i < d.elements; ++i) {
    T x;
    T y;
    std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
    ++d.unequal;
    const double scale = std::max(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y)));
    const double apart = std::abs(static_cast<double>(x) - static_cast<double>(y));
    d.worst = std::max(d.worst, std::isfinite(apart) && scale > 0 ? apart / scale : 1e300);
    // The negated comparison counts a NaN as outside the tolerance.
    if (!(apart <= tolerance.absolute + tolerance.relative * scale)) ++d.outside;
  }
  return d;
}

const char* name(zoo::Size size) {
  return size == zoo::Size::small ? "small" : size == zoo::Size::medium ? "medium" : "large";
}

struct Report {
  std::string rows =
      "benchmark,size,buffer,element,elements,unequal_bits,outside,worst_relative,gpu_verified,executor_verified,"
      "passed\n";
  std::string times = "benchmark,size,launch,kernel,grid,block,microseconds\n";
  bool passed = true;
};

void add_times(const zoo::Entry& entry, zoo::Size size, const zoo::Case& c, const GpuRun& run, Report& report) {
  std::size_t n = 0;
  for (const gpu::Step& s : c.application.steps)
    if (const auto* l = std::get_if<gpu::Launch>(&s)) {
      report.times += fmt::format("{},{},{},{},{}x{}x{},{}x{}x{},{:.3f}\n", entry.benchmark.name, name(size), n,
                                  l->kernel, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z,
                                  run.launches[n].microseconds);
      ++n;
    }
}

Result<void> time_only(CudaDevice& gpu, const zoo::Entry& entry, Report& report) {
  const zoo::Case c = entry.benchmark.make(zoo::Size::large);
  if (auto warm = gpu.run(entry.ptx, c.application, {.poison = exec::kPoison}); !warm) return warm.error();
  const auto run = gpu.run(entry.ptx, c.application, {.poison = exec::kPoison});
  if (!run) return run.error();
  add_times(entry, zoo::Size::large, c, *run, report);
  return zoo::verify(c, [&](gpu::BufferId id) -> const Bytes& { return run->buffers[id.index]; });
}

// The element type of the buffer, and the difference between the two contents.
std::pair<std::string, Difference> compare_buffer(const zoo::Case& c, std::size_t buffer, const Bytes& a,
                                                  const Bytes& b) {
  using Element = zoo::Expectation::Element;
  Tolerance loosest;
  bool floats = false;
  for (const zoo::Expectation& e : c.expected) {
    const Tolerance stated{e.absolute, e.relative};
    if (e.buffer.index == buffer) {
      if (e.element == Element::f32) return {"f32", compare<float>(a, b, stated)};
      if (e.element == Element::f64) return {"f64", compare<double>(a, b, stated)};
      return {"integer", compare<std::uint8_t>(a, b)};
    }
    floats = floats || e.element == Element::f32;
    loosest = {std::max(loosest.absolute, e.absolute), std::max(loosest.relative, e.relative)};
  }
  const Difference bytes = compare<std::uint8_t>(a, b);
  if (bytes.unequal != 0 && floats && a.size() % sizeof(float) == 0)
    return {"f32 between", compare<float>(a, b, loosest)};
  return {bytes.unequal != 0 && c.check ? "as a whole" : "bytes", bytes};
}

Result<void> check(CudaDevice& gpu, const zoo::Entry& entry, zoo::Size size, Report& report) {
  zoo::Case c = entry.benchmark.make(size);
  if (c.reference) c.reference(c);  // its expectations give the contents of each buffer
  c.reference = nullptr;
  const auto module = ptx::parse(entry.ptx, entry.benchmark.name + ".ptx");
  if (!module) return module.error();
  const auto here = exec::run_application(*module, c.application);
  if (!here) return here.error();
  // Twice: the first run loads the module and warms the clocks, the second is timed.
  if (auto warm = gpu.run(entry.ptx, c.application, {.poison = exec::kPoison}); !warm) return warm.error();
  const auto there = gpu.run(entry.ptx, c.application, {.poison = exec::kPoison});
  if (!there) return there.error();
  const bool gpu_ok = zoo::verify(c, [&](gpu::BufferId id) -> const Bytes& { return there->buffers[id.index]; }).ok();
  const bool exec_ok = zoo::verify(c, [&](gpu::BufferId id) -> const Bytes& { return here->buffers[id.index]; }).ok();
  for (std::size_t b = 0; b < c.application.buffers.size(); ++b) {
    const auto [element, d] = compare_buffer(c, b, here->buffers[b], there->buffers[b]);
    const bool ordered = element != "as a whole";
    const bool ok = gpu_ok && exec_ok && (!ordered || d.outside == 0);
    report.passed = report.passed && ok;
    report.rows += fmt::format("{},{},{},{},{},{},{},{:.3g},{},{},{}\n", entry.benchmark.name, name(size),
                               c.application.buffers[b].name, element, d.elements, d.unequal, d.outside,
                               element.starts_with('f') ? d.worst : 0.0, gpu_ok, exec_ok, ok);
  }
  add_times(entry, size, c, *there, report);
  return {};
}

int main_of(const std::vector<std::string>& arguments) {
  auto gpu = CudaDevice::open();
  if (!gpu) {
    std::fprintf(stderr, "zoo_on_gpu: %s\n", gpu.error().to_string().c_str());
    return 2;
  }
  Report report;
  std::vector<zoo::Size> sizes;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    sizes.push_back(arguments[i] == "large"    ? zoo::Size::large
                    : arguments[i] == "medium" ? zoo::Size::medium
                                               : zoo::Size::small);
  if (sizes.empty()) sizes = {zoo::Size::small, zoo::Size::medium};
  const bool times = arguments.size() == 2 && arguments[1] == "times";
  if (times) sizes = {zoo::Size::large};
  for (const zoo::Entry& entry : zoo::entries()) {
    if (entry.benchmark.constant_pointers) continue;
    for (const zoo::Size size : sizes)
      if (auto r = times ? time_only(*gpu, entry, report) : check(*gpu, entry, size, report); !r) {
        std::fprintf(stderr, "%s %s: %s\n", entry.benchmark.name.c_str(), name(size), r.error().to_string().c_str());
        report.passed = false;
      }
  }
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  const std::string head = fmt::format("# {}; {}; {}; command: zoo_on_gpu\n", date, gpu->name(), gpu->driver());
  if (auto r = times ? Result<void>() : write_file(arguments[0] + ".csv", head + report.rows); !r)
    std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
  if (auto r = write_file(arguments[0] + "-times.csv", head + report.times); !r)
    std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
  std::printf("%s\n", report.passed ? "all buffers agree" : "some buffers differ: see the rows that say false");
  return report.passed ? 0 : 1;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: zoo_on_gpu OUT [small|medium|large…]   writes OUT.csv and OUT-times.csv\n");
    return 2;
  }
  return wm::validation::main_of({argv + 1, argv + argc});
}
