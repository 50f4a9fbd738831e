// The metrics of accelOS (CGO 2016, section 7.4) for clients that share a device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/commands/share_client.h"

namespace wm::cli {

// A workload under a policy: the isolated times of its clients, and the rounds in which they share the device.
struct ShareCase {
  std::vector<std::string> benchmarks;
  std::vector<double> isolated;            // seconds, on the device as it is (fifo), not rewritten
  std::vector<double> isolated_rewritten;  // seconds, under this policy
  std::vector<std::vector<ShareRun>> rounds;
};

struct ShareFigures {
  std::vector<double> shared;    // seconds, the median of the rounds
  std::vector<double> slowdown;  // against isolated
  double unfairness = 1, antt = 1, worst = 1, stp = 1;
  double ideal_unfairness = 1;  // unfairness of processor sharing with these isolated times
  double unfairness_in_form = 1, antt_in_form = 1, stp_in_form = 1;  // against isolated_rewritten
  double overlap = 0;
  double seconds = 0;  // until all have ended, the median
};

double median(std::vector<double> all);
ShareFigures figures_of(const ShareCase& c);

// Means over workloads of one size; `throughput` and `fairer` are over the baseline's.
struct ShareSummary {
  std::string policy;
  std::size_t clients = 0, workloads = 0;
  double unfairness = 0, ideal_unfairness = 0, fairer = 0, overlap = 0, throughput = 0, stp = 0, antt = 0, worst = 0;
  double unfairness_in_form = 0, antt_in_form = 0, stp_in_form = 0;
};

ShareSummary summarise(const std::string& policy, const std::vector<ShareFigures>& all,
                       const std::vector<ShareFigures>& baseline);

}  // namespace wm::cli
