#include "runtime/device/opencl_cpu.h"

#include <malloc.h>

#include "runtime/device/completion_flags.h"
#include "runtime/device/guarded_launches.h"
#include "runtime/device/opencl_host_words.h"

namespace wm::runtime {
namespace {

// Larger allocations come from the operating system, which zeroes them; smaller ones may be memory that another client
// has freed.
constexpr std::size_t kZeroedBytes = 1 << 20;

constexpr Capabilities cpu_capabilities() {
  Capabilities c;
  c.buffers_in_host_memory = true;
  c.completion_callbacks = true;
  c.free_timestamps = true;
  c.single_worker_batches = true;
  c.transfers_occupy_compute_units = true;
  return c;
}

}  // namespace

OpenClCpu::OpenClCpu(std::unique_ptr<Native> native)
    : OpenClBackend(std::move(native), cpu_capabilities(), kZeroedBytes) {
  // The C library would raise this threshold by itself as large blocks are freed.
  ::mallopt(M_MMAP_THRESHOLD, kZeroedBytes);
  if (GuardedLaunches& launches = GuardedLaunches::instance(); guard_kernels(launches)) report_faults_of(launches);
}

std::uint64_t OpenClCpu::kernel_fault_count() const { return GuardedLaunches::instance().fault_count(); }

std::vector<KernelFault> OpenClCpu::take_kernel_faults() { return GuardedLaunches::instance().take_faults(); }

std::unique_ptr<ControlWordPool> OpenClCpu::make_control_words() { return std::make_unique<OpenClHostWords>(native()); }

std::unique_ptr<CompletionFlags> OpenClCpu::make_completion_flags() { return nullptr; }

}  // namespace wm::runtime
