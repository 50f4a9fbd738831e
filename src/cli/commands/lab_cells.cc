#include "cli/commands/lab_cells.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "cli/commands/sim_block.h"
#include "cli/output/terminal.h"

namespace wm::cli {

Result<lab::RunSummary> run_cells(lab::RowStore& store, const std::string& path, lab::Executor& executor, bool here,
                                  lab::RunnerOptions options, const lab::Matrix& matrix) {
  std::error_code ignored;
  options.program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  BlockCells block_cells;
  if (here) options.run_block = [&](const lab::RunSpec& spec) { return block_cells.run(spec); };
  Progress bar(1);
  double shown = 0;
  return lab::Runner(store, path, executor, std::move(options)).run(matrix, [&](const lab::Progress& p) {
    const double part = static_cast<double>(p.done) / static_cast<double>(std::max<std::size_t>(1, p.total));
    bar.advance(part - shown, fmt::format("{} of {}, {}", p.done, p.total, p.label));
    shown = part;
  });
}

}  // namespace wm::cli
