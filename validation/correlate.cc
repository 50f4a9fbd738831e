// Simulated against measured cycles: correlate MEASURED.csv SIMULATED.csv HELDOUT.txt
#include <cstdio>

#include "correlation/correlation.h"

namespace wm::validation {
namespace {

void say(const char* what, const Agreement& a) {
  std::printf("%s: %zu kernels, mean absolute error %.1f%%, log correlation %.4f\n", what, a.points,
              100 * a.mean_absolute_error, a.log_correlation);
}

int main_of(const std::string& measured_file, const std::string& simulated_file, const std::string& held_out_file) {
  const auto measured = read_launches(measured_file);
  const auto simulated = read_launches(simulated_file);
  const auto held_out = read_names(held_out_file);
  for (const Error* e : {measured ? nullptr : &measured.error(), simulated ? nullptr : &simulated.error(),
                         held_out ? nullptr : &held_out.error()})
    if (e != nullptr) {
      std::fprintf(stderr, "%s\n", e->to_string().c_str());
      return 2;
    }
  std::vector<Point> tuned;
  std::vector<Point> apart;
  const std::vector<Point> all = points(*measured, *simulated, *held_out, kThresholdCycles);
  std::printf("%-14s %-7s %-28s %9s %9s %7s %12s\n", "benchmark", "size", "kernel", "measured", "simulated", "error",
              "instructions");
  for (const Point& p : all) {
    std::printf("%-14s %-7s %-28s %9.0f %9.0f %+6.0f%% %+11.0f%%%s\n", p.benchmark.c_str(), p.size.c_str(),
                p.kernel.c_str(), p.measured, p.simulated, 100 * p.error(),
                100 * (p.simulated_instructions / p.measured_instructions - 1), p.held_out ? "  held out" : "");
    (p.held_out ? apart : tuned).push_back(p);
  }
  say("tuned on", agreement(tuned));
  say("held out", agreement(apart));
  say("all", agreement(all));
  return 0;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: correlate MEASURED.csv SIMULATED.csv HELDOUT.txt\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], argv[2], argv[3]);
}
