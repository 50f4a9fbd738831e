// A task of SMQoS's figures 15 to 19 after the other, for some of these programs beside each other. It knows nothing of
// warpmux.
//
//   tasks SLOT… [--seconds S] [--settle S] [--isolated S] [--size small|full]
//       SLOT is TASK[:FORM[:FIRST_SM:SMS]], with TASK one of HS MERGE LIB LBM PF BINO GESUMMV ATAX, and FORM direct
//       (unmodified), workers (persistent workers on the SMs) or relaunch (the same in ten launches). Each runs again
//       and again for S seconds; the time of a task after the first `settle` seconds is printed as a line of JSON. The
//       slots begin at PAIR_BEGIN (seconds since 1970). Before that the program waits; with --isolated each of its
//       tasks runs for S seconds then, the last one until PAIR_BEGIN.
//   tasks where [--seconds S]   the SMs on which the blocks of the last of many launches ran
//   tasks sets                  times of the latency-sensitive tasks on all groups of 4 SMs but some, without warpmux
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sm_sets.h"
#include "task_kernels.h"

namespace {

using Clock = std::chrono::steady_clock;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "tasks: %s: %s\n", what, cudaGetErrorString(result));
  std::_Exit(1);
}

enum class Form { direct, workers, relaunch };
constexpr unsigned kPieces = 10, kWorkersPerSm = 4;

struct Slot {
  std::string task;
  Form form = Form::direct;
  unsigned first_sm = 0, sms = 0;
};

cudaStream_t stream;
unsigned device_sms = 0;
unsigned* words = nullptr;
bool is_small = false;

template <typename Body>
void launch(const Body& body, unsigned blocks, const Slot& slot) {
  if (slot.form == Form::direct) {
    tasks::run_blocks<<<blocks, tasks::kThreads, 0, stream>>>(body);
  } else {
    const unsigned pieces = slot.form == Form::relaunch ? kPieces : 1;
    for (unsigned i = 0; i < pieces; ++i) {
      const auto at = [&](unsigned piece) { return static_cast<unsigned>(std::uint64_t{blocks} * piece / pieces); };
      const tasks::WorkerRange range{at(i), at(i + 1), slot.first_sm, slot.sms, words};
      tasks::run_workers<<<device_sms * kWorkersPerSm, tasks::kThreads, 0, stream>>>(body, range);
    }
  }
  check(cudaGetLastError(), "launch");
}

// A task: its launches, and the memory that they write.
struct Task {
  std::function<void(const Slot&)> run;
  void* output = nullptr;
  std::size_t bytes = 0;
};

// Inputs are made on the device, where a gigabyte takes no time.
__global__ void fill(unsigned* words, std::size_t count, unsigned mode, float scale) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned v = static_cast<unsigned>(i) * 2654435761U + 12345U;
    v = (v ^ (v >> 15)) * 2246822519U;
    v ^= v >> 13;
    words[i] = mode == 0   ? __float_as_uint(scale * static_cast<float>(v % 1000) * 1e-3F + 0.01F)
               : mode == 1 ? v
                           : v % 10;
  }
}
__global__ void add_up(const unsigned* words, std::size_t count, unsigned long long* sum) {
  unsigned long long own = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    own += words[i] * (2 * i + 1);
  atomicAdd(sum, own);
}
unsigned fill_blocks() { return is_small ? 1 : 1056; }

template <typename T>
T* filled(std::size_t count, unsigned mode, float scale = 1) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  fill<<<fill_blocks(), 256, 0, stream>>>(reinterpret_cast<unsigned*>(memory), count, mode, scale);
  check(cudaGetLastError(), "launch");
  return memory;
}
float* floats(std::size_t count, float scale = 1) { return filled<float>(count, 0, scale); }
template <typename T>
T* zeros(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

Task make(const std::string& name) {
  if (name == "HS") {
    const unsigned cells = is_small ? 48 : 8192, in_row = (cells + tasks::HotSpot::kKept - 1) / tasks::HotSpot::kKept;
    const std::size_t all = std::size_t{cells} * cells;
    const tasks::HotSpot body{floats(all), floats(all, 80), zeros<float>(all), cells, in_row};
    return {[=](const Slot& s) { launch(body, in_row * in_row, s); }, body.after, all * 4};
  }
  if (name == "MERGE") {
    const unsigned blocks = is_small ? 4 : 32768;
    const std::size_t all = std::size_t{blocks} * tasks::MergeShared::kTile;
    const tasks::MergeShared body{filled<unsigned>(all, 1), zeros<unsigned>(all)};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.to, all * 4};
  }
  if (name == "LIB") {
    const unsigned blocks = is_small ? 1 : 8192, paths = blocks * tasks::kThreads;
    const tasks::Libor body{floats(std::size_t{tasks::Libor::kSteps} * paths), floats(80, 0.2F), zeros<float>(paths),
                            paths};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.payoff, std::size_t{paths} * 4};
  }
  if (name == "LBM") {
    const unsigned blocks = is_small ? 4 : 16384, cells = blocks * tasks::kThreads;
    const std::size_t all = std::size_t{cells} * 19;
    const tasks::Lbm body{floats(all), zeros<float>(all), cells, 128, is_small ? 256 : 128 * 128};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.to, all * 4};
  }
  if (name == "PF") {
    const unsigned columns = is_small ? 1000 : 1U << 24;
    const unsigned blocks = (columns + tasks::PathFinder::kKept - 1) / tasks::PathFinder::kKept;
    const tasks::PathFinder body{filled<int>(std::size_t{16} * columns, 2), filled<int>(columns, 2),
                                 zeros<int>(columns), columns};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.after, std::size_t{columns} * 4};
  }
  if (name == "BINO") {
    const unsigned blocks = is_small ? 2 : 8448;
    const tasks::Binomial body{floats(blocks, 90), zeros<float>(blocks)};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.calls, std::size_t{blocks} * 4};
  }
  if (name == "GESUMMV") {
    const unsigned blocks = is_small ? 2 : 512, columns = is_small ? 32 : 256;
    const std::size_t rows = std::size_t{blocks} * tasks::kThreads;
    const tasks::Gesummv body{floats(rows * columns), floats(rows * columns), floats(columns), zeros<float>(rows),
                              columns};
    return {[=](const Slot& s) { launch(body, blocks, s); }, body.y, rows * 4};
  }
  if (name == "ATAX") {
    const unsigned size = is_small ? 256 : 8192, blocks = size / tasks::kThreads;
    const tasks::Atax first{
        floats(std::size_t{size} * size), floats(size), zeros<float>(size), zeros<float>(size), size, false};
    tasks::Atax second = first;
    second.is_second = true;
    return {[=](const Slot& s) {
              launch(first, blocks, s);
              launch(second, blocks, s);
            },
            first.y, std::size_t{size} * 4};
  }
  std::fprintf(stderr, "tasks: there is no task '%s'\n", name.c_str());
  std::_Exit(2);
}

Slot slot_of(const std::string& text) {
  Slot slot;
  slot.sms = device_sms;
  char task[32] = {}, form[32] = "direct";
  std::sscanf(text.c_str(), "%31[^:]:%31[^:]:%u:%u", task, form, &slot.first_sm, &slot.sms);
  slot.task = task;
  slot.form = std::strcmp(form, "workers") == 0    ? Form::workers
              : std::strcmp(form, "relaunch") == 0 ? Form::relaunch
                                                   : Form::direct;
  return slot;
}

// Seconds until the measured time begins: at PAIR_BEGIN (seconds since 1970), or now. With "-" the program says that it is
// ready and reads the time from its standard input, so that nobody waits longer than its start takes.
double until_begin() {
  const char* text = std::getenv("PAIR_BEGIN");
  if (text == nullptr) return 0;
  double begin = std::atof(text);
  if (std::strcmp(text, "-") == 0) {
    std::puts("{\"ready\": 1}");
    std::fflush(stdout);
    if (std::scanf("%lf", &begin) != 1) std::_Exit(2);
  }
  return begin - std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void wait() { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

// A sum over the task's output that changes with every bit.
unsigned long long output_of(const Task& task) {
  static auto* sum = zeros<unsigned long long>(1);
  unsigned long long value = 0;
  check(cudaMemsetAsync(sum, 0, sizeof value, stream), "cudaMemset");
  add_up<<<fill_blocks(), 256, 0, stream>>>(static_cast<const unsigned*>(task.output), task.bytes / 4, sum);
  check(cudaMemcpyAsync(&value, sum, sizeof value, cudaMemcpyDeviceToHost, stream), "cudaMemcpy");
  wait();
  return value;
}

__global__ void note_sm(unsigned* sms, unsigned rounds) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  float x = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = fmaf(x, 0.999F, 0.5F);
  if (threadIdx.x == 0) sms[blockIdx.x] = x == -1 ? 0 : sm;
}

void where(double seconds) {
  constexpr unsigned kBlocks = 2640;
  auto* sms = zeros<unsigned>(kBlocks);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::size_t launches = 0;
  do {
    note_sm<<<kBlocks, 256, 0, stream>>>(sms, is_small ? 1 : 2000);
    check(cudaGetLastError(), "launch");
    wait();
    ++launches;
  } while (Clock::now() < end);
  std::vector<unsigned> seen(kBlocks);
  check(cudaMemcpy(seen.data(), sms, kBlocks * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const std::set<unsigned> distinct(seen.begin(), seen.end());
  std::printf("{\"launches\": %zu, \"sms\": [", launches);
  const char* before = "";
  for (const unsigned sm : distinct) {
    std::printf("%s%u", before, sm);
    before = ", ";
  }
  std::printf("]}\n");
}

double median_microseconds(const Task& task, const Slot& slot) {
  std::vector<double> times;
  for (int i = 0; i < 41; ++i) {
    const auto started = Clock::now();
    task.run(slot);
    wait();
    times.push_back(std::chrono::duration<double>(Clock::now() - started).count() * 1e6);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void sets() {
  std::map<std::string, Task> made;
  for (const char* name : {"HS", "MERGE", "LIB", "LBM"}) made[name] = make(name);
  wait();
  const auto groups = tasks::groups_of_sms(4);
  const std::size_t count = groups.size();
  std::vector<std::vector<std::size_t>> missing{{}};
  for (std::size_t i = 0; i < count; ++i) missing.push_back({i});
  missing.push_back({0, 1, 2});
  missing.push_back({count - 3, count - 2, count - 1});
  missing.push_back({0, count / 3 - 1, 2 * (count / 3 - 1)});
  const cudaStream_t own = stream;
  for (const auto& without : missing) {
    const tasks::StreamWithout placed(groups, without);
    stream = placed.get();
    std::printf("{\"without\": [");
    for (std::size_t i = 0; i < without.size(); ++i) std::printf("%s%zu", i == 0 ? "" : ", ", without[i]);
    std::printf("]");
    for (const auto& [name, task] : made)
      std::printf(", \"%s\": %.1f", name.c_str(), median_microseconds(task, {name, Form::direct, 0, device_sms}));
    std::puts("}");
    stream = own;
  }
}

Clock::duration duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct Times {
  std::size_t tasks = 0;  // that began after it had settled
  double milliseconds = 0;
};

// Runs the task again and again until `end`, and once at least.
Times repeat(const Task& task, const Slot& slot, Clock::time_point settled, Clock::time_point end) {
  Clock::time_point first{}, last{};
  std::size_t count = 0, all = 0;
  while (Clock::now() < end || all == 0) {
    const auto started = Clock::now();
    task.run(slot);
    wait();
    ++all;
    if (started < settled) continue;
    if (count++ == 0) first = started;
    last = Clock::now();
  }
  if (count == 0) return {};
  return {count, std::chrono::duration<double>(last - first).count() * 1e3 / static_cast<double>(count)};
}

void run(const std::vector<Slot>& slots, double seconds, double settle, double isolated) {
  std::map<std::string, Task> made;
  std::map<std::string, unsigned long long> expected;
  for (const Slot& slot : slots) {
    if (made.contains(slot.task)) continue;
    made[slot.task] = make(slot.task);
    made[slot.task].run({slot.task, Form::direct, 0, device_sms});
    wait();
    expected[slot.task] = output_of(made[slot.task]);
  }
  const double wait_seconds = until_begin();
  const double late = wait_seconds < 0 ? -wait_seconds : 0;
  auto end = Clock::now() + duration(wait_seconds);
  std::this_thread::sleep_until(end - duration(isolated * static_cast<double>(made.size())));
  if (isolated > 0) {
    auto until = end - duration(isolated * static_cast<double>(made.size()));
    for (auto& [name, task] : made) {
      const auto settled = until + duration(isolated / 3);
      until += duration(isolated);
      const Times times = repeat(task, {name, Form::direct, 0, device_sms}, settled, until);
      std::printf("{\"isolated\": \"%s\", \"tasks\": %zu, \"ms\": %.5f}\n", name.c_str(), times.tasks,
                  times.milliseconds);
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto settled = end + duration(settle);
    end += duration(seconds);
    const Times times = repeat(made[slots[i].task], slots[i], settled, end);
    std::printf("{\"slot\": %zu, \"task\": \"%s\", \"tasks\": %zu, \"ms\": %.5f, \"late_ms\": %.0f}\n", i,
                slots[i].task.c_str(), times.tasks, times.milliseconds, late * 1e3);
  }
  int wrong = 0;
  for (auto& [name, task] : made) wrong += output_of(task) == expected[name] ? 0 : 1;
  std::printf("{\"wrong\": %d}\n", wrong);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> texts;
  double seconds = 0.3, settle = 0.08, isolated = 0;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--seconds" && i + 1 < count) {
      seconds = std::atof(arguments[++i]);
    } else if (word == "--settle" && i + 1 < count) {
      settle = std::atof(arguments[++i]);
    } else if (word == "--isolated" && i + 1 < count) {
      isolated = std::atof(arguments[++i]);
    } else if (word == "--size" && i + 1 < count) {
      is_small = std::strcmp(arguments[++i], "small") == 0;
    } else {
      texts.push_back(word);
    }
  }
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  device_sms = static_cast<unsigned>(sms);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  words = zeros<unsigned>(2);
  if (texts.size() == 1 && texts[0] == "where") {
    where(seconds);
    return 0;
  }
  if (texts.size() == 1 && texts[0] == "sets") {
    sets();
    return 0;
  }
  std::vector<Slot> slots;
  for (const std::string& text : texts) slots.push_back(slot_of(text));
  if (slots.empty()) return 2;
  run(slots, seconds, settle, isolated);
}
