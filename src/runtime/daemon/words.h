// Words in device memory that workers look at: the queue they take groups from, and how many of them may go on.
//
// Where the device works in the host's memory (a CPU) a word is written and read in place. Elsewhere it is written and
// read by commands on a queue of its own, beside what runs. A word that comes back is made ready for the next launch
// then, so that launches find theirs ready.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
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

  enum class Kind { queue, control };  // 0 at first; all may go on at first

  class Word {
   public:
    [[nodiscard]] cl_mem memory() const { return memory_; }
    // The event that a command must wait for to see the first value; null where it stands already. The word's own.
    [[nodiscard]] cl_event before();
    cl_int set(std::uint32_t value);
    [[nodiscard]] std::uint32_t get() const;

   private:
    friend class Words;
    void make_ready();
    Words* words_ = nullptr;
    Kind kind_{};
    cl_mem memory_ = nullptr;
    std::atomic<std::uint32_t>* in_place_ = nullptr;
    cl_event ready_ = nullptr;
  };
  // Null: the device has no memory for one.
  std::shared_ptr<Word> take(Kind kind);

 private:
  std::unique_ptr<Word> make(Kind kind);

  const Native& native_;
  cl_command_queue queue_ = nullptr;  // none: words are in place
  std::mutex mutex_;
  std::deque<std::unique_ptr<Word>> free_[2];  // the one that came back first goes first
  std::vector<void*> pages_;
};

}  // namespace wm::runtime
