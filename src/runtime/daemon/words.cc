#include "runtime/daemon/words.h"

#include <cstdlib>
#include <new>

namespace wm::runtime {
namespace {

constexpr std::size_t kBytes = 128;  // its own line of any cache

std::uint32_t first_value(Words::Kind kind) { return kind == Words::Kind::queue ? 0 : ~std::uint32_t{0}; }

}  // namespace

Words::Words(const Native& native) : native_(native) {
  if (native.in_host_memory()) return;
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
}

Words::~Words() {
  for (auto& free : free_) {
    for (const auto& word : free) {
      if (word->ready_ != nullptr) native_.cl.ReleaseEvent(word->ready_);
      native_.cl.ReleaseMemObject(word->memory_);
    }
  }
  for (void* page : pages_) std::free(page);
  if (queue_ != nullptr) native_.cl.ReleaseCommandQueue(queue_);
}

std::unique_ptr<Words::Word> Words::make(Kind kind) {
  auto word = std::make_unique<Word>();
  word->words_ = this;
  word->kind_ = kind;
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
  word->make_ready();
  return word;
}

std::shared_ptr<Words::Word> Words::take(Kind kind) {
  auto& free = free_[static_cast<int>(kind)];
  std::unique_ptr<Word> word;
  const std::lock_guard lock(mutex_);
  if (free.empty()) {
    word = make(kind);
    if (!word) return nullptr;
  } else {
    word = std::move(free.front());
    free.pop_front();
  }
  return {word.release(), [this](Word* back) {
            back->make_ready();
            const std::lock_guard giving(mutex_);
            free_[static_cast<int>(back->kind_)].emplace_back(back);
          }};
}

void Words::Word::make_ready() {
  const std::uint32_t value = first_value(kind_);
  if (in_place_ != nullptr) return in_place_->store(value, std::memory_order_seq_cst);
  const NativeCalls& cl = words_->native_.cl;
  if (ready_ != nullptr) cl.ReleaseEvent(ready_);
  ready_ = nullptr;
  cl.EnqueueFillBuffer(words_->queue_, memory_, &value, sizeof value, 0, sizeof value, 0, nullptr, &ready_);
  cl.Flush(words_->queue_);
}

cl_event Words::Word::before() {
  if (ready_ == nullptr) return nullptr;
  const NativeCalls& cl = words_->native_.cl;
  cl_int state = CL_QUEUED;
  cl.GetEventInfo(ready_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  if (state != CL_COMPLETE) return ready_;
  cl.ReleaseEvent(ready_);
  return ready_ = nullptr;
}

cl_int Words::Word::set(std::uint32_t value) {
  if (in_place_ != nullptr) {
    in_place_->store(value, std::memory_order_seq_cst);
    return CL_SUCCESS;
  }
  const NativeCalls& cl = words_->native_.cl;
  const cl_int status =
      cl.EnqueueFillBuffer(words_->queue_, memory_, &value, sizeof value, 0, sizeof value, 0, nullptr, nullptr);
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
