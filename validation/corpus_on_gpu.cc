// The corpus on a real GPU: every case twice, from a cold L2 and again, for a profiler or timed by events.
//
//   corpus_on_gpu TABLE MODULES OUT.csv     MODULES: folder with FILE.cubin or FILE.ptx of each case
//
// OUT.csv gets a row a launch with its time between two events, and a digest of every buffer's content at the end.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "cuda_device.h"
#include "gpu/case_table.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kLaunches = 2;

// FNV-1a over all buffers.
std::uint64_t digest(const GpuRun& run) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const auto& buffer : run.buffers)
    for (const std::byte b : buffer) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ULL;
  return hash;
}

Result<std::string> rows_of(CudaDevice& gpu, const gpu::LaunchCase& c, const std::string& folder) {
  auto code = read_file(folder + "/" + c.file + ".cubin");
  if (!code) code = read_file(folder + "/" + c.file + ".ptx");
  if (!code) return code.error();
  const auto application = gpu::make_application(c, kLaunches);
  if (!application) return application.error();
  const auto run = gpu.run(*code, *application, {.poison = {}, .evict = true, .download = true});
  if (!run) return run.error();
  std::string rows;
  for (std::size_t i = 0; i < run->launches.size(); ++i)
    rows += fmt::format("{},{},{:.3f},{:016x}\n", c.name, i, run->launches[i].microseconds, digest(*run));
  return rows;
}

int main_of(const std::string& table, const std::string& folder, const std::string& out) {
  const auto text = read_file(table);
  auto gpu = CudaDevice::open();
  if (!text || !gpu) {
    std::fprintf(stderr, "%s\n", (text ? gpu.error() : text.error()).to_string().c_str());
    return 2;
  }
  const auto cases = gpu::parse_cases(*text, table);
  if (!cases) {
    std::fprintf(stderr, "%s\n", cases.error().to_string().c_str());
    return 2;
  }
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string rows = fmt::format("# {}; {}; {}; command: corpus_on_gpu\nname,launch,microseconds,digest\n", date,
                                 gpu->name(), gpu->driver());
  int code = 0;
  for (const gpu::LaunchCase& c : *cases) {
    const auto more = rows_of(*gpu, c, folder);
    if (more) rows += *more;
    if (more) continue;
    std::fprintf(stderr, "%s: %s\n", c.name.c_str(), more.error().to_string().c_str());
    code = 1;
  }
  if (auto r = write_file(out, rows); !r) std::fprintf(stderr, "%s\n", r.error().to_string().c_str());
  return code;
}

}  // namespace
}  // namespace wm::validation

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: corpus_on_gpu TABLE MODULES OUT.csv\n");
    return 2;
  }
  return wm::validation::main_of(argv[1], argv[2], argv[3]);
}
