#include "runtime/client/cuda/state/device.h"

#include <chrono>
#include <cstdio>

namespace wm::cuda {

Device::Device(gpu::GpuConfig config, std::uint64_t memory_bytes, std::uint32_t threads)
    : config_(std::move(config)), memory_(memory_bytes), runner_(runtime::make_functional_runner(memory_, threads)) {}

std::int64_t Device::now() const {
  const auto host = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(host).count() + simulated_.load();
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
