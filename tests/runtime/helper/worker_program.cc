#include "worker_program.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include "driver_calls.h"
#include "rounds.h"

namespace {

using wm::driver_calls::cu;

// visit: counts[block] += 1 and sms[block] = its SM, by the first thread after n turns; half of the threads end at
// once. turned: every row of 64 words of a grid of blocks is written in reverse. plain: adds 1 to `total`.
constexpr const char* kPtx = R"(.version 7.5
.target sm_75
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry visit(.param .u64 counts, .param .u32 n, .param .u64 sms)
{
.reg .b32 %r<6>; .reg .b64 %d<6>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;
@%p1 ret;
ld.param.u64 %d1, [counts]; ld.param.u64 %d2, [sms]; ld.param.u32 %r2, [n]; mov.u32 %r3, 0;
LOOP:
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r2;
@%p1 bra LOOP;
setp.ne.u32 %p2, %r1, 0;
@%p2 exit;
mov.u32 %r4, %ctaid.x; mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
red.global.add.u32 [%d4], 1;
mov.u32 %r5, %smid; st.global.u32 [%d5], %r5;
ret;
}
.visible .entry turned(.param .u64 out)
{
.shared .align 4 .b8 row[256];
.reg .b32 %r<12>; .reg .b64 %d<4>;
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.x;
mad.lo.u32 %r5, %r2, %r3, %r4; mad.lo.u32 %r6, %r5, 64, %r1;
shl.b32 %r7, %r1, 2; mov.u32 %r8, row; add.u32 %r9, %r8, %r7; st.shared.u32 [%r9], %r6;
bar.sync 0;
sub.u32 %r10, 252, %r7; add.u32 %r10, %r10, %r8; ld.shared.u32 %r11, [%r10];
mul.wide.u32 %d2, %r6, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r11;
ret;
}
.visible .entry plain() { red.global.add.u32 [total], 1; ret; }
)";

constexpr unsigned kBlocks = 500, kThreads = 64, kTurns = 3000, kColumns = 7, kRows = 20, kPlain = 3;

struct Program {
  void *context = nullptr, *module = nullptr, *visit = nullptr, *turned = nullptr, *plain = nullptr, *stream = nullptr;
  unsigned long long counts = 0, sms = 0, other_sms = 0, rows = 0, total = 0;

  Program() {
    std::size_t bytes = 0;
    cu("cuInit", 0U);
    cu("cuDevicePrimaryCtxRetain", &context, 0);
    cu("cuCtxSetCurrent", context);
    cu("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
    for (const auto& [name, function] : {std::pair{"visit", &visit}, {"turned", &turned}, {"plain", &plain}})
      cu("cuModuleGetFunction", function, module, name);
    cu("cuModuleGetGlobal_v2", &total, &bytes, module, "total");
    for (const auto& [address, words] :
         {std::pair{&counts, kBlocks}, {&sms, kBlocks}, {&other_sms, kBlocks}, {&rows, kColumns * kRows * 64}}) {
      cu("cuMemAlloc_v2", address, std::size_t{words} * 4);
      cu("cuMemsetD32_v2", *address, 0U, std::size_t{words});
    }
    cu("cuMemsetD32_v2", total, 0U, std::size_t{1});
    cu("cuStreamCreate", &stream, 1U);
  }
  void launch() {
    unsigned turns = kTurns;
    void* of_visit[] = {&counts, &turns, &sms};
    void* of_turned[] = {&rows};
    cu("cuLaunchKernel", visit, kBlocks, 1U, 1U, kThreads, 1U, 1U, 0U, stream, static_cast<void**>(of_visit),
       static_cast<void**>(nullptr));
    cu("cuLaunchKernel", turned, kColumns, kRows, 1U, kThreads, 1U, 1U, 0U, static_cast<void*>(nullptr),
       static_cast<void**>(of_turned), static_cast<void**>(nullptr));
    launch_plain();
    launch_with_buffer();
  }
  void launch_plain() const {
    cu("cuLaunchKernel", plain, kPlain, 1U, 1U, 1U, 1U, 1U, 0U, stream, static_cast<void**>(nullptr),
       static_cast<void**>(nullptr));
  }
  // As cuLaunchKernelEx takes it.
  void launch_with_buffer() {
    struct {
      unsigned grid[3] = {kBlocks, 1, 1}, block[3] = {kThreads, 1, 1}, shared_bytes = 0;
      void* stream = nullptr;
      void* attributes = nullptr;
      unsigned count = 0;
    } config;
    config.stream = stream;
    struct {
      unsigned long long counts;
      unsigned turns, unused;
      unsigned long long sms;
    } values{counts, 1, 0, other_sms};
    std::size_t bytes = sizeof values;
    void* extra[] = {reinterpret_cast<void*>(1), &values, reinterpret_cast<void*>(2), &bytes, nullptr};
    cu("cuLaunchKernelEx", static_cast<const void*>(&config), visit, static_cast<void**>(nullptr),
       static_cast<void**>(extra));
  }
  [[nodiscard]] static std::vector<std::uint32_t> words(unsigned long long address, std::size_t count) {
    std::vector<std::uint32_t> read(count);
    cu("cuMemcpyDtoH_v2", static_cast<void*>(read.data()), address, count * 4);
    return read;
  }
  [[nodiscard]] bool is_right(unsigned rounds) const {
    const auto seen = words(counts, kBlocks), turned_rows = words(rows, std::size_t{kColumns} * kRows * 64);
    bool right = words(total, 1)[0] == rounds * kPlain;
    right = right && std::all_of(seen.begin(), seen.end(), [&](std::uint32_t count) { return count == 2 * rounds; });
    for (std::uint32_t i = 0; i < turned_rows.size(); ++i) right = right && turned_rows[i] == i / 64 * 64 + 63 - i % 64;
    return right;
  }
};

// The processor time of this process's other threads.
double other_threads_milliseconds() {
  double sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    double nanoseconds = 0;
    if (std::ifstream(task.path() / "schedstat") >> nanoseconds) sum += nanoseconds * 1e-6;
  }
  return sum;
}

// How often this process's other threads have gone to sleep.
unsigned other_threads_sleeps() {
  unsigned sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream state(task.path() / "status");
    for (std::string name; task.path().filename() != std::to_string(::gettid()) && state >> name;) {
      unsigned sleeps = 0;
      if (name == "voluntary_ctxt_switches:" && state >> sleeps) sum += sleeps;
    }
  }
  return sum;
}

void wait_for_other_threads(void*) {
  constexpr unsigned kSleeps = 20;  // a few turns of the connection's thread
  for (const unsigned before = other_threads_sleeps(); other_threads_sleeps() < before + kSleeps;) ::usleep(1000);
}

}  // namespace

void behind(const char* length) {
  Program gpu;
  unsigned rounds = 0, right = 0;
  for (Rounds told(length); told.next();) {
    cu("cuLaunchHostFunc", gpu.stream, &wait_for_other_threads, static_cast<void*>(nullptr));
    gpu.launch_plain();
    cu("cuCtxSynchronize");
    right += Program::words(gpu.total, 1)[0] == ++rounds * kPlain ? 1 : 0;
  }
  std::printf("{\"rounds\": %u, \"right\": %u}\n", rounds, right);
}

namespace {

// A module in which a kernel takes long to find, and kernels of it that add 1 to a word.
std::string long_module() {
  std::string ptx = kPtx;
  const std::string plain = ptx.substr(ptx.find(".visible .entry plain"));
  for (int i = 0; i < 20'000; ++i) ptx += ".visible .entry plain" + std::to_string(i) + plain.substr(plain.find('('));
  return ptx;
}

void* load_long_module() {
  void *context = nullptr, *module = nullptr;
  cu("cuInit", 0U);
  cu("cuDevicePrimaryCtxRetain", &context, 0);
  cu("cuCtxSetCurrent", context);
  cu("cuModuleLoadData", &module, static_cast<const void*>(long_module().c_str()));
  return module;
}

void launch_one(void* kernel) {
  cu("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, static_cast<void*>(nullptr), static_cast<void**>(nullptr),
     static_cast<void**>(nullptr));
}

}  // namespace

void lasts(const char* length) {
  Program gpu;
  const auto launch = [&](unsigned turns) {
    void* parameters[] = {&gpu.counts, &turns, &gpu.sms};
    cu("cuLaunchKernel", gpu.visit, kBlocks, 1U, 1U, kThreads, 1U, 1U, 0U, gpu.stream, static_cast<void**>(parameters),
       static_cast<void**>(nullptr));
    cu("cuCtxSynchronize");
  };
  for (Rounds told(length); told.next();) launch(1);
  launch(10'000'000);
}

void many(const char* length) {
  void* const module = load_long_module();
  std::vector<void*> kernels(30);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    cu("cuModuleGetFunction", &kernels[i], module, ("plain" + std::to_string(i)).c_str());
  for (Rounds told(length); told.next();) {
    for (void* const kernel : kernels) launch_one(kernel);
    cu("cuCtxSynchronize");
  }
  std::printf("{\"kernels\": %zu}\n", kernels.size());
}

void leave() {
  // The first function that is registered is the last one called.
  std::atexit([] {
    const double before = other_threads_milliseconds();
    ::usleep(20'000);
    std::printf("{\"milliseconds\": %.0f}\n", other_threads_milliseconds() - before);
  });
  void* function = nullptr;
  cu("cuModuleGetFunction", &function, load_long_module(), "plain7");
  for (const double before = other_threads_milliseconds(); other_threads_milliseconds() < before + 10;) {
    launch_one(function);
    ::usleep(1000);
  }
}

void visits(const char* length) {
  Program gpu;
  unsigned rounds = 0, right = 0;
  std::set<std::uint32_t> sms;
  std::size_t max_sms = 0;
  for (Rounds told(length); told.next();) {
    gpu.launch();
    cu("cuCtxSynchronize");
    right += gpu.is_right(++rounds) ? 1 : 0;
    const auto seen = Program::words(gpu.sms, kBlocks);
    sms.insert(seen.begin(), seen.end());
    max_sms = std::max(max_sms, std::set<std::uint32_t>(seen.begin(), seen.end()).size());
  }
  std::printf("{\"rounds\": %u, \"right\": %u, \"sms\": %zu, \"first\": %u, \"last\": %u, \"max_sms\": %zu}\n", rounds,
              right, sms.size(), *sms.begin(), *sms.rbegin(), max_sms);
}
