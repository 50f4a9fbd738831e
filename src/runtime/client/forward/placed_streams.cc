#include "runtime/client/forward/placed_streams.h"

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

bool is_own_of_thread(CUstream stream) { return stream == CU_STREAM_PER_THREAD; }

// Streams of other contexts, and of green contexts of the program's own, stay where they are.
bool is_of_current_context(CUstream stream) {
  const RealFunctions& f = real();
  CUcontext own = nullptr, current = nullptr;
  CUgreenCtx green = nullptr;
  if (f.cuStreamGetCtx == nullptr || f.cuStreamGetCtx(stream, &own) != CUDA_SUCCESS ||
      f.cuCtxGetCurrent(&current) != CUDA_SUCCESS || own != current)
    return false;
  if (f.cuStreamGetGreenCtx == nullptr || stream == nullptr || stream == CU_STREAM_LEGACY) return true;
  return f.cuStreamGetGreenCtx(stream, &green) == CUDA_SUCCESS && green == nullptr;
}

bool can_order() {
  const RealFunctions& f = real();
  return f.cuEventCreate != nullptr && f.cuEventRecord != nullptr && f.cuStreamWaitEvent != nullptr;
}

}  // namespace

PlacedStreams& PlacedStreams::get() {
  static auto* only = new PlacedStreams;
  return *only;
}

void PlacedStreams::forget_old() {
  const std::uint64_t generation = GreenContexts::get().generation();
  if (generation == generation_) return;
  generation_ = generation;
  streams_.clear();
  events_.clear();
  refused_.clear();
}

CUstream PlacedStreams::placed(CUstream stream, GreenContexts::Set set) {
  const Key key{stream, is_own_of_thread(stream) ? std::this_thread::get_id() : std::thread::id(), set.groups};
  const auto at = streams_.find(key);
  if (at != streams_.end()) return at->second;
  const AllowedInCaptures allowed;
  CUstream made = nullptr;
  int priority = 0;
  if (is_of_current_context(stream)) {
    if (const auto ask = real().cuStreamGetPriority) (void)ask(stream, &priority);
    if (real().cuGreenCtxStreamCreate(&made, set.context, CU_STREAM_NON_BLOCKING, priority) != CUDA_SUCCESS)
      made = nullptr;
  }
  return streams_[key] = made;
}

bool PlacedStreams::take_events(Place& place) {
  if (!events_.empty()) {
    std::tie(place.before, place.after) = events_.back();
    events_.pop_back();
    return true;
  }
  const auto create = real().cuEventCreate;
  return create(&place.before, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
         create(&place.after, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
}

std::optional<PlacedStreams::Place> PlacedStreams::begin(CUfunction function, CUstream stream, GreenContexts::Set set) {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    forget_old();
    if (set.context == nullptr || !can_order() || refused_.contains(function)) return std::nullopt;
    place = {stream, placed(stream, set), nullptr, nullptr, generation_};
    if (place.placed == nullptr || !take_events(place)) return std::nullopt;
  }
  if (real().cuEventRecord(place.before, stream) == CUDA_SUCCESS &&
      real().cuStreamWaitEvent(place.placed, place.before, 0) == CUDA_SUCCESS)
    return place;
  end(place);
  return std::nullopt;
}

CUresult PlacedStreams::follow(const Place& place) {
  const RealFunctions& f = real();
  if (f.cuEventRecord(place.after, place.placed) == CUDA_SUCCESS &&
      f.cuStreamWaitEvent(place.own, place.after, 0) == CUDA_SUCCESS)
    return CUDA_SUCCESS;
  return f.cuStreamSynchronize(place.placed);  // the order holds even so
}

void PlacedStreams::end(const Place& place) {
  const std::lock_guard lock(mutex_);
  if (place.generation == generation_) events_.emplace_back(place.before, place.after);
}

void PlacedStreams::refused(CUfunction function) {
  const std::lock_guard lock(mutex_);
  refused_.insert(function);
}

void PlacedStreams::destroyed(CUstream stream) {
  std::vector<CUstream> ended;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t generation = GreenContexts::get().generation();
    for (auto at = streams_.begin(); at != streams_.end();) {
      const auto entry = at++;
      if (std::get<0>(entry->first) != stream) continue;
      if (entry->second != nullptr && generation == generation_) ended.push_back(entry->second);
      streams_.erase(entry);
    }
  }
  // The driver ends a stream when its work is done.
  for (const CUstream placed : ended) (void)real().cuStreamDestroy_v2(placed);
}

}  // namespace wm::forward
