#include "lab/experiment/cell_threads.h"

#include <ctime>
#include <utility>

namespace wm::lab {
namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

CellThreads::CellThreads(const std::vector<const Cell*>& cells, std::size_t threads, Run run)
    : cells_(cells), run_(std::move(run)) {
  for (std::size_t i = 0; i < std::min(threads, cells.size()); ++i) threads_.emplace_back([this] { work(); });
}

CellThreads::~CellThreads() {
  {
    const std::scoped_lock lock(mutex_);
    next_ = cells_.size();
  }
  for (std::thread& t : threads_) t.join();
}

void CellThreads::work() {
  std::unique_lock lock(mutex_);
  while (next_ < cells_.size()) {
    const Cell* cell = cells_[next_++];
    lock.unlock();
    const double began = thread_seconds();
    Finished finished{cell, run_(cell->spec), 0};
    finished.seconds = thread_seconds() - began;
    lock.lock();
    finished_.push_back(std::move(finished));
    ended_.notify_one();
  }
}

std::vector<CellThreads::Finished> CellThreads::wait() {
  std::unique_lock lock(mutex_);
  if (returned_ == cells_.size()) return {};
  ended_.wait(lock, [&] { return !finished_.empty(); });
  returned_ += finished_.size();
  return std::exchange(finished_, {});
}

}  // namespace wm::lab
