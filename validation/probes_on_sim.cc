// Every probe on a simulated GPU, compared with hardware.
//
//   probes_on_sim GPU [HARDWARE.csv] [PREFIX]
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>

#include "base/file.h"
#include "gpu/load_gpu.h"
#include "probes/probe.h"
#include "probes/results.h"

namespace wm::validation {
namespace {

int main_of(const std::string& gpu_name, const std::string& hardware_file, const std::string& prefix) {
  const auto config = gpu::load_gpu(gpu_name, WM_SOURCE_DIR "/configs/gpus");
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().to_string().c_str());
    return 2;
  }
  std::map<std::string, double> hardware;
  if (!hardware_file.empty()) {
    auto read = read_results(hardware_file);
    if (!read) {
      std::fprintf(stderr, "%s\n", read.error().to_string().c_str());
      return 2;
    }
    hardware = *std::move(read);
  }
  std::printf("probe,unit,simulated,hardware,error\n");
  for (const Probe& p : probes(config->sm.count)) {
    if (!p.name.starts_with(prefix)) continue;
    const auto value = simulate_probe(*config, p);
    if (!value) {
      std::fprintf(stderr, "%s: %s\n", p.name.c_str(), value.error().to_string().c_str());
      continue;
    }
    const auto it = hardware.find(p.name);
    std::printf("%s,%s,%.4g,", p.name.c_str(), p.unit.c_str(), *value);
    if (it != hardware.end()) std::printf("%.4g,%+.1f%%", it->second, 100 * (*value / it->second - 1));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: probes_on_sim GPU [HARDWARE.csv [PREFIX]]\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
}
