#include "runtime/device/control_word_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace wm::runtime {
namespace {

constexpr std::size_t kWordStride = 128;  // its own line of any cache
constexpr std::size_t kInABlock = 64;

std::uint32_t first_value(ControlWordPool::Kind kind) {
  return kind == ControlWordPool::Kind::queue ? 0 : ~std::uint32_t{0};
}

}  // namespace

ControlWordPool::ControlWordPool(const Native& native) : native_(native) {
  if (native.in_host_memory()) return;
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  fills_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
}

ControlWordPool::~ControlWordPool() {
  for (const auto& block : blocks_) {
    if (block->ready != nullptr) native_.cl.ReleaseEvent(block->ready);
    for (const auto& word : block->words) {
      if (word->memory_ != block->memory) native_.cl.ReleaseMemObject(word->memory_);
    }
    native_.cl.ReleaseMemObject(block->memory);
    std::free(block->page);
  }
  for (cl_command_queue queue : {queue_, fills_}) {
    if (queue != nullptr) native_.cl.ReleaseCommandQueue(queue);
  }
}

// In place a word has a buffer of its own: nothing is saved by more, and no device need have sub-buffers of host
// memory.
std::unique_ptr<ControlWordPool::Block> ControlWordPool::make(Kind kind) {
  auto block = std::make_unique<Block>();
  block->kind = kind;
  const std::size_t count = queue_ == nullptr ? 1 : kInABlock;
  const std::size_t apart =
      std::max<std::size_t>(native_.fact<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, kWordStride);
  if (queue_ == nullptr && (block->page = std::aligned_alloc(kWordStride, kWordStride)) == nullptr) return nullptr;
  const cl_mem_flags flags = block->page != nullptr ? CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE;
  block->memory = native_.cl.CreateBuffer(native_.context, flags, queue_ == nullptr ? kWordStride : count * apart,
                                          block->page, nullptr);
  if (block->memory == nullptr) return std::free(block->page), nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    auto word = std::make_unique<Word>();
    word->words_ = this;
    word->block_ = block.get();
    if (queue_ == nullptr) {
      word->memory_ = block->memory;
      word->in_place_ = new (block->page) std::atomic<std::uint32_t>(0);
    } else {
      const cl_buffer_region part{i * apart, sizeof(std::uint32_t)};
      word->memory_ = native_.cl.CreateSubBuffer(block->memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, nullptr);
      if (word->memory_ == nullptr) break;
    }
    block->words.push_back(std::move(word));
  }
  return block;
}

void ControlWordPool::make_ready(Block& block) {
  block.back = block.words.size();
  for (const auto& word : block.words) free_[static_cast<int>(block.kind)].push_back(word.get());
  const std::uint32_t value = first_value(block.kind);
  if (queue_ == nullptr) return block.words.front()->in_place_->store(value, std::memory_order_seq_cst);
  if (block.ready != nullptr) native_.cl.ReleaseEvent(block.ready);
  block.ready = nullptr;
  std::size_t bytes = 0;
  native_.cl.GetMemObjectInfo(block.memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  // What the words were last set to may still be on its way, on the other queue.
  cl_event set = nullptr;
  native_.cl.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &set);
  native_.cl.Flush(queue_);
  native_.cl.EnqueueFillBuffer(fills_, block.memory, &value, sizeof value, 0, bytes, set != nullptr ? 1 : 0,
                               set != nullptr ? &set : nullptr, &block.ready);
  native_.cl.Flush(fills_);
  if (set != nullptr) native_.cl.ReleaseEvent(set);
}

void ControlWordPool::give_back(Word& word) {
  const std::lock_guard lock(mutex_);
  Block& block = *word.block_;
  if (++block.back == block.words.size()) make_ready(block);
}

std::shared_ptr<ControlWordPool::Word> ControlWordPool::take(Kind kind) {
  auto& free = free_[static_cast<int>(kind)];
  const std::lock_guard lock(mutex_);
  if (free.empty()) {
    auto block = make(kind);
    if (!block || block->words.empty()) return nullptr;
    make_ready(*block);
    blocks_.push_back(std::move(block));
  }
  Word* word = free.front();
  free.pop_front();
  --word->block_->back;
  return {word, [this](Word* back) { give_back(*back); }};
}

cl_event ControlWordPool::Word::before() {
  const std::lock_guard lock(words_->mutex_);
  return pending();
}

cl_event ControlWordPool::Word::pending() {
  if (block_->ready == nullptr) return nullptr;
  const NativeCalls& cl = words_->native_.cl;
  cl_int state = CL_QUEUED;
  cl.GetEventInfo(block_->ready, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  if (state != CL_COMPLETE) return block_->ready;
  cl.ReleaseEvent(block_->ready);
  return block_->ready = nullptr;
}

cl_int ControlWordPool::Word::set(std::uint32_t value) {
  if (in_place_ != nullptr) {
    in_place_->store(value, std::memory_order_seq_cst);
    return CL_SUCCESS;
  }
  const NativeCalls& cl = words_->native_.cl;
  const std::lock_guard lock(words_->mutex_);
  const cl_event first = pending();
  last_set_ = value;
  const cl_int status = cl.EnqueueWriteBuffer(words_->queue_, memory_, CL_FALSE, 0, sizeof last_set_, &last_set_,
                                              first != nullptr ? 1 : 0, first != nullptr ? &first : nullptr, nullptr);
  cl.Flush(words_->queue_);
  return status;
}

std::uint32_t ControlWordPool::Word::get() const {
  if (in_place_ != nullptr) return in_place_->load(std::memory_order_seq_cst);
  std::uint32_t value = 0;
  words_->native_.cl.EnqueueReadBuffer(words_->queue_, memory_, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  return value;
}

}  // namespace wm::runtime
