#include "lab/validation/accuracy.h"

#include <cmath>
#include <cstdint>

namespace wm::lab {
namespace {

constexpr double kSectorBytes = 32;

std::optional<Compared> compared(const LaunchFigures& measured, const char* column, const LaunchFigures& simulated,
                                 const char* simulated_column, double factor = 1) {
  const auto m = measured.find(column);
  const auto s = simulated.find(simulated_column);
  if (m == measured.end() || s == simulated.end()) return std::nullopt;
  return Compared{m->second, factor * s->second};
}

std::optional<LaunchAccuracy> launch_accuracy(const LaunchRows& measured, const LaunchRows& simulated,
                                              const std::string& name, std::uint32_t launch) {
  const auto m = measured.find({name, launch});
  const auto s = simulated.find({name, launch});
  if (m == measured.end() || s == simulated.end() || m->second.at("cycles") <= 0) return std::nullopt;
  LaunchAccuracy accuracy;
  accuracy.cycles = {m->second.at("cycles"), s->second.at("cycles")};
  accuracy.instructions = compared(m->second, "instructions", s->second, "instructions");
  accuracy.l2_sectors = compared(m->second, "l1_l2_sectors", s->second, "l2_sectors");
  accuracy.dram_read = compared(m->second, "dram_read_bytes", s->second, "dram_read_sectors", kSectorBytes);
  return accuracy;
}

// Counts how many of the launches that have a figure are near enough.
class Share {
 public:
  void add(const std::optional<Compared>& figure, double tolerance, double noise) {
    if (!figure) return;
    ++all_;
    const double difference = std::abs(figure->simulated - figure->measured);
    if (difference <= noise || difference <= tolerance * figure->measured) ++near_;
  }
  [[nodiscard]] double value() const { return all_ == 0 ? 0 : static_cast<double>(near_) / static_cast<double>(all_); }

 private:
  std::size_t all_ = 0;
  std::size_t near_ = 0;
};

// Pearson's correlation of pairs that arrive one by one.
class Correlation {
 public:
  void add(double x, double y) {
    ++count_;
    x_ += x;
    y_ += y;
    xx_ += x * x;
    yy_ += y * y;
    xy_ += x * y;
  }
  [[nodiscard]] double value() const {
    const double spread = (count_ * xx_ - x_ * x_) * (count_ * yy_ - y_ * y_);
    return spread > 0 ? (count_ * xy_ - x_ * y_) / std::sqrt(spread) : 0;
  }

 private:
  double count_ = 0, x_ = 0, y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

}  // namespace

bool is_set_aside(std::string_view case_name) {
  constexpr std::uint32_t kOffset = 2166136261U, kPrime = 16777619U;  // FNV-1a
  std::uint32_t hash = kOffset;
  for (const char c : case_name.substr(0, case_name.find('.'))) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash % 3 == 2;
}

std::vector<CaseAccuracy> compare(const LaunchRows& measured, const LaunchRows& simulated) {
  std::vector<CaseAccuracy> cases;
  for (const auto& [key, figures] : measured) {
    if (key.second != 0) continue;
    const auto cold = launch_accuracy(measured, simulated, key.first, 0);
    if (!cold) continue;
    cases.push_back({key.first, is_set_aside(key.first), *cold, launch_accuracy(measured, simulated, key.first, 1)});
  }
  return cases;
}

AccuracySummary summarize(const std::vector<CaseAccuracy>& cases, Part part, Temperature temperature) {
  AccuracySummary summary;
  Correlation correlation;
  Share instructions_5, instructions_15, l2, dram;
  for (const CaseAccuracy& c : cases) {
    if (part != Part::all && c.set_aside != (part == Part::set_aside)) continue;
    if (temperature == Temperature::warm && !c.warm) continue;
    const LaunchAccuracy& launch = temperature == Temperature::cold ? c.cold : *c.warm;
    const double error = launch.cycles.error();
    ++summary.launches;
    summary.mean_absolute_error += std::abs(error);
    if (launch.cycles.simulated > 0)
      correlation.add(std::log(launch.cycles.measured), std::log(launch.cycles.simulated));
    if (std::abs(error) > 0.4) ++summary.beyond_40_percent;
    if (summary.largest_name.empty() || std::abs(error) > std::abs(summary.largest_error)) {
      summary.largest_name = c.name;
      summary.largest_error = error;
    }
    instructions_5.add(launch.instructions, 0.05, 0);
    instructions_15.add(launch.instructions, 0.15, 0);
    l2.add(launch.l2_sectors, 0.15, kNoiseSectors);
    dram.add(launch.dram_read, 0.15, kNoiseBytes);
  }
  if (summary.launches != 0) summary.mean_absolute_error /= static_cast<double>(summary.launches);
  summary.log_correlation = correlation.value();
  summary.instructions_within_5_percent = instructions_5.value();
  summary.instructions_within_15_percent = instructions_15.value();
  summary.l2_within_15_percent = l2.value();
  summary.dram_within_15_percent = dram.value();
  return summary;
}

}  // namespace wm::lab
