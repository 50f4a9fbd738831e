// Control words of a device that works in host memory: a word is written and read in place.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "runtime/device/control_word_pool.h"
#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class OpenClHostWords final : public ControlWordPool {
 public:
  explicit OpenClHostWords(const Native& native);
  ~OpenClHostWords() override;

  std::shared_ptr<ControlWord> take(Kind kind) override;

 private:
  class Word;
  [[nodiscard]] std::unique_ptr<Word> make() const;

  const Native& native_;
  std::mutex mutex_;
  std::deque<Word*> free_;  // the one that came back first goes first
  std::vector<std::unique_ptr<Word>> words_;
};

}  // namespace wm::runtime
