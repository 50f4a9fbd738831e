#include "rewrite/machines.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "exec/run.h"
#include "ptx/parse.h"

namespace wm::rewrite {

Result<std::string> compile_to_ptx(const std::string& source) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("wm-rewrite-test-{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string in = (folder / "program.cl").string();
  const std::string out = (folder / "program.ptx").string();
  const std::string log = (folder / "log").string();
  if (auto written = write_file(in, source); !written) return written.error();
  // With `fast` the back end chooses which product of a sum of two is fused, and the choice depends on the code around
  // it.
  const std::string command = WM_OPENCL_TO_PTX " -ffp-contract=on -Wno-unused -Wno-incompatible-pointer-types -o " +
                              out + " " + in + " 2>" + log;
  const int status = std::system(command.c_str());
  auto text = read_file(status == 0 ? out : log);
  std::filesystem::remove_all(folder);
  if (status != 0) return Error{"clang: " + (text ? *text : std::string("no log"))};
  return text;
}

Result<zoo::Buffers> run_ptx(const std::string& ptx, const gpu::Application& application) {
  const Result<ptx::Module> module = ptx::parse(ptx);
  if (!module) return module.error();
  auto result = exec::run_application(*module, application);
  if (!result) return result.error();
  return std::move(result->buffers);
}

std::string difference(const gpu::Application& application, const zoo::Buffers& expected, const zoo::Buffers& got) {
  for (std::size_t i = 0; i < application.buffers.size(); ++i) {
    if (expected[i] == got[i]) continue;
    std::size_t at = 0;
    while (at < expected[i].size() && expected[i][at] == got[i][at]) ++at;
    return fmt::format("buffer '{}' differs at byte {}", application.buffers[i].name, at);
  }
  return {};
}

void set_offset(gpu::Application& application, const std::array<std::size_t, 3>& offset) {
  for (gpu::Step& step : application.steps) {
    auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr) continue;
    auto& bytes = std::get<gpu::Scalar>(launch->arguments.back()).bytes;
    Range range;
    std::memcpy(&range, bytes.data(), sizeof range);
    for (std::size_t d = 0; d < 3; ++d) range.offset[d] = offset[d];
    std::memcpy(bytes.data(), &range, sizeof range);
  }
}

}  // namespace wm::rewrite
