#include "cli/commands/share_report.h"

#include <algorithm>

#include "gpu/metrics.h"

namespace wm::cli {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

std::vector<gpu::Progress> progress(const std::vector<double>& isolated, const std::vector<double>& shared) {
  std::vector<gpu::Progress> all;
  for (std::size_t i = 0; i < isolated.size(); ++i) all.push_back(gpu::Progress::of_times(isolated[i], shared[i]));
  return all;
}

// The intervals in which the device executed each client's kernels.
double overlap_of(const std::vector<ShareRun>& round) {
  std::vector<gpu::Interval> intervals;
  for (const ShareRun& run : round) intervals.push_back({run.device_began, run.device_ended});
  return gpu::overlap(intervals);
}

double makespan(const std::vector<ShareRun>& round) {
  std::uint64_t began = ~std::uint64_t{0}, ended = 0;
  for (const ShareRun& run : round) {
    began = std::min(began, run.began);
    ended = std::max(ended, run.ended);
  }
  return seconds(ended - began);
}

template <typename Get>
double mean(const std::vector<ShareFigures>& all, Get get) {
  double sum = 0;
  for (const ShareFigures& f : all) sum += get(f);
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

}  // namespace

double median(std::vector<double> all) {
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return n % 2 != 0 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
}

ShareFigures figures_of(const ShareCase& c) {
  ShareFigures f;
  const auto over_rounds = [&](auto get) {
    std::vector<double> all;
    for (const auto& round : c.rounds) all.push_back(get(round));
    return median(std::move(all));
  };
  for (std::size_t i = 0; i < c.benchmarks.size(); ++i) {
    f.shared.push_back(over_rounds([i](const auto& round) { return seconds(round[i].ended - round[i].began); }));
  }
  f.overlap = over_rounds(overlap_of);
  f.seconds = over_rounds(makespan);
  const auto plain = progress(c.isolated, f.shared), in_form = progress(c.isolated_rewritten, f.shared);
  for (const gpu::Progress& p : plain) f.slowdown.push_back(p.ntt());
  f.unfairness = gpu::unfairness(plain);
  f.ideal_unfairness = gpu::processor_sharing_unfairness(c.isolated);
  f.antt = gpu::antt(plain);
  f.worst = gpu::worst_ntt(plain);
  f.stp = gpu::stp(plain);
  f.unfairness_in_form = gpu::unfairness(in_form);
  f.antt_in_form = gpu::antt(in_form);
  f.stp_in_form = gpu::stp(in_form);
  return f;
}

ShareSummary summarise(const std::string& policy, const std::vector<ShareFigures>& all,
                       const std::vector<ShareFigures>& baseline) {
  ShareSummary s;
  s.policy = policy;
  s.workloads = all.size();
  s.clients = all.empty() ? 0 : all.front().shared.size();
  s.unfairness = mean(all, [](const auto& f) { return f.unfairness; });
  s.ideal_unfairness = mean(all, [](const auto& f) { return f.ideal_unfairness; });
  s.overlap = mean(all, [](const auto& f) { return f.overlap; });
  s.stp = mean(all, [](const auto& f) { return f.stp; });
  s.antt = mean(all, [](const auto& f) { return f.antt; });
  s.unfairness_in_form = mean(all, [](const auto& f) { return f.unfairness_in_form; });
  s.antt_in_form = mean(all, [](const auto& f) { return f.antt_in_form; });
  s.stp_in_form = mean(all, [](const auto& f) { return f.stp_in_form; });
  for (const ShareFigures& f : all) s.worst = std::max(s.worst, f.worst);
  s.fairer = s.unfairness > 0 ? mean(baseline, [](const auto& f) { return f.unfairness; }) / s.unfairness : 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    s.throughput += baseline[i].seconds / all[i].seconds / static_cast<double>(all.size());
  }
  return s;
}

}  // namespace wm::cli
