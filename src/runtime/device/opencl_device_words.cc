#include "runtime/device/opencl_device_words.h"

#include <algorithm>

namespace wm::runtime {
namespace {

constexpr std::size_t kDeviceWordStride = 128;  // a cache line of its own
constexpr std::size_t kWordsPerBlock = 64;

}  // namespace

class OpenClDeviceWords::Word final : public ControlWord {
 public:
  Word(OpenClDeviceWords& pool, Block& block, cl_mem memory)
      : pool_(pool), block_(block), memory_(memory, pool.native_.cl.ReleaseMemObject) {}

  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  [[nodiscard]] EventHandle ready_event() override {
    const std::lock_guard lock(pool_.mutex_);
    return reinterpret_cast<EventHandle>(pool_.pending(block_));
  }
  Status set(std::uint32_t value) override {
    const NativeCalls& cl = pool_.native_.cl;
    const std::lock_guard lock(pool_.mutex_);
    const cl_event first = pool_.pending(block_);
    last_set_ = value;
    const cl_int status = cl.EnqueueWriteBuffer(pool_.queue_, memory_.native, CL_FALSE, 0, sizeof last_set_, &last_set_,
                                                first != nullptr ? 1 : 0, first != nullptr ? &first : nullptr, nullptr);
    cl.Flush(pool_.queue_);
    return status;
  }
  [[nodiscard]] std::uint32_t get() const override {
    std::uint32_t value = 0;
    pool_.native_.cl.EnqueueReadBuffer(pool_.queue_, memory_.native, CL_TRUE, 0, sizeof value, &value, 0, nullptr,
                                       nullptr);
    return value;
  }
  [[nodiscard]] Block& block() { return block_; }

 private:
  OpenClDeviceWords& pool_;
  Block& block_;
  OpenClMemory memory_;
  std::uint32_t last_set_ = 0;  // outlives the command that writes it
};

struct OpenClDeviceWords::Block {
  explicit Block(const NativeCalls& calls) : cl(calls) {}
  ~Block() {
    if (ready != nullptr) cl.ReleaseEvent(ready);
    words.clear();
    if (memory != nullptr) cl.ReleaseMemObject(memory);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const NativeCalls& cl;
  Kind kind{};
  cl_mem memory = nullptr;
  cl_event ready = nullptr;  // none: the words have their initial value
  std::vector<std::unique_ptr<Word>> words;
  std::size_t returned = 0;  // words that no launch uses
};

OpenClDeviceWords::OpenClDeviceWords(const Native& native) : native_(native) {
  queue_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  fills_ = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
}

OpenClDeviceWords::~OpenClDeviceWords() {
  blocks_.clear();
  for (cl_command_queue queue : {queue_, fills_}) {
    if (queue != nullptr) native_.cl.ReleaseCommandQueue(queue);
  }
}

std::unique_ptr<OpenClDeviceWords::Block> OpenClDeviceWords::make(Kind kind) {
  auto block = std::make_unique<Block>(native_.cl);
  block->kind = kind;
  const std::size_t stride =
      std::max<std::size_t>(native_.fact<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, kDeviceWordStride);
  block->memory =
      native_.cl.CreateBuffer(native_.context, CL_MEM_READ_WRITE, kWordsPerBlock * stride, nullptr, nullptr);
  if (block->memory == nullptr) return nullptr;
  for (std::size_t i = 0; i < kWordsPerBlock; ++i) {
    const cl_buffer_region part{i * stride, sizeof(std::uint32_t)};
    const cl_mem memory = native_.cl.CreateSubBuffer(block->memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, nullptr);
    if (memory == nullptr) break;
    block->words.push_back(std::make_unique<Word>(*this, *block, memory));
  }
  return block;
}

void OpenClDeviceWords::make_ready(Block& block) {
  block.returned = block.words.size();
  for (const auto& word : block.words) free_[static_cast<int>(block.kind)].push_back(word.get());
  const std::uint32_t value = block.kind == Kind::queue ? 0 : ~std::uint32_t{0};
  if (block.ready != nullptr) native_.cl.ReleaseEvent(block.ready);
  block.ready = nullptr;
  std::size_t bytes = 0;
  native_.cl.GetMemObjectInfo(block.memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  // Writes of the words' last values may still be on their way, on the other queue.
  cl_event set = nullptr;
  native_.cl.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &set);
  native_.cl.Flush(queue_);
  native_.cl.EnqueueFillBuffer(fills_, block.memory, &value, sizeof value, 0, bytes, set != nullptr ? 1 : 0,
                               set != nullptr ? &set : nullptr, &block.ready);
  native_.cl.Flush(fills_);
  if (set != nullptr) native_.cl.ReleaseEvent(set);
}

cl_event OpenClDeviceWords::pending(Block& block) const {
  if (block.ready == nullptr) return nullptr;
  cl_int state = CL_QUEUED;
  native_.cl.GetEventInfo(block.ready, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  if (state != CL_COMPLETE) return block.ready;
  native_.cl.ReleaseEvent(block.ready);
  return block.ready = nullptr;
}

void OpenClDeviceWords::give_back(Word& word) {
  const std::lock_guard lock(mutex_);
  Block& block = word.block();
  if (++block.returned == block.words.size()) make_ready(block);
}

std::shared_ptr<ControlWord> OpenClDeviceWords::take(Kind kind) {
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
  --word->block().returned;
  return {word, [this](Word* back) { give_back(*back); }};
}

}  // namespace wm::runtime
