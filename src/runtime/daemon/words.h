// Words in device memory that workers look at: the queue they take groups from, and how many of them may go on.
//
// Where the device works in the host's memory (a CPU) a word is written and read in place. Elsewhere it is written and
// read by commands on a queue of its own, beside what runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/daemon/objects.h"

namespace wm::runtime {

class Words {
 public:
  explicit Words(const Native& native);
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  class Word {
   public:
    [[nodiscard]] cl_mem memory() const { return memory_; }
    // `before`: set to the event that a command must wait for to see it; null where it stands at once.
    cl_int set(std::uint32_t value, cl_event* before);
    [[nodiscard]] std::uint32_t get() const;

   private:
    friend class Words;
    Words* words_ = nullptr;
    cl_mem memory_ = nullptr;
    std::atomic<std::uint32_t>* in_place_ = nullptr;
  };
  // Null: the device has no memory for one.
  std::shared_ptr<Word> take();

 private:
  const Native& native_;
  cl_command_queue queue_ = nullptr;  // none: words are in place
  std::mutex mutex_;
  std::vector<std::unique_ptr<Word>> free_;
  std::vector<void*> pages_;
};

}  // namespace wm::runtime
