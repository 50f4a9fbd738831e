#include "cli/output/verification.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/output/terminal.h"

namespace wm::cli {
namespace {

bool completed_none(const lab::KernelResult& k) { return k.runs == 0 && k.totals.sm.thread_instructions != 0; }

}  // namespace

std::string verification_note(const lab::CorunResult& result) {
  std::string text;
  const bool repeats = std::any_of(result.kernels.begin(), result.kernels.end(),
                                   [](const lab::KernelResult& k) { return k.verified == true && !k.totals.finished; });
  if (repeats)
    text +=
        styled(Style::dim, "Verified: the output of a kernel's first complete run, against its CPU reference.") + "\n";
  for (const lab::KernelResult& k : result.kernels)
    if (completed_none(k))
      text += styled(Style::dim, fmt::format("{} completed no run in this time: its output is not verified.", k.name)) +
              "\n";
  return text;
}

std::string verification_note(const lab::Comparison& all) {
  if (all.runs.empty()) return {};
  std::string parts;
  for (std::size_t k = 0; k < all.runs[0].result.kernels.size(); ++k) {
    const auto count = [&](const auto& holds) {
      return std::count_if(all.runs.begin(), all.runs.end(),
                           [&](const lab::ComparedRun& r) { return holds(r.result.kernels[k]); });
    };
    const auto right = count([](const lab::KernelResult& r) { return r.verified == true; });
    const bool none = count([](const lab::KernelResult& r) { return r.runs != 0; }) == 0;
    parts += (parts.empty() ? "" : ", ") + all.runs[0].result.kernels[k].name;
    parts += none ? " completed none" : fmt::format(" under {} of {} policies", right, all.runs.size());
  }
  return styled(Style::dim, "Verified, the first complete run against the CPU reference: " + parts + ".") + "\n";
}

bool report_wrong_outputs(const lab::CorunResult& result) {
  bool any = false;
  for (const lab::KernelResult& k : result.kernels) {
    if (k.verified != false) continue;
    fmt::print(stderr, "wm: {} computed a wrong result under {}: {}\n", k.name,
               result.policy.substr(0, result.policy.find(':')), k.mismatch);
    any = true;
  }
  return any;
}

bool report_wrong_outputs(const lab::Comparison& all) {
  bool any = false;
  for (const lab::ComparedRun& r : all.runs) any |= report_wrong_outputs(r.result);
  return any;
}

}  // namespace wm::cli
