#include "rewrite/ptx/rewritten.h"

#include <array>
#include <fmt/format.h>

#include "base/pattern.h"
#include "exec/run.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace wm::rewrite {
namespace {

const AdaptedKernel& adapted_kernel(const AdaptedModule& module, const std::string& name) {
  for (const AdaptedKernel& k : module.kernels) {
    if (k.name == name) return k;
  }
  throw std::invalid_argument("no kernel " + name);
}

void adapt_launch(gpu::Launch& launch, const AdaptedKernel& kernel) {
  std::uint64_t shared = 0;
  for (gpu::Argument& argument : launch.arguments) {
    const auto* local = std::get_if<gpu::LocalMemory>(&argument);
    if (local == nullptr) continue;
    const std::uint64_t at = (shared + 15) / 16 * 16;
    shared = at + local->bytes;
    argument = gpu::scalar(at);
  }
  launch.dynamic_shared_bytes = shared;
  if (!kernel.reads_environment) return;
  const std::array<std::uint32_t, kEnvironmentWords> words{
      0, 0, 0, 0, 0, 0, launch.grid.x, launch.grid.y, launch.grid.z, 3};
  launch.arguments.push_back(gpu::scalar(words));
}

}  // namespace

std::string as_nvidia_opencl(std::string_view text) {
  std::string out(text);
  for (int d = 0; d < 3; ++d) {
    const char axis = "xyz"[d];
    out = Pattern(fmt::format(R"(mov\.u32\s+(%r[0-9]+), %ctaid\.{};)", axis))
              .replace(out, fmt::format("mov.u32 $1, %ctaid.{};\n{{ .reg .b32 %wt; mov.b32 %wt, %envreg{}; "
                                        "add.s32 $1, $1, %wt; }}",
                                        axis, d));
    out = Pattern(fmt::format(R"(%nctaid\.{})", axis)).replace(out, fmt::format("%envreg{}", 6 + d));
  }
  return out;
}

ptx::Module parsed(const std::string& text) {
  auto module = ptx::parse(text);
  if (!module) throw std::invalid_argument(module.error().to_string());
  return *std::move(module);
}

gpu::Application for_adapted(gpu::Application application, const AdaptedModule& adapted) {
  for (gpu::Step& step : application.steps) {
    if (auto* launch = std::get_if<gpu::Launch>(&step)) adapt_launch(*launch, adapted_kernel(adapted, launch->kernel));
  }
  return application;
}

std::string compare_runs(const ptx::Module& original, const gpu::Application& application, const ptx::Module& rewritten,
                         const gpu::Application& rewritten_application) {
  const auto expected = exec::run_application(original, application);
  if (!expected) return "original: " + expected.error().to_string();
  const auto again = ptx::parse(ptx::print(rewritten));
  if (!again) return "printed: " + again.error().to_string();
  const auto got = exec::run_application(*again, rewritten_application);
  if (!got) return "rewritten: " + got.error().to_string();
  return difference(application, expected->buffers, got->buffers);
}

}  // namespace wm::rewrite
