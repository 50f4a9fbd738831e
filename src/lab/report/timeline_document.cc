#include "lab/report/timeline_document.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "lab/run/rates.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kBins = 400;       // more cannot be distinguished on a screen
constexpr std::size_t kPoints = 200;       // per curve
constexpr std::uint64_t kWhole = 1 << 16;  // an SM: a block holds one of as many parts as blocks fit on it

// Occupancy integrated over time, in bins.
class Bins {
 public:
  Bins(std::uint64_t cycles, std::uint64_t bin) : bin_(bin), sums_((cycles + bin - 1) / bin, 0) {}

  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t amount) {
    for (std::uint64_t b = begin / bin_; b < sums_.size() && b * bin_ < end; ++b)
      sums_[b] += amount * (std::min(end, (b + 1) * bin_) - std::max(begin, b * bin_));
  }

  // One character per bin: the occupancy in 64ths of `full`.
  [[nodiscard]] std::string text(std::uint64_t full) const {
    static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (const std::uint64_t sum : sums_)
      out += kAlphabet[std::min<std::uint64_t>(63, (sum * 63 + full * bin_ / 2) / (full * bin_))];
    return out;
  }

 private:
  std::uint64_t bin_;
  std::vector<std::uint64_t> sums_;
};

// Rounds to three digits, which is all that a curve shows.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 2 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json rounded(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(nullptr); }

// Combines `every` intervals into one, so that a curve has at most kPoints points.
template <class Value>
Json points(const std::vector<IntervalRates>& intervals, std::size_t every, const Value& value) {
  Json all = Json::array();
  for (std::size_t i = 0; i < intervals.size(); i += every) all.push_back(value(intervals[i]));
  return all;
}

Json kernel_curves(const std::vector<IntervalRates>& all, std::size_t every, std::size_t k, const KernelResult& result,
                   bool has_counters) {
  const auto of = [k](const IntervalRates& i) -> const KernelRates& { return i.kernels[k]; };
  const bool limited = std::any_of(all.begin(), all.end(), [&](const auto& i) { return of(i).quota.has_value(); });
  const Json goal = result.goal ? Json(*result.goal) : Json(nullptr);
  if (!has_counters)
    return {{"ipc", points(all, every, [&](const auto& i) { return rounded(of(i).ipc); })},
            {"bandwidth", nullptr},
            {"l1_hit", nullptr},
            {"l2_hit", nullptr},
            {"quota", nullptr},
            {"goal", goal},
            {"stalls", nullptr}};
  Json stalls = Json::object();
  for (std::size_t s = 0; s < sim::kStalls; ++s)
    stalls[std::string(stall_name(s))] = points(all, every, [&](const auto& i) { return rounded(of(i).stalls[s]); });
  return {
      {"ipc", points(all, every, [&](const auto& i) { return rounded(of(i).ipc); })},
      {"bandwidth", points(all, every, [&](const auto& i) { return rounded(of(i).gigabytes); })},
      {"l1_hit", points(all, every, [&](const auto& i) { return rounded(of(i).l1_hit); })},
      {"l2_hit", points(all, every, [&](const auto& i) { return rounded(of(i).l2_hit); })},
      {"quota", limited ? points(all, every, [&](const auto& i) { return of(i).quota.value_or(0); }) : Json(nullptr)},
      {"goal", goal},
      {"stalls", stalls}};
}

}  // namespace

Json timeline_document(const gpu::GpuConfig& gpu, const CorunResult& run, const sim::Timeline& timeline) {
  const std::uint64_t cycles = std::max<std::uint64_t>(1, timeline.cycles());
  const std::uint64_t bin = std::max<std::uint64_t>(1, (cycles + kBins - 1) / kBins);
  const std::uint32_t sms = gpu.sm.count;
  const Bins empty(cycles, bin);
  std::vector<std::vector<Bins>> held(run.kernels.size(), std::vector<Bins>(sms, empty));
  std::vector<Bins> off(sms, empty);
  for (const sim::BlockSpan& s : timeline.blocks())
    held[s.block.client][s.block.sm].add(s.begin, s.end, kWhole / s.block.max_blocks_per_sm);
  for (const sim::SmSpan& s : timeline.sms())
    if (s.state == policy::Sm::State::off) off[s.sm].add(s.begin, s.end, 1);
  Json held_text = Json::array();
  for (const std::vector<Bins>& kernel : held) {
    Json rows = Json::array();
    for (const Bins& b : kernel) rows.push_back(b.text(kWhole));
    held_text.push_back(std::move(rows));
  }
  Json off_text = Json::array();
  for (const Bins& b : off) off_text.push_back(b.text(1));

  const std::vector<IntervalRates> all = rates_of(gpu, timeline);
  const std::size_t every = std::max<std::size_t>(1, (all.size() + kPoints - 1) / kPoints);
  Json kernels = Json::array();
  for (std::size_t k = 0; k < run.kernels.size(); ++k)
    kernels.push_back(kernel_curves(all, every, k, run.kernels[k], timeline.has_counters()));
  const auto of_chip = [&](const auto& value) {
    return timeline.has_counters() ? points(all, every, value) : Json(nullptr);
  };
  return {{"cycles", cycles},
          {"bin", bin},
          {"bins", (cycles + bin - 1) / bin},
          {"sms", sms},
          {"held", held_text},
          {"off", off_text},
          {"curves",
           {{"begin", points(all, every, [](const auto& i) { return i.begin; })},
            {"cycles", points(all, every, [](const auto& i) { return i.cycles; })},
            {"watts", of_chip([](const auto& i) { return rounded(i.watts); })},
            {"bandwidth", of_chip([](const auto& i) { return rounded(i.gigabytes); })},
            {"kernels", kernels}}}};
}

}  // namespace wm::lab
