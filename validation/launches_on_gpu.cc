// The zoo's launches on a real GPU, from a cold L2, for a profiler to look at or timed by events.
//
//   launches_on_gpu OUT.csv SIZE…          writes every launch with its time between two events; each benchmark runs
//   twice launches_on_gpu OUT.csv once SIZE…     the same, each benchmark once: what a profiler sees, in the order of
//   the rows
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "cuda_device.h"
#include "exec/address_space.h"
#include "kernels/benchmark.h"

namespace wm::validation {
namespace {

Result<void> add(CudaDevice& gpu, const zoo::Entry& entry, zoo::Size size, const std::string& size_name, bool once,
                 std::string& text) {
  const zoo::Case c = entry.benchmark.make(size);
  const GpuRunOptions options{.poison = exec::kPoison, .evict = true, .download = false};
  if (!once)
    if (auto warm = gpu.run(entry.ptx, c.application, options); !warm) return warm.error();
  const auto run = gpu.run(entry.ptx, c.application, options);
  if (!run) return run.error();
  std::size_t n = 0;
  for (const gpu::Step& s : c.application.steps)
    if (const auto* l = std::get_if<gpu::Launch>(&s)) {
      text += fmt::format("{},{},{},{},{}x{}x{},{}x{}x{},{:.3f}\n", entry.benchmark.name, size_name, n, l->kernel,
                          l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z,
                          run->launches[n].microseconds);
      ++n;
    }
  return {};
}

int main_of(const std::string& out, std::vector<std::string> sizes) {
  const bool once = sizes.front() == "once";
  if (once) sizes.erase(sizes.begin());
  auto gpu = CudaDevice::open();
  if (!gpu) {
    std::fprintf(stderr, "launches_on_gpu: %s\n", gpu.error().to_string().c_str());
    return 2;
  }
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string text =
      fmt::format("# {}; {}; {}; command: launches_on_gpu\nbenchmark,size,launch,kernel,grid,block,microseconds\n",
                  date, gpu->name(), gpu->driver());
  int code = 0;
  for (const std::string& name : sizes) {
    const zoo::Size size = name == "large" ? zoo::Size::large : name == "medium" ? zoo::Size::medium : zoo::Size::small;
    for (const zoo::Entry& entry : zoo::entries()) {
      if (entry.benchmark.constant_pointers) continue;
      if (auto r = add(*gpu, entry, size, name, once, text); !r) {
        std::fprintf(stderr, "%s %s: %s\n", entry.benchmark.name.c_str(), name.c_str(), r.error().to_string().c_str());
        code = 1;
      }
    }
  }
  if (auto r = write_file(out, text); !r) std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
  return code;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: launches_on_gpu OUT.csv [once] small|medium|large…\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], {argv + 2, argv + argc});
}
