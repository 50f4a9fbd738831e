// Control words of a device with memory of its own: commands of a separate queue write and read them while
// kernels run.
//
// The words lie in blocks. One command gives all words of a block their initial value once all of them have come back,
// so that launches find theirs ready and pay for a part of a command. That command has another queue: a fill may be a
// kernel of the driver's, which waits for other kernels where a copy does not.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "runtime/device/control_word_pool.h"
#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class OpenClDeviceWords final : public ControlWordPool {
 public:
  explicit OpenClDeviceWords(const Native& native);
  ~OpenClDeviceWords() override;

  std::shared_ptr<ControlWord> take(Kind kind) override;

 private:
  class Word;
  struct Block;
  [[nodiscard]] std::unique_ptr<Block> make(Kind kind);
  // Its words get their initial value and may be taken.
  void make_ready(Block& block);
  void give_back(Word& word);
  // The event of the command that initialises the block; null: it has completed. With the mutex held.
  [[nodiscard]] cl_event pending(Block& block) const;

  const Native& native_;
  cl_command_queue queue_ = nullptr;
  cl_command_queue fills_ = nullptr;
  std::mutex mutex_;
  std::deque<Word*> free_[2];  // by kind; the one that came back first goes first
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace wm::runtime
