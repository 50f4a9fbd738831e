#include "runtime/client/cuda/state/device.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>

namespace wm::cuda {

Result<void> Device::choose_timing(const std::string& timing, const runtime::TimedOptions& options) {
  if (timing == "functional") {
    runner_ = runtime::make_functional_runner(memory_, options.threads);
    return {};
  }
  if (timing != "cycle") return Error{"WARPMUX_TIMING '" + timing + "' is neither functional nor cycle"};
  auto runner = runtime::make_timed_runner(memory_, config_, options);
  if (!runner) return runner.error();
  runner_ = *std::move(runner);
  is_timed_ = true;
  return {};
}

std::int64_t Device::now() const {
  if (is_timed_) return simulated_;
  const auto host = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(host).count();
}

void Device::record(const std::string& kernel, const runtime::KernelResult& result) {
  simulated_ += static_cast<std::int64_t>(result.nanoseconds);
  const std::lock_guard lock(output_mutex_);
  KernelCounts& counts = counts_[kernel];
  ++counts.launches;
  counts.cycles += result.cycles;
  counts.warp_instructions += result.statistics.warp_instructions;
}

std::string Device::summary() {
  if (!is_timed_) return {};
  const std::lock_guard lock(output_mutex_);
  std::string text;
  for (const auto& [kernel, c] : counts_) {
    text += fmt::format("wm: {}: {} launches, {} cycles, {:.1f} us, {} warp instructions\n", kernel, c.launches,
                        c.cycles, static_cast<double>(c.cycles) / config_.sm.clock_mhz, c.warp_instructions);
  }
  return text;
}

void Device::print(std::string_view text) {
  const std::lock_guard lock(output_mutex_);
  output_ += text;
}

void Device::flush_output() {
  std::string text;
  {
    const std::lock_guard lock(output_mutex_);
    text.swap(output_);
  }
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace wm::cuda
