#include "runtime/device/opencl_host_words.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace wm::runtime {
namespace {

constexpr std::size_t kHostWordBytes = 128;  // a cache line of its own

}  // namespace

// Each word has a buffer of its own, since not every device has sub-buffers of host memory.
class OpenClHostWords::Word final : public ControlWord {
 public:
  using Page = std::unique_ptr<void, decltype(&std::free)>;
  Word(Page page, cl_mem memory, const NativeCalls& cl)
      : page_(std::move(page)),
        value_(new (page_.get()) std::atomic<std::uint32_t>(0)),
        memory_(memory, cl.ReleaseMemObject, nullptr, static_cast<std::byte*>(page_.get())) {}

  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  [[nodiscard]] EventHandle ready_event() override { return nullptr; }
  Status set(std::uint32_t value) override {
    value_->store(value, std::memory_order_seq_cst);
    return status::kSuccess;
  }
  [[nodiscard]] std::uint32_t get() const override { return value_->load(std::memory_order_seq_cst); }

 private:
  Page page_;
  std::atomic<std::uint32_t>* value_;
  OpenClMemory memory_;
};

OpenClHostWords::OpenClHostWords(const Native& native) : native_(native) {}

OpenClHostWords::~OpenClHostWords() = default;

std::unique_ptr<OpenClHostWords::Word> OpenClHostWords::make() const {
  Word::Page page(std::aligned_alloc(kHostWordBytes, kHostWordBytes), &std::free);
  if (!page) return nullptr;
  const cl_mem memory =
      native_.cl.CreateBuffer(native_.context, CL_MEM_USE_HOST_PTR, kHostWordBytes, page.get(), nullptr);
  if (memory == nullptr) return nullptr;
  return std::make_unique<Word>(std::move(page), memory, native_.cl);
}

std::shared_ptr<ControlWord> OpenClHostWords::take(Kind kind) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    auto word = make();
    if (!word) return nullptr;
    free_.push_back(word.get());
    words_.push_back(std::move(word));
  }
  Word* word = free_.front();
  free_.pop_front();
  word->set(kind == Kind::queue ? 0 : ~std::uint32_t{0});
  return {word, [this](Word* back) {
            const std::lock_guard back_lock(mutex_);
            free_.push_back(back);
          }};
}

}  // namespace wm::runtime
