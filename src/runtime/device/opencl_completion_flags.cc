#include "runtime/device/opencl_completion_flags.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace wm::runtime {
namespace {

constexpr std::size_t kPlaces = 1024, kFlagStride = 64, kPageBytes = kPlaces * kFlagStride;
constexpr std::uint32_t kNumbers = 1 << 15;

std::uint32_t& word(void* page, std::uint32_t place) {
  return *reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(page) + place * kFlagStride);
}

}  // namespace

OpenClCompletionFlags::OpenClCompletionFlags(const Native& native) : native_(native) {
  const NativeCalls& cl = native.cl;
  std::vector<std::uint32_t> numbers(kNumbers);
  std::iota(numbers.begin(), numbers.end(), 0U);
  page_ = std::aligned_alloc(4096, kPageBytes);
  queue_ = cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  if (page_ == nullptr || queue_ == nullptr) return;
  std::memset(page_, 0, kPageBytes);
  numbers_ = cl.CreateBuffer(native.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                             numbers.size() * sizeof numbers[0], numbers.data(), nullptr);
  host_ = cl.CreateBuffer(native.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, kPageBytes, page_, nullptr);
  if (numbers_ == nullptr || host_ == nullptr) return;
  cl_int status = CL_SUCCESS;
  // The buffer stays mapped, as pinned staging memory does, so that its contents are the host's.
  const void* at = cl.EnqueueMapBuffer(queue_, host_, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, kPageBytes, 0,
                                       nullptr, nullptr, &status);
  if (at != page_) return;
  uses_.assign(kPlaces, 0);
  for (std::uint32_t i = 0; i < kPlaces; ++i) free_.push_back(i);
}

OpenClCompletionFlags::~OpenClCompletionFlags() {
  if (numbers_ != nullptr) native_.cl.ReleaseMemObject(numbers_);
  if (host_ != nullptr) native_.cl.ReleaseMemObject(host_);
  if (queue_ != nullptr) native_.cl.ReleaseCommandQueue(queue_);
  std::free(page_);
}

std::optional<std::uint32_t> OpenClCompletionFlags::free_place() {
  // A place is free when its last copy has been made: a late copy would overwrite the next flag there.
  while (!unset_.empty() && is_set(unset_.front())) {
    free_.push_back(unset_.front().place);
    unset_.pop_front();
  }
  if (free_.empty()) return std::nullopt;
  const std::uint32_t place = free_.front();
  free_.pop_front();
  return place;
}

std::optional<CompletionFlags::Flag> OpenClCompletionFlags::enqueue(const QueueObject& queue, EventHandle event) {
  const auto place = free_place();
  if (!place) return std::nullopt;
  const cl_event after = runtime::native(event);
  const Flag flag{*place, 1 + uses_[*place]++ % (kNumbers - 1)};
  const cl_int status = native_.cl.EnqueueReadBuffer(
      runtime::native(queue), numbers_, CL_FALSE, flag.number * sizeof(std::uint32_t), sizeof(std::uint32_t),
      &word(page_, flag.place), after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, nullptr);
  if (status == CL_SUCCESS) return flag;
  free_.push_back(*place);
  return std::nullopt;
}

bool OpenClCompletionFlags::is_set(const Flag& flag) const {
  return std::atomic_ref(word(page_, flag.place)).load(std::memory_order_acquire) == flag.number;
}

void OpenClCompletionFlags::release(const Flag& flag) {
  if (is_set(flag)) {
    free_.push_back(flag.place);
  } else {
    unset_.push_back(flag);
  }
}

}  // namespace wm::runtime
