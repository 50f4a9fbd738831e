#include "runtime/client/cuda/state/device.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <thread>

#include "runtime/simulated/served_runner.h"

namespace wm::cuda {

Result<void> Device::choose_timing(const std::string& timing, const runtime::TimedOptions& options) {
  if (timing == "functional") {
    runner_ = runtime::make_functional_runner(memory_, options.threads, config_.sm.count);
    return {};
  }
  if (timing != "cycle" && timing != "block")
    return Error{"WARPMUX_TIMING '" + timing + "' is neither functional nor cycle nor block"};
  runtime::TimedOptions timed = options;
  if (timing == "block") timed.machine = runtime::TimedOptions::Machine::block;
  auto runner = runtime::make_timed_runner(memory_, config_, timed);
  if (!runner) return runner.error();
  runner_ = *std::move(runner);
  return {};
}

Result<void> Device::join_daemon() {
  {
    // The daemon places a heap of kernels first; here it needs addresses only.
    const runtime::DeviceMemory::Writer writer(memory_);
    const auto no_bytes = [](std::uint64_t, std::uint64_t) { return exec::HostBytes(new std::byte[1]); };
    if (auto made = memory_.space().make_heap(no_bytes); !made) return made.error();
  }
  served_->set_activity({[this] { queue_.remote_work_began(); }, [this] { queue_.remote_work_ended(); }});
  queue_.set_on_waiting([this] { served_->tell_waiting(); });
  runner_ = std::make_unique<runtime::ServedRunner>(*served_);
  return {};
}

void Device::asked_in_vain() {
  constexpr std::chrono::microseconds kPause{20};
  if (queue_.has_active_work()) {
    std::this_thread::sleep_for(kPause);
  } else {
    runner_->asked_in_vain();
  }
}

std::int64_t Device::now() const {
  if (const auto simulated = runner_->now()) return *simulated;
  const auto host = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(host).count();
}

void Device::record(const std::string& kernel, const runtime::KernelResult& result) {
  const std::lock_guard lock(output_mutex_);
  KernelCounts& counts = counts_[kernel];
  ++counts.launches;
  counts.cycles += result.cycles;
  counts.warp_instructions += result.statistics.warp_instructions;
}

std::string Device::summary() {
  if (!runner_->now()) return {};
  const std::lock_guard lock(output_mutex_);
  std::string text;
  for (const auto& [kernel, c] : counts_) {
    text += fmt::format("wm: {}: {} launch{}, {} cycles, {:.1f} us, {} warp instructions\n", kernel, c.launches,
                        c.launches == 1 ? "" : "es", c.cycles, static_cast<double>(c.cycles) / config_.sm.clock_mhz,
                        c.warp_instructions);
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
