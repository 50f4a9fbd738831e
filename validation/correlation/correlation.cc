#include "correlation/correlation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "base/file.h"

namespace wm::validation {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

}  // namespace

Result<LaunchTable> read_launches(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  constexpr std::array kColumns{"benchmark", "size", "launch", "kernel", "cycles", "instructions"};
  std::array<std::size_t, kColumns.size()> at{};
  LaunchTable table;
  bool headed = false;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    if (!headed) {
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        const auto it = std::find(fields.begin(), fields.end(), kColumns[i]);
        if (it == fields.end()) return Error{fmt::format("{}:{}: no column '{}'", file, number, kColumns[i])};
        at[i] = static_cast<std::size_t>(it - fields.begin());
      }
      headed = true;
      continue;
    }
    if (fields.size() <= *std::max_element(at.begin(), at.end()))
      return Error{fmt::format("{}:{}: too few columns", file, number)};
    table[{fields[at[0]], fields[at[1]], static_cast<std::uint32_t>(std::stoul(fields[at[2]]))}] = {
        fields[at[3]], std::stod(fields[at[4]]), std::stod(fields[at[5]])};
  }
  return table;
}

Result<std::set<std::string>> read_names(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  std::set<std::string> names;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}

std::vector<Point> points(const LaunchTable& measured, const LaunchTable& simulated,
                          const std::set<std::string>& held_out, double threshold) {
  std::map<std::tuple<std::string, std::string, std::string>, Point> by_kernel;
  for (const auto& [key, sim] : simulated) {
    const auto it = measured.find(key);
    if (it == measured.end()) continue;
    Point& p = by_kernel[{key.benchmark, key.size, sim.kernel}];
    p.benchmark = key.benchmark;
    p.size = key.size;
    p.kernel = sim.kernel;
    p.held_out = held_out.contains(key.benchmark);
    ++p.launches;
    p.measured += it->second.cycles;
    p.simulated += sim.cycles;
    p.measured_instructions += it->second.instructions;
    p.simulated_instructions += sim.instructions;
  }
  std::vector<Point> all;
  for (auto& [name, p] : by_kernel) {
    for (double* sum : {&p.measured, &p.simulated, &p.measured_instructions, &p.simulated_instructions})
      *sum /= p.launches;
    if (p.measured >= threshold) all.push_back(p);
  }
  return all;
}

Agreement agreement(const std::vector<Point>& points) {
  Agreement a{.points = points.size()};
  if (points.empty()) return a;
  const auto n = static_cast<double>(points.size());
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const Point& p : points) {
    a.mean_absolute_error += std::abs(p.error()) / n;
    const double m = std::log(p.measured);
    const double s = std::log(p.simulated);
    x += m;
    y += s;
    xx += m * m;
    yy += s * s;
    xy += m * s;
  }
  a.log_correlation = (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
  return a;
}

}  // namespace wm::validation
