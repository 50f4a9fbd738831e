#include "runtime/device/cuda/backend.h"

#include <cstring>
#include <fmt/format.h>

#include "runtime/device/cuda/control_words.h"
#include "runtime/device/cuda/worker_tables.h"

namespace wm::runtime::cuda {
namespace {

constexpr std::uint32_t kImageSupport = 0x1016;  // CL_DEVICE_IMAGE_SUPPORT

Capabilities cuda_capabilities() {
  Capabilities c;
  c.queues_excess_groups = true;
  c.prefers_blocking_transfers = true;
  c.printf_needs_finish = true;
  c.shares_launches = true;
  c.limits_workers_by_unit = true;
  return c;
}

}  // namespace

CudaBackend::CudaBackend(std::unique_ptr<Device> device, std::unique_ptr<FrontEnd> front_end)
    : device_(std::move(device)),
      front_end_(std::move(front_end)),
      capabilities_(cuda_capabilities()),
      host_(*device_),
      events_(*device_, host_),
      launcher_(*device_),
      allocation_(*device_, host_, *front_end_),
      compilation_(*device_, front_end_->compilation()),
      submission_(*device_, host_, events_, launcher_),
      probe_queue_(std::make_unique<CudaQueue>(*device_, false)) {
  capabilities_.reports_registers = front_end_->reports_registers();
  capabilities_.compiles_in_own_process = front_end_->has_own_process();
  capabilities_.gates = launcher_.prepare_gates();
  BufferRequest probe;
  probe.bytes = sizeof(std::uint32_t);
  probe_memory_ = allocation_.create_buffer(probe).object;
}

gpu::SmLimits CudaBackend::limits() const {
  gpu::SmLimits limits = unit_limits();
  const std::uint32_t n = compute_units();
  gpu::Resources& total = limits.total;
  total = {total.threads * n, total.registers * n, total.shared_bytes * n, total.blocks * n};
  return limits;
}

gpu::SmLimits CudaBackend::unit_limits() const {
  const DeviceFacts& f = device_->facts();
  const auto count = [](int n) { return static_cast<std::uint32_t>(n); };
  gpu::SmLimits limits;
  limits.total = {count(f.threads_per_multiprocessor), count(f.registers_per_multiprocessor),
                  count(f.shared_per_multiprocessor), count(f.blocks_per_multiprocessor)};
  limits.warp_threads = 32;
  limits.register_unit = 256;
  limits.shared_unit = 128;
  return limits;
}

std::unique_ptr<ControlWordPool> CudaBackend::make_control_words() {
  return std::make_unique<CudaControlWords>(*device_);
}

std::unique_ptr<WorkerTables> CudaBackend::make_worker_tables() {
  return std::make_unique<CudaWorkerTables>(*device_, host_);
}

std::string CudaBackend::driver_version() const {
  const int version = device_->facts().driver_version;
  return fmt::format("{} {} CUDA {}.{} {}", platform_name(), device_name(), version / 1000, version % 1000 / 10,
                     front_end_->version());
}

Status CudaBackend::device_info(std::uint32_t name, std::vector<std::byte>& answer) const {
  if (name != kImageSupport || front_end_->has_images()) return front_end_->device_info(name, answer);
  const std::uint32_t no = 0;
  answer.resize(sizeof no);
  std::memcpy(answer.data(), &no, sizeof no);
  return status::kSuccess;
}

void CudaBackend::probe_compiler() { capabilities_.always_argument_info = front_end_->always_argument_info(); }

bool CudaBackend::is_alive() const {
  if (!probe_memory_) return true;
  device_->make_current();
  const Stream stream = probe_queue_->current();
  const DriverCalls& cuda = device_->cuda;
  std::uint32_t word = 0;
  const bool written = cuda.fill_32(of(*probe_memory_).address, 1, 1, stream) == kSuccess &&
                       cuda.copy_to_host(&word, of(*probe_memory_).address, sizeof word, stream) == kSuccess &&
                       cuda.synchronize_stream(stream) == kSuccess;
  return written && word == 1;
}

}  // namespace wm::runtime::cuda
