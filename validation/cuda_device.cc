#include "cuda_device.h"

#include <array>
#include <cuda.h>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <utility>

namespace wm::validation {
namespace {

Result<void> check(CUresult code, std::string_view doing) {
  if (code == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  cuGetErrorString(code, &text);
  return Error{fmt::format("{}: {}", doing, text != nullptr ? text : "unknown CUDA error")};
}

std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

// Reads 256 MB that no application knows, so that a cache is full of it and clean. Its name keeps it apart in profiles.
constexpr std::size_t kEvictBytes = std::size_t{256} << 20;
constexpr const char* kEvictPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry wm_evict(.param .u64 p) {
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
mad.lo.s32 %r1, %r1, 1024, %r2;
mul.wide.u32 %rd2, %r1, 16;
add.s64 %rd1, %rd1, %rd2;
ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];
xor.b32 %r3, %r3, %r4;
xor.b32 %r5, %r5, %r6;
xor.b32 %r3, %r3, %r5;
setp.ne.u32 %p1, %r3, 77;
@%p1 bra E;
st.global.u32 [%rd1], %r3;
E:
ret;
}
)";

// One application's device objects, freed together.
class Session {
 public:
  ~Session() {
    for (const CUdeviceptr p : memory_) cuMemFree(p);
    for (CUevent e : events_) cuEventDestroy(e);
    if (module_ != nullptr) cuModuleUnload(module_);
    if (evict_module_ != nullptr) cuModuleUnload(evict_module_);
  }

  // From now on the first launch is preceded by filling L2 with something else.
  Result<void> prepare_eviction() {
    if (auto r = check(cuModuleLoadData(&evict_module_, kEvictPtx), "loading the eviction kernel"); !r) return r;
    if (auto r = check(cuMemAlloc(&evict_memory_, kEvictBytes), "allocating what evicts"); !r) return r;
    return check(cuMemsetD8(evict_memory_, 0, kEvictBytes), "clearing what evicts");
  }

  Result<void> load(std::string_view ptx) {
    std::string text(ptx);
    std::array<char, 4096> log{};
    std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    const CUresult code = cuModuleLoadDataEx(&module_, text.c_str(), 2, options.data(), values.data());
    return check(code, fmt::format("loading PTX ({})", log.data()));
  }

  Result<void> allocate(const gpu::Application& application, std::byte poison) {
    for (const gpu::Buffer& b : application.buffers) {
      CUdeviceptr p = 0;
      if (auto r = check(cuMemAlloc(&p, std::max<std::size_t>(b.bytes, 1)), "allocating " + b.name); !r) return r;
      memory_.push_back(p);
      if (auto r = check(cuMemsetD8(p, std::to_integer<unsigned char>(poison), b.bytes), "poisoning " + b.name); !r)
        return r;
    }
    return {};
  }

  Result<std::uint32_t> resident_blocks(const gpu::Launch& l) {
    CUfunction function = nullptr;
    if (auto r = check(cuModuleGetFunction(&function, module_, l.kernel.c_str()), "finding " + l.kernel); !r)
      return r.error();
    int blocks = 0;
    const auto threads = static_cast<int>(l.block.x * l.block.y * l.block.z);
    const CUresult code =
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, l.dynamic_shared_bytes);
    if (auto r = check(code, "asking how many blocks of " + l.kernel + " fit"); !r) return r.error();
    return static_cast<std::uint32_t>(blocks);
  }

  Result<void> step(const gpu::Application& application, const gpu::Step& s, GpuRun& run) {
    if (const auto* transfer = std::get_if<gpu::Transfer>(&s)) {
      if (transfer->direction == gpu::Transfer::Direction::to_host) return {};  // contents are read at the end
      const gpu::Buffer& b = application.buffers[transfer->buffer.index];
      if (transfer->offset >= b.initial.size()) return {};
      const std::size_t bytes = std::min(transfer->bytes, b.initial.size() - transfer->offset);
      return check(
          cuMemcpyHtoD(address(transfer->buffer) + transfer->offset, b.initial.data() + transfer->offset, bytes),
          "copying to " + b.name);
    }
    if (const auto* fill = std::get_if<gpu::Fill>(&s))
      return check(
          cuMemsetD8(address(fill->buffer) + fill->offset, std::to_integer<unsigned char>(fill->value), fill->bytes),
          "filling");
    return launch(std::get<gpu::Launch>(s), run);
  }

  Result<void> download(const gpu::Application& application, GpuRun& run) {
    for (std::size_t i = 0; i < application.buffers.size(); ++i) {
      std::vector<std::byte> bytes(application.buffers[i].bytes);
      if (auto r =
              check(cuMemcpyDtoH(bytes.data(), memory_[i], bytes.size()), "reading " + application.buffers[i].name);
          !r)
        return r;
      run.buffers.push_back(std::move(bytes));
    }
    return {};
  }

 private:
  Result<void> evict() {
    CUfunction function = nullptr;
    if (auto r = check(cuModuleGetFunction(&function, evict_module_, "wm_evict"), "finding the eviction kernel"); !r)
      return r;
    std::array<void*, 1> arguments{&evict_memory_};
    const auto blocks = static_cast<unsigned>(kEvictBytes / 16 / 1024);
    if (auto r = check(cuLaunchKernel(function, blocks, 1, 1, 1024, 1, 1, 0, nullptr, arguments.data(), nullptr),
                       "evicting");
        !r)
      return r;
    memory_.push_back(std::exchange(evict_memory_, 0));  // once is enough; freed with the rest
    return check(cuCtxSynchronize(), "evicting");
  }

  [[nodiscard]] CUdeviceptr address(gpu::BufferId id) const { return memory_[id.index]; }

  Result<void> launch(const gpu::Launch& l, GpuRun& run) {
    CUfunction function = nullptr;
    if (auto r = check(cuModuleGetFunction(&function, module_, l.kernel.c_str()), "finding " + l.kernel); !r) return r;
    std::vector<std::vector<std::byte>> values;
    for (const gpu::Argument& a : l.arguments) {
      if (const auto* scalar = std::get_if<gpu::Scalar>(&a)) {
        values.push_back(scalar->bytes);
        for (const auto& inside : scalar->addresses) {
          const CUdeviceptr p = address(inside.buffer) + inside.offset;
          std::memcpy(values.back().data() + inside.at, &p, sizeof p);
        }
      } else if (const auto* buffer = std::get_if<gpu::BufferArgument>(&a)) {
        const CUdeviceptr p = address(buffer->buffer) + buffer->offset;
        std::vector<std::byte> bytes(sizeof p);
        std::memcpy(bytes.data(), &p, sizeof p);
        values.push_back(std::move(bytes));
      } else {
        return Error{l.kernel + ": the CUDA driver has no local-memory arguments"};
      }
    }
    std::vector<void*> pointers;
    for (auto& v : values) pointers.push_back(v.data());
    if (events_.empty()) {
      events_.resize(2);
      for (CUevent& e : events_)
        if (auto r = check(cuEventCreate(&e, CU_EVENT_DEFAULT), "creating an event"); !r) return r;
    }
    if (evict_memory_ != 0)
      if (auto r = evict(); !r) return r;
    cuEventRecord(events_[0], nullptr);
    if (auto r = check(cuLaunchKernel(function, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
                                      static_cast<unsigned>(l.dynamic_shared_bytes), nullptr, pointers.data(), nullptr),
                       "launching " + l.kernel);
        !r)
      return r;
    cuEventRecord(events_[1], nullptr);
    if (auto r = check(cuCtxSynchronize(), "running " + l.kernel); !r) return r;
    float milliseconds = 0;
    cuEventElapsedTime(&milliseconds, events_[0], events_[1]);
    run.launches.push_back({l.kernel, milliseconds * 1000.0});
    return {};
  }

  CUmodule module_ = nullptr;
  CUmodule evict_module_ = nullptr;
  CUdeviceptr evict_memory_ = 0;
  std::vector<CUdeviceptr> memory_;
  std::vector<CUevent> events_;
};

}  // namespace

Result<CudaDevice> CudaDevice::open() {
  CudaDevice d;
  if (auto r = check(cuInit(0), "starting the CUDA driver"); !r) return r.error();
  if (auto r = check(cuDeviceGet(&d.ordinal_, 0), "finding a GPU"); !r) return r.error();
  CUcontext context = nullptr;
  if (auto r = check(cuDevicePrimaryCtxRetain(&context, d.ordinal_), "creating a context"); !r) return r.error();
  d.context_ = context;
  if (auto r = check(cuCtxSetCurrent(context), "entering the context"); !r) return r.error();
  std::array<char, 256> name{};
  cuDeviceGetName(name.data(), static_cast<int>(name.size()), d.ordinal_);
  d.name_ = name.data();
  d.driver_ = driver_version();
  return d;
}

CudaDevice::CudaDevice(CudaDevice&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      ordinal_(other.ordinal_),
      name_(std::move(other.name_)),
      driver_(std::move(other.driver_)) {}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) cuDevicePrimaryCtxRelease(ordinal_);
}

Result<std::uint32_t> CudaDevice::room_for(std::string_view ptx, const gpu::Launch& launch) const {
  Session session;
  if (auto r = session.load(ptx); !r) return r.error();
  const auto blocks = session.resident_blocks(launch);
  if (!blocks) return blocks.error();
  int sms = 0;
  if (auto r = check(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal_), "counting SMs");
      !r)
    return r.error();
  return *blocks * static_cast<std::uint32_t>(sms);
}

Result<GpuRun> CudaDevice::run(std::string_view ptx, const gpu::Application& application,
                               const GpuRunOptions& options) {
  Session session;
  GpuRun run;
  if (auto r = session.load(ptx); !r) return r.error();
  if (auto r = session.allocate(application, options.poison); !r) return r.error();
  if (options.evict)
    if (auto r = session.prepare_eviction(); !r) return r.error();
  for (const gpu::Step& s : application.steps)
    if (auto r = session.step(application, s, run); !r) return r.error();
  if (options.download)
    if (auto r = session.download(application, run); !r) return r.error();
  return run;
}

}  // namespace wm::validation
