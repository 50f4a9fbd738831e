// Streams, callbacks, and waits for and writes of values in memory.
#include <cstring>

#include "runtime/client/cuda/api/node_operations.h"

namespace wm::cuda {
namespace {

using runtime::WorkKind;

constexpr int kGreatestPriority = -5;

Operation write_value(Driver& driver, CUdeviceptr address, std::uint64_t value, std::size_t bytes) {
  return {WorkKind::transfer,
          [&driver, address, value, bytes] {
            const runtime::DeviceMemory::Reader reader(driver.memory());
            std::byte* at = driver.memory().bytes_at(address, bytes);
            if (at == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
            // Kernels may be waiting for the value: it appears at once, after what was written before.
            if (bytes == 4) {
              std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at)).store(static_cast<std::uint32_t>(value));
            } else {
              std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(value);
            }
            return CUDA_SUCCESS;
          },
          {}};
}

bool holds(unsigned condition, std::uint64_t found, std::uint64_t value, bool wide) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic comparison
      return wide ? static_cast<std::int64_t>(found - value) >= 0
                  : static_cast<std::int32_t>(static_cast<std::uint32_t>(found - value)) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & value) != 0;
    default:
      return (~(found | value) & (wide ? ~std::uint64_t{0} : 0xffffffffU)) != 0;
  }
}

Operation wait_value(Driver& driver, CUdeviceptr address, std::uint64_t value, std::size_t bytes, unsigned flags) {
  // Asked with the lock of the work queue, which a writer of the memory may need before it is done.
  const auto ready = [&driver, address, value, bytes, flags] {
    bool is_ready = false;
    driver.memory().try_read([&] {
      const std::byte* at = driver.memory().bytes_at(address, bytes);
      std::uint64_t found = 0;
      if (at != nullptr) std::memcpy(&found, at, bytes);
      is_ready = at == nullptr || holds(flags & 3, found, value, bytes == 8);  // where it was freed the operation fails
    });
    return is_ready;
  };
  const auto run = [&driver, address, bytes] {
    const runtime::DeviceMemory::Reader reader(driver.memory());
    return driver.memory().bytes_at(address, bytes) == nullptr ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
  };
  return {WorkKind::transfer, run, ready};
}

// `make` makes the operation once the address is known to be one of the device.
template <typename Make>
CUresult value_operation(CUstream handle, CUdeviceptr address, std::size_t bytes, Make&& make) {
  return with_work_stream(handle, [&](Context& context, Stream& stream) {
    const auto device = driver_of(context).memory().device_address(address);
    if (!device || *device % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
    context.enqueue(stream, make(driver_of(context), *device));
    return CUDA_SUCCESS;
  });
}

CUresult write_on(CUstream stream, CUdeviceptr address, std::uint64_t value, std::size_t bytes) {
  return value_operation(stream, address, bytes,
                         [&](Driver& d, CUdeviceptr at) { return write_value(d, at, value, bytes); });
}

CUresult wait_on(CUstream stream, CUdeviceptr address, std::uint64_t value, std::size_t bytes, unsigned flags) {
  return value_operation(stream, address, bytes,
                         [&](Driver& d, CUdeviceptr at) { return wait_value(d, at, value, bytes, flags); });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::NodeType;
using wm::cuda::Operation;
using wm::cuda::Stream;
using wm::cuda::with_context;
using wm::cuda::with_driver;
using wm::cuda::with_stream;
using wm::runtime::WorkKind;

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return with_context([&](Context& context) {
    if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    const int inside = std::min(0, std::max(wm::cuda::kGreatestPriority, priority));
    *stream = driver_of(context).streams.add(context.make_stream(flags, inside));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuStreamDestroy_v2(CUstream handle) {
  return with_driver([&](Driver& driver) {
    const auto stream = driver.streams.remove(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    stream->context.forget(*stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return with_stream(stream, [&](Context&, Stream& s) {
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *priority = s.priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return with_stream(stream, [&](Context&, Stream& s) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = s.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return with_stream(stream, [&](Context&, Stream& s) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = s.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return with_stream(stream, [&](Context&, Stream&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = wm::cuda::kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return with_stream(stream, [&](Context& c, Stream&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = &c;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  return wm::cuda::with_work_stream(handle, [&](Context& context, Stream& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (Context::is_capturing(stream)) {
      wm::cuda::Captures::instance().invalidate(stream);
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    context.enqueue(stream, {WorkKind::host_function,
                             [=] {
                               wm::cuda::run_host_function([&] { callback(handle, CUDA_SUCCESS, data); });
                               return CUDA_SUCCESS;
                             },
                             {},
                             NodeType::host});
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return wm::cuda::with_work_stream(handle, [&](Context& context, Stream& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    context.enqueue(stream, wm::cuda::host_operation(function, data));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return with_stream(stream, [](Context& context, Stream& s) {
    const CUresult allowed = wm::cuda::Captures::instance().check_wait(s);
    if (allowed != CUDA_SUCCESS) return allowed;
    if (!context.is_idle(s)) {
      driver_of(context).asked_in_vain();
      return CUDA_ERROR_NOT_READY;
    }
    return context.error();
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return with_stream(stream, [](Context& context, Stream& s) { return context.synchronize(s); });
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned) {
  return wm::cuda::write_on(stream, address, value, 4);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned) {
  return wm::cuda::write_on(stream, address, value, 8);
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags) {
  return wm::cuda::wait_on(stream, address, value, 4, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags) {
  return wm::cuda::wait_on(stream, address, value, 8, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags) {
  return cuStreamWriteValue32(stream, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags) {
  return cuStreamWriteValue64(stream, address, value, flags);
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags) {
  return cuStreamWaitValue32(stream, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags) {
  return cuStreamWaitValue64(stream, address, value, flags);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (operations == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const auto& o = operations[i];
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    switch (o.operation) {
      case 1:
        result = cuStreamWaitValue32(stream, o.address, static_cast<std::uint32_t>(o.value), o.flags);
        break;
      case 2:
        result = cuStreamWriteValue32(stream, o.address, static_cast<std::uint32_t>(o.value), o.flags);
        break;
      case 3:  // flush of remote writes: nothing is buffered
        result = CUDA_SUCCESS;
        break;
      case 4:
        result = cuStreamWaitValue64(stream, o.address, o.value, o.flags);
        break;
      case 5:
        result = cuStreamWriteValue64(stream, o.address, o.value, o.flags);
        break;
      default:
        break;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  return cuStreamBatchMemOp(stream, count, operations, flags);
}
