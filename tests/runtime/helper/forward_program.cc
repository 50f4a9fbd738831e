// A CUDA program as `wm run` starts it under `wm serve --cuda`. It opens libcuda.so.1 by name, knows the driver API
// from its own declarations, and prints a line of JSON.
//
//   latency|probe|compute|memory|calls SECONDS   as validation/cuda_real/pair.cu, on a tiny kernel
//   shared N       N launches (or "told", see rounds.h); the dynamic shared memory that the last one had, and the
//                  stream's priority
//   wide N         the same, with launches that fill a GPU, and the kernel's division of an SM's memory
//   enumerated N   the same, with a kernel from cuModuleEnumerateFunctions
//   priority P N   asks for the priority P through warpmux.h, then launches
//   goal KIND N    asks for a goal of that kind (900 ms, 1 launch per second or 0.9) through warpmux.h, then launches
//   addresses      entry points by symbol and by cuGetProcAddress
//   fork           forks after it has launched; the child lives on for a while
//   threads N      N threads launch and synchronize on streams of their own
//   capture N      launches, then captures a launch and launches the graph
//   graphs N       N launches of a graph of three kernels, one of them in a graph of its own
//   copied N       N launches in the NULL stream, each waited for by a copy of its result
//   close N        closes all descriptors and uses their numbers for pipes, then launches again
//   unload         closes the library while its connection is open
//   ioctl          calls to the system that are none of ours
//   allocate       allocates 1 MB in every way until it fails; what the driver tells about memory
//   fault          a kernel that writes where it must not, then lives on for a while
//   contexts N     N contexts, a launch in each, twice
//   where KIND N   the SMs of launches, and
//   ordered N      whether their order is kept: placement.h
//   gated N KIND   kernels with loops and variables: gated_program.h
//   visits N       kernels of many blocks, on whatever SMs: worker_program.h
//   behind N       a kernel that waits for other work of its stream: worker_program.h
//   lasts N        a kernel that runs for long after N others: worker_program.h
//   many N         kernels that take long to make workers of: worker_program.h
//   leave          ends while workers are made: worker_program.h
//   opencl N       N launches of OpenCL and waits for them, through whatever library has these names
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "driver_calls.h"
#include "gated_program.h"
#include "include/warpmux.h"
#include "placement.h"
#include "rounds.h"
#include "validation/cuda_real/measure.h"
#include "worker_program.h"

namespace {

using wm::driver_calls::call;
using wm::driver_calls::cu;
using wm::driver_calls::library;

// Writes the dynamic shared memory of the launch.
constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry bytes(.param .u64 out)
{
.reg .b32 %r<2>; .reg .b64 %d<2>;
mov.u32 %r1, %dynamic_smem_size; ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r1; ret;
})";

struct Gpu {
  void *context = nullptr, *module = nullptr, *function = nullptr;
  unsigned long long out = 0;
  unsigned blocks = 4;

  explicit Gpu(const std::string& origin = "shared") {
    int device = 0;
    if (origin != "shared") blocks = 132 * 32;
    cu("cuInit", 0U);
    cu("cuDeviceGet", &device, 0);
    cu("cuDevicePrimaryCtxRetain", &context, device);
    cu("cuCtxSetCurrent", context);
    cu("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
    if (origin == "enumerated") {
      cu("cuModuleEnumerateFunctions", &function, 1U, module);
    } else {
      cu("cuModuleGetFunction", &function, module, "bytes");
    }
    cu("cuMemAlloc_v2", &out, std::size_t{4});
  }
  [[nodiscard]] void* stream() const {
    void* made = nullptr;
    cu("cuStreamCreate", &made, 1U);
    return made;
  }
  void launch(void* stream, unsigned shared_bytes = 16) {
    void* parameters[] = {&out};
    cu("cuLaunchKernel", function, blocks, 1U, 1U, 64U, 1U, 1U, shared_bytes, stream, static_cast<void**>(parameters),
       static_cast<void**>(nullptr));
  }
  [[nodiscard]] unsigned bytes() const {
    unsigned value = 0;
    cu("cuMemcpyDtoH_v2", static_cast<void*>(&value), out, std::size_t{4});
    return value;
  }
};

// As pair.cu, on a kernel that is nearly empty.
void measured(const std::string& kind, double seconds) {
  Gpu gpu;
  void *stream = gpu.stream(), *event = nullptr;
  cu("cuEventCreate", &event, 2U);
  const auto launch = [&] { gpu.launch(stream); };
  const auto synchronize = [&] { cu("cuStreamSynchronize", stream); };
  if (kind == "latency" || kind == "probe") {
    measure::latency(seconds, [&] {
      launch();
      synchronize();
    });
  } else if (kind == "calls") {
    measure::calls(seconds, launch, synchronize);
  } else {
    measure::batch(
        seconds, kind.c_str(), launch, [&] { cu("cuEventRecord", event, stream); },
        [&] { cu("cuEventSynchronize", event); });
  }
  synchronize();
  std::printf("\"wrong\": %d}\n", gpu.bytes() < 16 ? 1 : 0);
}

void shared(const char* length, const char* origin) {
  Gpu gpu(origin);
  void* stream = gpu.stream();
  int priority = 0;
  cu("cuStreamGetPriority", stream, &priority);
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(stream);
    cu("cuStreamSynchronize", stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  int carveout = 0;
  if (origin == std::string("wide")) cu("cuFuncGetAttribute", &carveout, 9, gpu.function);
  std::printf("{\"shared_bytes\": %u, \"priority\": %d, \"carveout\": %d}\n", gpu.bytes(), priority, carveout);
}

// The library that has this address: "forward" or "simulated", by its folder.
std::string owner(void* address) {
  Dl_info about{};
  if (address == nullptr || dladdr(address, &about) == 0) return "nobody";
  const std::string file = about.dli_fname, folder = file.substr(0, file.rfind('/'));
  return folder.substr(folder.rfind('/') + 1);
}

void ask_for_priority(int priority, const char* length) {
  Gpu gpu;
  const int heard = wm_set_priority(priority);
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(nullptr);
    cu("cuStreamSynchronize", static_cast<void*>(nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("{\"heard\": %d}\n", heard);
}

void ask_for_goal(int kind, const char* length) {
  Gpu gpu;
  constexpr double kValues[] = {0, 900'000, 1, 0.9};
  const int heard = wm_set_program_goal(static_cast<wm_goal_kind>(kind), kValues[kind]);
  const int too_much = wm_set_program_goal(WM_GOAL_PART, 1.5);
  const int unknown = wm_set_program_goal(static_cast<wm_goal_kind>(9), 1);
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(nullptr);
    cu("cuStreamSynchronize", static_cast<void*>(nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("{\"heard\": %d, \"too_much\": %d, \"unknown\": %d}\n", heard, too_much, unknown);
}

void addresses() {
  const Gpu gpu;
  const auto ask = [](const char* name, int version, std::uint64_t flags) {
    void* address = nullptr;
    int status = -1;
    const int result = call("cuGetProcAddress_v2", name, &address, version, flags, &status);
    return result == 0 ? owner(address) : "error " + std::to_string(result);
  };
  const auto ask_old = [](const char* name, int version) {
    void* address = nullptr;
    const int result = call("cuGetProcAddress", name, &address, version, std::uint64_t{0});
    return result == 0 ? owner(address) : "error " + std::to_string(result);
  };
  const void* table = nullptr;
  std::printf(
      "{\"launch\": \"%s\", \"launch_ptsz\": \"%s\", \"launch_ex\": \"%s\", \"proc\": \"%s\", \"old\": \"%s\", "
      "\"copy\": \"%s\", \"unknown\": \"%s\", \"symbol\": \"%s\", \"too_old\": \"%s\", \"export_table\": %d}\n",
      ask("cuLaunchKernel", 12000, 0).c_str(), ask("cuLaunchKernel", 12000, 2).c_str(),
      ask("cuLaunchKernelEx", 13000, 0).c_str(), ask("cuGetProcAddress", 12000, 0).c_str(),
      ask_old("cuLaunchKernel", 11030).c_str(), ask("cuMemcpyHtoD", 12000, 0).c_str(),
      ask("cuNoSuchFunction", 12000, 0).c_str(), owner(dlsym(library, "cuMemAlloc_v2")).c_str(),
      ask("cuLaunchKernelEx", 11000, 0).c_str(),
      call("cuGetExportTable", &table, static_cast<const void*>("0123456789abcdef")));
}

void fork_after_launch() {
  Gpu gpu;
  void* stream = gpu.stream();
  gpu.launch(stream);
  cu("cuStreamSynchronize", stream);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDOUT_FILENO);
    ::usleep(60'000'000);  // the test ends it
    std::_Exit(0);
  }
  gpu.launch(stream);
  cu("cuStreamSynchronize", stream);
  std::printf("{\"shared_bytes\": %u, \"child\": %d}\n", gpu.bytes(), static_cast<int>(child));
}

void threads(int count) {
  Gpu gpu;
  std::vector<std::thread> running;
  std::atomic<int> launches{0};
  for (int i = 0; i < count; ++i) {
    running.emplace_back([&] {
      cu("cuCtxSetCurrent", gpu.context);
      void* stream = gpu.stream();
      for (int k = 0; k < 100; ++k) {
        gpu.launch(stream);
        cu("cuStreamSynchronize", stream);
        ++launches;
      }
    });
  }
  for (std::thread& t : running) t.join();
  std::printf("{\"launches\": %d}\n", launches.load());
}

void capture(const char* length) {
  Gpu gpu("wide");
  void *stream = gpu.stream(), *graph = nullptr, *executable = nullptr;
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(stream);
    cu("cuStreamSynchronize", stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const unsigned before = gpu.bytes();
  cu("cuStreamBeginCapture_v2", stream, 2);
  gpu.launch(stream);
  cu("cuStreamEndCapture", stream, &graph);
  cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
  cu("cuGraphLaunch", executable, stream);
  cu("cuStreamSynchronize", stream);
  std::printf("{\"launched\": %u, \"captured\": %u}\n", before, gpu.bytes());
}

// Captures so many launches.
void* captured(Gpu& gpu, void* stream, int launches) {
  void* graph = nullptr;
  cu("cuStreamBeginCapture_v2", stream, 2);
  for (int i = 0; i < launches; ++i) gpu.launch(stream);
  cu("cuStreamEndCapture", stream, &graph);
  return graph;
}

void graphs(const char* length) {
  Gpu gpu;
  void *stream = gpu.stream(), *node = nullptr, *executable = nullptr;
  void *graph = captured(gpu, stream, 2), *child = captured(gpu, stream, 1);
  cu("cuGraphAddChildGraphNode", &node, graph, static_cast<void*>(nullptr), std::size_t{0}, child);
  cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
  for (Rounds rounds(length); rounds.next();) {
    cu("cuGraphLaunch", executable, stream);
    cu("cuStreamSynchronize", stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("{\"shared_bytes\": %u}\n", gpu.bytes());
}

void copied(const char* length) {
  Gpu gpu;
  unsigned sum = 0;
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(nullptr);
    sum += gpu.bytes();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("{\"sum\": %u}\n", sum);
}

void close_descriptors(const char* length) {
  Gpu gpu;
  gpu.launch(nullptr);
  cu("cuStreamSynchronize", static_cast<void*>(nullptr));
  for (int fd = 3; fd < 64; ++fd) ::close(fd);
  int ends[16];
  for (int i = 0; i < 16; i += 2) {
    if (::pipe(ends + i) != 0 || ::write(ends[i + 1], "data", 4) != 4) std::_Exit(1);
  }
  for (Rounds rounds(length); rounds.next();) {
    gpu.launch(nullptr);
    cu("cuStreamSynchronize", static_cast<void*>(nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  int intact = 0;
  for (int i = 0; i < 16; i += 2) {
    char data[8] = {};
    intact += ::read(ends[i], data, sizeof data) == 4 && std::strcmp(data, "data") == 0 ? 1 : 0;
  }
  std::printf("{\"intact\": %d, \"shared_bytes\": %u}\n", intact, gpu.bytes());
}

void unload() {
  {
    Gpu gpu;
    gpu.launch(nullptr);
    cu("cuStreamSynchronize", static_cast<void*>(nullptr));
  }
  const int closed = dlclose(library);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  std::printf("{\"closed\": %d}\n", closed);
}

// Allocates a megabyte again and again, at most 100 times.
template <typename Allocate, typename Free>
int allocations(Allocate allocate, Free free) {
  std::vector<unsigned long long> made;
  unsigned long long address = 0;
  while (made.size() < 100 && allocate(&address) == 0) made.push_back(address);
  for (const unsigned long long made_at : made) free(made_at);
  return static_cast<int>(made.size());
}

void memory() {
  const Gpu gpu;  // four bytes
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  std::size_t free = 0, total = 0, device_total = 0, left = 0;
  const auto release = [](unsigned long long made_at) { cu("cuMemFree_v2", made_at); };
  cu("cuMemGetInfo_v2", &free, &total);
  cu("cuDeviceTotalMem_v2", &device_total, 0);
  const int plain = allocations([&](auto* a) { return call("cuMemAlloc_v2", a, kMegabyte); }, release);
  const int managed = allocations([&](auto* a) { return call("cuMemAllocManaged", a, kMegabyte, 1U); }, release);
  const int ordered =
      allocations([&](auto* a) { return call("cuMemAllocAsync", a, kMegabyte, static_cast<void*>(nullptr)); },
                  [](unsigned long long made_at) { cu("cuMemFreeAsync", made_at, static_cast<void*>(nullptr)); });
  struct {
    std::size_t width = 512, height = 512;
    int format = 0x20;  // floats
    unsigned channels = 1;
  } descriptor;
  const int arrays = allocations(
      [&](auto* a) { return call("cuArrayCreate_v2", reinterpret_cast<void**>(a), static_cast<void*>(&descriptor)); },
      [](unsigned long long made_at) {
        // Handles are kept as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
        cu("cuArrayDestroy", reinterpret_cast<void*>(made_at));
      });
  unsigned long long kept = 0;
  cu("cuMemAlloc_v2", &kept, 2 * kMegabyte);
  cu("cuMemGetInfo_v2", &left, &total);
  cu("cuDevicePrimaryCtxReset_v2", 0);
  std::size_t after = 0;
  const Gpu again;
  cu("cuMemGetInfo_v2", &after, &total);
  std::printf(
      "{\"free\": %zu, \"total\": %zu, \"device\": %zu, \"plain\": %d, \"managed\": %d, \"ordered\": %d, \"arrays\": "
      "%d, \"left\": %zu, \"after_reset\": %zu}\n",
      free, total, device_total, plain, managed, ordered, arrays, left, after);
}

void fault() {
  Gpu gpu;
  gpu.out = 64;
  gpu.launch(nullptr);
  const int result = call("cuStreamSynchronize", static_cast<void*>(nullptr));
  std::printf("{\"result\": %d}\n", result);
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::seconds(20));
}

void contexts(int count) {
  int right = 0;
  cu("cuInit", 0U);
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> made(static_cast<std::size_t>(count));
    for (void*& context : made) {
      void *module = nullptr, *function = nullptr;
      unsigned long long out = 0;
      unsigned value = 0;
      cu("cuCtxCreate_v2", &context, 0U, 0);
      cu("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
      cu("cuModuleGetFunction", &function, module, "bytes");
      cu("cuMemAlloc_v2", &out, std::size_t{4});
      void* parameters[] = {&out};
      cu("cuLaunchKernel", function, 4U, 1U, 1U, 64U, 1U, 1U, 16U, static_cast<void*>(nullptr),
         static_cast<void**>(parameters), static_cast<void**>(nullptr));
      cu("cuMemcpyDtoH_v2", static_cast<void*>(&value), out, std::size_t{4});
      right += value >= 16 ? 1 : 0;
    }
    for (void* context : made) cu("cuCtxDestroy_v2", context);
  }
  std::printf("{\"right\": %d}\n", right);
}

void opencl(const char* length) {
  void* loaded = dlopen("libOpenCL.so.1", RTLD_NOW);
  const auto function = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  using Launch = int (*)(void*, void*, unsigned, const std::size_t*, const std::size_t*, const std::size_t*, unsigned,
                         void* const*, void**);
  const auto launch = reinterpret_cast<Launch>(function("clEnqueueNDRangeKernel"));
  const auto finish = reinterpret_cast<int (*)(void*)>(function("clFinish"));
  if (loaded == nullptr || launch == nullptr || finish == nullptr) std::_Exit(1);
  const std::size_t items = 64;
  int failed = 0, launches = 0;
  for (Rounds rounds(length); rounds.next(); ++launches) {
    failed += launch(&failed, &failed, 1, nullptr, &items, nullptr, 0, nullptr, nullptr) == 0 ? 0 : 1;
    failed += finish(&failed) == 0 ? 0 : 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto made = reinterpret_cast<int (*)()>(dlsym(loaded, "opencl_launches"));
  std::printf("{\"failed\": %d, \"launches\": %d, \"made\": %d}\n", failed, launches, made == nullptr ? -1 : made());
}

void ioctls() {
  int ends[2];
  int waiting = 0;
  if (::pipe(ends) != 0 || ::write(ends[1], "abc", 3) != 3) std::_Exit(1);
  const int pipe_result = ::ioctl(ends[0], FIONREAD, &waiting);
  errno = 0;
  const int bad_result = ::ioctl(-1, FIONREAD, &waiting);
  const int bad_errno = errno;
  errno = 0;
  const int none_result = ::ioctl(ends[0], _IOWR('F', 0x2b, char[32]), ends);
  std::printf("{\"pipe\": %d, \"waiting\": %d, \"bad\": %d, \"errno\": %d, \"none\": %d, \"none_errno\": %d}\n",
              pipe_result, waiting, bad_result, bad_errno == EBADF, none_result, errno == ENOTTY);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const char* const first = count > 2 ? words[2] : "1";
  const char* const second = count > 3 ? words[3] : "1";
  const double number = std::atof(first);
  if (what == "opencl") {
    opencl(first);
    return 0;
  }
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::printf("no driver: %s\n", dlerror());
    return 1;
  }
  if (what == "shared" || what == "wide" || what == "enumerated") shared(first, what.c_str());
  if (what == "addresses") addresses();
  if (what == "priority") ask_for_priority(static_cast<int>(number), second);
  if (what == "goal") ask_for_goal(static_cast<int>(number), second);
  if (what == "fork") fork_after_launch();
  if (what == "threads") threads(static_cast<int>(number));
  if (what == "graphs") graphs(first);
  if (what == "copied") copied(first);
  if (what == "capture") capture(first);
  if (what == "ioctl") ioctls();
  if (what == "close") close_descriptors(first);
  if (what == "allocate") memory();
  if (what == "fault") fault();
  if (what == "contexts") contexts(static_cast<int>(number));
  if (what == "unload") unload();
  if (what == "where") where(first, second);
  if (what == "ordered") ordered(first);
  if (what == "gated") gated(first, second);
  if (what == "visits") visits(first);
  if (what == "behind") behind(first);
  if (what == "lasts") lasts(first);
  if (what == "many") many(first);
  if (what == "leave") leave();
  if (what == "latency" || what == "probe" || what == "compute" || what == "memory" || what == "calls")
    measured(what, number);
  return 0;
}
