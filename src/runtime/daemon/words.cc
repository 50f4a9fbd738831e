#include "runtime/daemon/words.h"

#include <cstdlib>
#include <new>

namespace wm::runtime {
namespace {

constexpr std::size_t kBytes = 128;  // its own line of any cache

}  // namespace

Words::Words(const Native& native) : native_(native) {
  const auto type = native.fact<cl_device_type>(CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return;
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
}

Words::~Words() {
  for (const auto& word : free_) native_.cl.ReleaseMemObject(word->memory_);
  for (void* page : pages_) std::free(page);
  if (queue_ != nullptr) native_.cl.ReleaseCommandQueue(queue_);
}

std::shared_ptr<Words::Word> Words::take() {
  std::unique_ptr<Word> word;
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    word = std::make_unique<Word>();
    word->words_ = this;
    void* place = nullptr;
    if (queue_ == nullptr) {
      place = std::aligned_alloc(kBytes, kBytes);
      if (place == nullptr) return nullptr;
      pages_.push_back(place);
      word->in_place_ = new (place) std::atomic<std::uint32_t>(0);
    }
    word->memory_ = native_.cl.CreateBuffer(native_.context, place != nullptr ? CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE,
                                            kBytes, place, nullptr);
    if (word->memory_ == nullptr) return nullptr;
  } else {
    word = std::move(free_.back());
    free_.pop_back();
  }
  return {word.release(), [this](Word* back) {
            const std::lock_guard giving(mutex_);
            free_.emplace_back(back);
          }};
}

cl_int Words::Word::set(std::uint32_t value, cl_event* before) {
  if (in_place_ != nullptr) {
    in_place_->store(value, std::memory_order_seq_cst);
    return CL_SUCCESS;
  }
  const NativeCalls& cl = words_->native_.cl;
  const cl_int status =
      cl.EnqueueFillBuffer(words_->queue_, memory_, &value, sizeof value, 0, sizeof value, 0, nullptr, before);
  cl.Flush(words_->queue_);
  return status;
}

std::uint32_t Words::Word::get() const {
  if (in_place_ != nullptr) return in_place_->load(std::memory_order_seq_cst);
  std::uint32_t value = 0;
  words_->native_.cl.EnqueueReadBuffer(words_->queue_, memory_, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  return value;
}

}  // namespace wm::runtime
