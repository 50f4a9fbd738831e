// The corpus on a simulated GPU, without other clients: a row a launch on standard output.
//
//   corpus_on_sim GPU TABLE PTX-FOLDER [PART/PARTS] [PREFIX…]     PART of PARTS: every PARTS-th case, from PART on
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "gpu/case_table.h"
#include "gpu/load_gpu.h"
#include "simulated.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kLaunches = 2;

using Strings = std::vector<std::string>;

bool is_wanted(const std::string& name, const Strings& prefixes) {
  if (prefixes.empty()) return true;
  for (const std::string& p : prefixes)
    if (name.starts_with(p)) return true;
  return false;
}

Result<SimulatedRun> run_case(const gpu::GpuConfig& config, const gpu::LaunchCase& c, const std::string& folder) {
  const auto ptx = read_file(folder + "/" + c.file + ".ptx");
  if (!ptx) return ptx.error();
  const auto application = gpu::make_application(c, kLaunches);
  if (!application) return application.error();
  return simulate(config, *ptx, *application);
}

int main_of(const Strings& arguments) {
  const auto config = gpu::load_gpu(arguments[0], WM_SOURCE_DIR "/configs/gpus");
  const auto text = read_file(arguments[1]);
  if (!config || !text) {
    std::fprintf(stderr, "%s\n", (config ? text.error() : config.error()).to_string().c_str());
    return 2;
  }
  const auto cases = gpu::parse_cases(*text, arguments[1]);
  if (!cases) {
    std::fprintf(stderr, "%s\n", cases.error().to_string().c_str());
    return 2;
  }
  std::size_t part = 0;
  std::size_t parts = 1;
  Strings prefixes(arguments.begin() + 3, arguments.end());
  if (!prefixes.empty() && prefixes[0].find('/') != std::string::npos) {
    part = std::strtoul(prefixes[0].c_str(), nullptr, 10);
    parts = std::strtoul(prefixes[0].c_str() + prefixes[0].find('/') + 1, nullptr, 10);
    prefixes.erase(prefixes.begin());
  }
  std::printf("name,launch,cycles,instructions,l2_sectors,dram_read_sectors,dram_write_sectors\n");
  int code = 0;
  for (std::size_t i = part; i < cases->size(); i += parts) {
    const gpu::LaunchCase& c = (*cases)[i];
    if (!is_wanted(c.name, prefixes)) continue;
    const auto run = run_case(*config, c, arguments[2]);
    if (!run) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), run.error().to_string().c_str());
      code = 1;
      continue;
    }
    for (std::size_t l = 0; l < run->launches.size(); ++l) {
      const SimulatedLaunch& s = run->launches[l];
      std::printf("%s,%zu,%llu,%llu,%llu,%llu,%llu\n", c.name.c_str(), l, static_cast<unsigned long long>(s.cycles),
                  static_cast<unsigned long long>(s.issued), static_cast<unsigned long long>(s.l2_sectors),
                  static_cast<unsigned long long>(s.dram_read_sectors),
                  static_cast<unsigned long long>(s.dram_write_sectors));
    }
    std::fflush(stdout);
  }
  return code;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: corpus_on_sim GPU TABLE PTX-FOLDER [PART/PARTS] [PREFIX…]\n");
    return 2;
  }
  return wm::validation::main_of({argv + 1, argv + argc});
}
