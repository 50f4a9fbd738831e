// ControlWordPool in device memory that workers look at: the queue they take groups from, and how many of them may go
// on.
//
// Where the device works in the host's memory (a CPU) a word is written and read in place. Elsewhere it is written and
// read by commands on a queue of its own, beside what runs. Such words lie in blocks, and a block is made ready by one
// command when all of its words have come back, so that launches find theirs ready and pay for a part of a command.
// That one has another queue: a fill may be a kernel of the driver's, which waits for others where a copy does not.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/session/objects.h"

namespace wm::runtime {

class ControlWordPool {
  struct Block;

 public:
  explicit ControlWordPool(const Native& native);
  ~ControlWordPool();
  ControlWordPool(const ControlWordPool&) = delete;
  ControlWordPool& operator=(const ControlWordPool&) = delete;

  enum class Kind { queue, control };  // 0 at first; all may go on at first

  class Word {
   public:
    [[nodiscard]] cl_mem memory() const { return memory_; }
    // The event that a command must wait for to see the first value; null where it stands already. The word's own.
    [[nodiscard]] cl_event before();
    cl_int set(std::uint32_t value);
    // Of a launch that has ended, or began at least.
    [[nodiscard]] std::uint32_t get() const;

   private:
    friend class ControlWordPool;
    // As before(); the words' mutex is held.
    [[nodiscard]] cl_event pending();
    ControlWordPool* words_ = nullptr;
    Block* block_ = nullptr;
    cl_mem memory_ = nullptr;
    std::atomic<std::uint32_t>* in_place_ = nullptr;
    std::uint32_t last_set_ = 0;  // outlives the command that writes it
  };
  // Null: the device has no memory for one.
  std::shared_ptr<Word> take(Kind kind);

 private:
  struct Block {
    Kind kind{};
    void* page = nullptr;  // where words are in place
    cl_mem memory = nullptr;
    cl_event ready = nullptr;  // none: they stand
    std::vector<std::unique_ptr<Word>> words;
    std::size_t back = 0;  // words that nobody has
  };
  [[nodiscard]] std::unique_ptr<Block> make(Kind kind);
  // Its words get their first value and may be taken.
  void make_ready(Block& block);
  void give_back(Word& word);

  const Native& native_;
  cl_command_queue queue_ = nullptr;  // none: words are in place
  cl_command_queue fills_ = nullptr;
  std::mutex mutex_;
  std::deque<Word*> free_[2];  // the one that came back first goes first
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace wm::runtime
