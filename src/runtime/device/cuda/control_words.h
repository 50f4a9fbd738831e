// Words in device memory that workers read, written through a stream of their own.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/device/control_word_pool.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaControlWords final : public ControlWordPool {
 public:
  explicit CudaControlWords(Device& device);
  ~CudaControlWords() override;

  std::shared_ptr<ControlWord> take(Kind kind) override;

 private:
  class Word;
  void give_back(Word& word);
  bool add_block();

  Device& device_;
  Stream stream_ = nullptr;
  std::mutex mutex_;
  std::vector<Address> blocks_;
  std::vector<std::unique_ptr<Word>> words_;
  std::vector<Word*> free_;
};

}  // namespace wm::runtime::cuda
