#include "probes/results.h"

#include <cstring>
#include <fmt/format.h>
#include <sstream>

#include "base/file.h"
#include "lab/validation/simulated_launches.h"

namespace wm::validation {

Result<std::map<std::string, double>> read_results(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  std::map<std::string, double> values;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#' || line.starts_with("probe,")) continue;
    const std::size_t first = line.find(',');
    const std::size_t last = line.rfind(',');
    if (first == std::string::npos || first == last)
      return Error{fmt::format("{}:{}: expected probe,unit,value", file, number)};
    values[line.substr(0, first)] = std::stod(line.substr(last + 1));
  }
  return values;
}

Result<double> simulate_probe(const gpu::GpuConfig& gpu, const Probe& p) {
  const auto run = lab::simulate(gpu, p.ptx, p.application);
  if (!run) return run.error();
  std::vector<double> cycles;
  for (std::size_t l = 0; l < 3; ++l) {
    std::uint64_t clock = 0;
    std::memcpy(&clock, run->buffers[p.clocks.index].data() + 8 * l, 8);
    cycles.push_back(static_cast<double>(p.times_launch ? run->launches[l].cycles : clock));
  }
  return value_of(p, cycles);
}

}  // namespace wm::validation
