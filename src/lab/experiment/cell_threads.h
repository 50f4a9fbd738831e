// Cells that run on threads of this process. A cell of the block machine takes milliseconds, less than the start of a
// process for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "lab/experiment/matrix.h"

namespace wm::lab {

class CellThreads {
 public:
  // Runs a specification and returns the result as `wm sim --json` writes it. Called from several threads.
  using Run = std::function<Result<std::string>(const RunSpec&)>;
  struct Finished {
    const Cell* cell = nullptr;
    Result<std::string> result;
    double seconds = 0;  // processor time
  };

  // Starts the threads. The cells must outlive them.
  CellThreads(const std::vector<const Cell*>& cells, std::size_t threads, Run run);
  // Waits for the cells that run; those that have not been started are left.
  ~CellThreads();
  CellThreads(const CellThreads&) = delete;
  CellThreads& operator=(const CellThreads&) = delete;

  // Waits until cells have ended, and returns them; none: all cells were returned before.
  std::vector<Finished> wait();

 private:
  void work();

  const std::vector<const Cell*>& cells_;
  Run run_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t next_ = 0;      // first cell that has not been started
  std::size_t returned_ = 0;  // cells that wait() has returned
  std::vector<Finished> finished_;
  std::vector<std::thread> threads_;
};

}  // namespace wm::lab
