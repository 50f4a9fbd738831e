#include "runtime/device/opencl_backend.h"

#include <fmt/format.h>

#include "runtime/device/device_limits.h"

namespace wm::runtime {
namespace {

Capabilities with_platform(Capabilities capabilities, const Native& native) {
  const std::string platform = native.platform_name();
  capabilities.reports_registers = platform.starts_with("NVIDIA");
  capabilities.compiles_at_launch = platform == "Portable Computing Language" &&
                                    (native.fact<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  return capabilities;
}

}  // namespace

OpenClBackend::OpenClBackend(std::unique_ptr<Native> native, const Capabilities& capabilities, std::size_t zeroed_bytes)
    : native_(std::move(native)),
      capabilities_(with_platform(capabilities, *native_)),
      allocation_(*native_, zeroed_bytes),
      compilation_(*native_),
      submission_(*native_) {
  probe_queue_ = native_->cl.CreateCommandQueue(native_->context, native_->device, 0, nullptr);
  probe_memory_ = native_->cl.CreateBuffer(native_->context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
}

OpenClBackend::~OpenClBackend() {
  if (probe_memory_ != nullptr) native_->cl.ReleaseMemObject(probe_memory_);
  if (probe_queue_ != nullptr) native_->cl.ReleaseCommandQueue(probe_queue_);
}

gpu::SmLimits OpenClBackend::limits() const { return device_limits(*native_); }

std::uint32_t OpenClBackend::reserved_local_bytes() const { return local_reserve(*native_); }

std::uint64_t OpenClBackend::memory_bytes() const { return native_->fact<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE); }

std::string OpenClBackend::driver_version() const {
  const std::string names[] = {platform_name(), device_name(), native_->text(CL_DRIVER_VERSION),
                               native_->text(CL_DEVICE_VERSION)};  // asked for in this order
  return fmt::format("{}", fmt::join(names, " "));
}

bool OpenClBackend::is_alive() const {
  if (probe_queue_ == nullptr || probe_memory_ == nullptr) return true;
  cl_int zero = 0;
  const cl_int status =
      native_->cl.EnqueueWriteBuffer(probe_queue_, probe_memory_, CL_TRUE, 0, sizeof zero, &zero, 0, nullptr, nullptr);
  return status == CL_SUCCESS && probe_kernel_runs(probe_queue_, probe_memory_);
}

void OpenClBackend::probe_compiler() {
  const NativeCalls& cl = native_->cl;
  const char* source = kProbe;
  const cl_program program = cl.CreateProgramWithSource(native_->context, 1, &source, nullptr, nullptr);
  if (program == nullptr) return;
  if (cl.BuildProgram(program, 1, &native_->device, "", nullptr, nullptr) == CL_SUCCESS) {
    if (const cl_kernel kernel = cl.CreateKernel(program, "probe", nullptr)) {
      cl_kernel_arg_address_qualifier space = 0;
      capabilities_.always_argument_info =
          cl.GetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr) == CL_SUCCESS;
      if (cl.SetKernelArg(kernel, 0, sizeof probe_memory_, &probe_memory_) == CL_SUCCESS) {
        keep_probe_kernel(kernel);
      } else {
        cl.ReleaseKernel(kernel);
      }
    }
  }
  cl.ReleaseProgram(program);
}

}  // namespace wm::runtime
