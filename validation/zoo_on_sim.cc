// The zoo's launches on a simulated GPU, without other clients: the cycles of every launch as CSV rows on standard
// output.
//
//   zoo_on_sim GPU SIZE MOST BENCHMARK…    at most MOST launches of each (0: all); `all`: every benchmark
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gpu/load_gpu.h"
#include "kernels/benchmark.h"
#include "lab/validation/simulated_launches.h"

namespace wm::validation {
namespace {

int main_of(const std::string& gpu_name, const std::string& size_name, std::uint32_t max_launches,
            const std::vector<std::string>& names) {
  const auto config = gpu::load_gpu(gpu_name, WM_SOURCE_DIR "/configs/gpus");
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().to_string().c_str());
    return 2;
  }
  const zoo::Size size = size_name == "large"    ? zoo::Size::large
                         : size_name == "medium" ? zoo::Size::medium
                                                 : zoo::Size::small;
  std::printf("benchmark,size,launch,kernel,cycles,instructions\n");
  int code = 0;
  for (const zoo::Entry& entry : zoo::entries()) {
    const std::string& name = entry.benchmark.name;
    if (names.front() == "all" && entry.benchmark.constant_pointers) continue;  // no GPU has run it
    if (names.front() != "all" && std::find(names.begin(), names.end(), name) == names.end()) continue;
    const auto run = lab::simulate(*config, entry.ptx, entry.benchmark.make(size).application, max_launches);
    if (!run) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), run.error().to_string().c_str());
      code = 1;
      continue;
    }
    for (std::size_t i = 0; i < run->launches.size(); ++i) {
      const lab::SimulatedLaunch& l = run->launches[i];
      std::printf("%s,%s,%zu,%s,%llu,%llu\n", name.c_str(), size_name.c_str(), i, l.kernel.c_str(),
                  static_cast<unsigned long long>(l.cycles), static_cast<unsigned long long>(l.issued));
    }
    std::fflush(stdout);
  }
  return code;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: zoo_on_sim GPU small|medium|large MOST all|BENCHMARK…\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], argv[2], static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)),
                                 {argv + 4, argv + argc});
}
