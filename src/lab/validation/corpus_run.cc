#include "lab/validation/corpus_run.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <thread>

#include "base/file.h"

namespace wm::lab {
namespace {

constexpr std::uint32_t kLaunches = 2;

Result<SimulatedRun> run_case(const gpu::LaunchCase& c, const CorpusRun& run) {
  const auto ptx = read_file(run.ptx_folder + "/" + c.file + ".ptx");
  if (!ptx) return ptx.error();
  const auto application = gpu::make_application(c, kLaunches);
  if (!application) return application.error();
  return simulate(run.gpu, *ptx, *application);
}

// The rows of the cases that are done. Threads take the next case until none is left or one has failed.
class CorpusRows {
 public:
  CorpusRows(const std::vector<gpu::LaunchCase>& cases, const CorpusRun& run) : cases_(cases), run_(run) {}

  void work() {
    for (std::size_t i = next_++; i < cases_.size(); i = next_++) {
      const auto simulated = run_case(cases_[i], run_);
      const std::lock_guard lock(mutex_);
      if (error_) return;
      if (!simulated) {
        error_ = Error{fmt::format("{}: {}", cases_[i].name, simulated.error().what), simulated.error().where};
        return;
      }
      add_rows(rows_, cases_[i].name, *simulated);
      if (run_.progress) run_.progress(cases_[i].name, ++done_, cases_.size());
    }
  }

  [[nodiscard]] Result<LaunchRows> take() {
    if (error_) return *error_;
    return std::move(rows_);
  }

 private:
  const std::vector<gpu::LaunchCase>& cases_;
  const CorpusRun& run_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // guards the fields below
  std::size_t done_ = 0;
  LaunchRows rows_;
  std::optional<Error> error_;
};

}  // namespace

Result<LaunchRows> run_corpus(const std::vector<gpu::LaunchCase>& cases, const CorpusRun& run) {
  CorpusRows rows(cases, run);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(run.jobs, 1U); ++i) threads.emplace_back([&] { rows.work(); });
  }
  return rows.take();
}

}  // namespace wm::lab
