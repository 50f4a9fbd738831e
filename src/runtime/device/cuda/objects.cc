#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {
namespace {

constexpr unsigned kNonBlocking = 1, kDisableTiming = 2;

}  // namespace

CudaQueue::~CudaQueue() {
  device.make_current();
  for (const Level& level : levels_) device.cuda.destroy_stream(level.stream);
  if (switched_ != nullptr) device.cuda.destroy_event(switched_);
}

Stream CudaQueue::current() const { return levels_.empty() ? stream_for(0) : levels_[current_].stream; }

Stream CudaQueue::stream_for(int priority) const {
  const DeviceFacts& facts = device.facts();
  // Clients have larger numbers for more important work; streams have smaller ones.
  const int level = std::clamp(-priority, facts.greatest_priority, facts.least_priority);
  if (!levels_.empty() && levels_[current_].priority == level) return levels_[current_].stream;
  std::size_t found = 0;
  while (found < levels_.size() && levels_[found].priority != level) ++found;
  if (found == levels_.size()) {
    Stream made = nullptr;
    if (device.cuda.create_stream(&made, kNonBlocking, level) != kSuccess) return nullptr;
    levels_.push_back({level, made});
  }
  if (found != current_) {
    if (switched_ == nullptr) device.cuda.create_event(&switched_, kDisableTiming);
    device.cuda.record_event(switched_, levels_[current_].stream);
    device.cuda.wait_event(levels_[found].stream, switched_, 0);
  }
  current_ = found;
  return levels_[found].stream;
}

}  // namespace wm::runtime::cuda
