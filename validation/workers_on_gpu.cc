// Measures the cost of persistent workers on a real GPU: every kernel of the zoo at the large size, unmodified and as
// workers on all SMs, without a daemon. All buffers must be equal at the end.
//
//   workers_on_gpu OUT [FOLDER…]   writes OUT.csv: the fastest of nine runs of each launch, summed over an application
//
// A FOLDER holds NAME.ptx of each benchmark, rewritten by another version (`wm ptx rewrite --workers`). Its launches
// take the same arguments.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "cuda_device.h"
#include "exec/address_space.h"
#include "kernels/benchmark.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/chunk.h"
#include "rewrite/ptx/persistent.h"
#include "rewrite/ptx/worker_step.h"

namespace wm::validation {
namespace {

constexpr int kRounds = 9;

// The kernels of a module that have workers, with the least chunk of each.
using Rewritten = std::map<std::string, std::uint32_t>;

std::string rewritten_ptx(const ptx::Module& original, Rewritten& rewritten) {
  ptx::Module module = original;
  for (const ptx::Function& f : original.functions)
    if (f.entry && rewrite::make_persistent(module, f.name)) rewritten[f.name] = rewrite::min_chunk(f);
  return ptx::print(module);
}

// As many workers as the GPU has room for, on all SMs.
void add_unlimited(gpu::Application& app, const gpu::Launch& launch, std::uint32_t room, std::uint32_t min_chunk,
                   double nanoseconds) {
  const std::uint32_t groups = launch.grid.x * launch.grid.y * launch.grid.z;
  rewrite::WorkerStep step{.workers = std::min(groups, room)};
  for (std::uint32_t& limit : step.control.limit) limit = 0xffffffffU;
  step.chunk = rewrite::choose_chunk(
      {.groups = groups, .room = room, .min = min_chunk, .max = rewrite::kMaxChunk, .launch_nanoseconds = nanoseconds});
  rewrite::add_workers(app, launch, step);
}

Result<gpu::Application> as_workers(const CudaDevice& gpu, const std::string& ptx, const gpu::Application& app,
                                    const Rewritten& rewritten, const std::vector<double>& native) {
  gpu::Application made;
  made.buffers = app.buffers;
  std::size_t number = 0;
  for (const gpu::Step& step : app.steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    const double nanoseconds = launch != nullptr ? 1000 * native[number++] : 0;
    const auto kernel = launch != nullptr ? rewritten.find(launch->kernel) : rewritten.end();
    if (kernel == rewritten.end()) {
      made.steps.push_back(step);
      continue;
    }
    const auto room = gpu.room_for(ptx, *launch);
    if (!room) return room.error();
    add_unlimited(made, *launch, *room, kernel->second, nanoseconds);
  }
  return made;
}

struct Measured {
  double microseconds = 0;       // sum over the launches of the fastest run of each
  std::vector<double> launches;  // the fastest run of each
  std::vector<std::vector<std::byte>> buffers;
};

Result<Measured> measure(CudaDevice& gpu, const std::string& ptx, const gpu::Application& app) {
  Measured measured;
  std::vector<double>& fastest = measured.launches;
  for (int round = 0; round < kRounds; ++round) {
    auto run = gpu.run(ptx, app, {.poison = exec::kPoison, .download = round == 0});
    if (!run) return run.error();
    if (round == 0) measured.buffers = std::move(run->buffers);
    fastest.resize(run->launches.size(), 1e30);
    for (std::size_t i = 0; i < fastest.size(); ++i) fastest[i] = std::min(fastest[i], run->launches[i].microseconds);
  }
  for (const double us : fastest) measured.microseconds += us;
  return measured;
}

Result<void> compare(CudaDevice& gpu, const zoo::Entry& entry, const std::vector<std::string>& folders,
                     std::string& rows) {
  const std::string& name = entry.benchmark.name;
  const zoo::Case c = entry.benchmark.make(zoo::Size::large);
  const auto module = ptx::parse(entry.ptx, name + ".ptx");
  if (!module) return module.error();
  Rewritten rewritten;
  std::vector<std::pair<std::string, std::string>> forms{{"workers", rewritten_ptx(*module, rewritten)}};
  for (const std::string& folder : folders) {
    auto text = read_file(folder + "/" + name + ".ptx");
    if (!text) return text.error();
    forms.emplace_back(folder, *std::move(text));
  }
  const auto native = measure(gpu, std::string(entry.ptx), c.application);
  if (!native) return native.error();
  for (const auto& [form, ptx] : forms) {
    const auto app = as_workers(gpu, ptx, c.application, rewritten, native->launches);
    if (!app) return app.error();
    const auto workers = measure(gpu, ptx, *app);
    if (!workers) return workers.error();
    std::size_t differing = 0;
    for (std::size_t i = 0; i < native->buffers.size(); ++i)
      differing += native->buffers[i] != workers->buffers[i] ? 1 : 0;
    const bool right = differing == 0 ||
                       (c.check && zoo::verify(
                                       c, [&](gpu::BufferId id) -> const auto& { return workers->buffers[id.index]; })
                                       .ok());
    rows += fmt::format("{},{},{},{:.2f},{:.2f},{:.3f},{}\n", name, form, native->launches.size(), native->microseconds,
                        workers->microseconds, native->microseconds / workers->microseconds, right);
    std::printf("%s", rows.substr(rows.rfind('\n', rows.size() - 2) + 1).c_str());
    std::fflush(stdout);
  }
  return {};
}

int main_of(const std::string& out, const std::vector<std::string>& folders) {
  auto gpu = CudaDevice::open();
  if (!gpu) {
    std::fprintf(stderr, "workers_on_gpu: %s\n", gpu.error().to_string().c_str());
    return 2;
  }
  std::string rows = "benchmark,form,launches,native_microseconds,microseconds,speed,right\n";
  int code = 0;
  for (const zoo::Entry& entry : zoo::entries()) {
    if (entry.benchmark.constant_pointers) continue;
    if (auto r = compare(*gpu, entry, folders, rows); !r) {
      std::fprintf(stderr, "%s: %s\n", entry.benchmark.name.c_str(), r.error().to_string().c_str());
      code = 1;
    }
  }
  if (auto r = write_file(out + ".csv", fmt::format("# {}; {}\n", gpu->name(), gpu->driver()) + rows); !r) {
    std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
    return 2;
  }
  return code;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: workers_on_gpu OUT [FOLDER…]   writes OUT.csv\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], {argv + 2, argv + argc});
}
