#include "runtime/device/cuda/control_words.h"

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kStride = 128;  // a cache line of its own
constexpr std::size_t kWords = 64;    // allocated together

}  // namespace

class CudaControlWords::Word final : public ControlWord {
 public:
  Word(CudaControlWords& pool, Address address)
      : pool_(pool), memory_(pool.device_, address, sizeof(std::uint32_t), CudaMemory::Owner::other) {}

  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  // The initial value was there before the word was taken.
  [[nodiscard]] EventHandle ready_event() override { return nullptr; }
  Status set(std::uint32_t value) override {
    pool_.device_.make_current();
    return status_of(pool_.device_.cuda.write_value(pool_.stream_, memory_.address, value, 0));
  }
  [[nodiscard]] std::uint32_t get() const override {
    pool_.device_.make_current();
    std::uint32_t value = 0;
    pool_.device_.cuda.copy_to_host(&value, memory_.address, sizeof value, pool_.stream_);
    pool_.device_.cuda.synchronize_stream(pool_.stream_);
    return value;
  }

 private:
  CudaControlWords& pool_;
  CudaMemory memory_;
};

CudaControlWords::CudaControlWords(Device& device) : device_(device) {
  device_.make_current();
  device_.cuda.create_stream(&stream_, 1, device_.facts().greatest_priority);
}

CudaControlWords::~CudaControlWords() {
  device_.make_current();
  if (stream_ != nullptr) device_.cuda.synchronize_stream(stream_);
  words_.clear();
  for (const Address block : blocks_) device_.free_words(block);
  if (stream_ != nullptr) device_.cuda.destroy_stream(stream_);
}

bool CudaControlWords::add_block() {
  Address address = 0;
  if (stream_ == nullptr || device_.allocate_words(address, kWords * kStride) != kSuccess) return false;
  blocks_.push_back(address);
  for (std::size_t i = 0; i < kWords; ++i) {
    words_.push_back(std::make_unique<Word>(*this, address + i * kStride));
    free_.push_back(words_.back().get());
  }
  return true;
}

void CudaControlWords::give_back(Word& word) {
  const std::lock_guard lock(mutex_);
  free_.push_back(&word);
}

// The write of the initial value is complete before a launch can use the word: it takes a few microseconds on a stream
// that has nothing else to do.
std::shared_ptr<ControlWord> CudaControlWords::take(Kind kind) {
  Word* word = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty() && !add_block()) return nullptr;
    word = free_.back();
    free_.pop_back();
  }
  const std::uint32_t initial = kind == Kind::queue ? 0 : ~std::uint32_t{0};
  if (word->set(initial) != status::kSuccess || device_.cuda.synchronize_stream(stream_) != kSuccess) {
    give_back(*word);
    return nullptr;
  }
  return {word, [this](Word* back) { give_back(*back); }};
}

}  // namespace wm::runtime::cuda
