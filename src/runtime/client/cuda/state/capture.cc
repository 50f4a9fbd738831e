#include "runtime/client/cuda/state/capture.h"

#include <algorithm>
#include <set>
#include <utility>

namespace wm::cuda {
namespace {

// The nodes that lead to `ends`, these included.
std::set<const GraphNode*> ancestors(const std::vector<GraphNode*>& ends) {
  std::set<const GraphNode*> found;
  std::vector<const GraphNode*> open(ends.begin(), ends.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return found;
}

bool takes_part(const Capture& capture, const Context& context) {
  return std::any_of(capture.streams.begin(), capture.streams.end(),
                     [&](const Stream* s) { return &s->context == &context; });
}

// The legacy stream of the context would wait for a stream of the capture.
bool holds_up_legacy(const Capture& capture, const Context& context) {
  return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const Stream* s) {
    return &s->context == &context && (s->flags & CU_STREAM_NON_BLOCKING) == 0;
  });
}

int& mode_of_thread() {
  thread_local int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

void leave(Capture& capture) {
  capture.is_ended = true;
  capture.graph->is_capture_target = false;
  for (Stream* stream : capture.streams) {
    stream->capture = nullptr;
    stream->captured.clear();
  }
  capture.streams.clear();
}

}  // namespace

Captures& Captures::instance() {
  static auto* captures = new Captures();  // used until the process ends
  return *captures;
}

CUresult Captures::begin(Stream& stream, std::shared_ptr<Graph> graph, std::vector<GraphNode*> after, int mode,
                         std::uint64_t id) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex_);
  if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream.is_legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (graph->is_capture_target) return CUDA_ERROR_INVALID_VALUE;
  auto capture = std::make_shared<Capture>();
  capture->graph = std::move(graph);
  capture->graph->is_capture_target = true;
  capture->id = id;
  capture->mode = mode;
  capture->streams = {&stream};
  stream.capture = capture;
  stream.captured = std::move(after);
  captures_.push_back(std::move(capture));
  active_ = captures_.size();
  return CUDA_SUCCESS;
}

CUresult Captures::end(Stream& stream, std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(mutex_);
  const auto capture = stream.capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->streams.front() != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  // Every operation of the streams that took part must lead to the stream that began the capture.
  const auto joined = ancestors(stream.captured);
  const auto is_joined = [&](const GraphNode* node) { return joined.contains(node); };
  bool all_joined = std::all_of(capture->left.begin(), capture->left.end(), is_joined);
  for (const Stream* other : capture->streams)
    all_joined = all_joined && std::all_of(other->captured.begin(), other->captured.end(), is_joined);
  leave(*capture);
  std::erase(captures_, capture);
  active_ = captures_.size();
  if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!all_joined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  graph = capture->graph;
  return CUDA_SUCCESS;
}

CUresult Captures::join(Stream& stream, const CapturePosition& event) {
  const std::lock_guard lock(mutex_);
  Capture& capture = *event.capture;
  if (capture.is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (capture.is_ended) return CUDA_ERROR_CAPTURED_EVENT;
  if (stream.capture != nullptr && stream.capture != event.capture) {
    capture.is_invalid = stream.capture->is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream.is_legacy) {
    capture.is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (stream.capture == nullptr) {
    stream.capture = event.capture;
    capture.streams.push_back(&stream);
  }
  for (GraphNode* node : event.last) {
    if (std::find(stream.captured.begin(), stream.captured.end(), node) == stream.captured.end())
      stream.captured.push_back(node);
  }
  return CUDA_SUCCESS;
}

GraphNode* Captures::append(Stream& stream, const Operation& operation) {
  if (active_ == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (stream.capture == nullptr) return nullptr;
  GraphNode* node = stream.capture->graph->add(operation, stream.captured);
  stream.captured = {node};
  return node;
}

CapturePosition Captures::position(const Stream& stream) {
  if (active_ == 0) return {};
  const std::lock_guard lock(mutex_);
  return {stream.capture, stream.captured};
}

CUresult Captures::move(Stream& stream, const std::vector<GraphNode*>& nodes, bool adds) {
  const std::lock_guard lock(mutex_);
  if (stream.capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream.capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const Graph& graph = *stream.capture->graph;
  if (!std::all_of(nodes.begin(), nodes.end(), [&](const GraphNode* n) { return graph.holds(n); }))
    return CUDA_ERROR_INVALID_VALUE;
  if (!adds) stream.captured.clear();
  for (GraphNode* node : nodes) {
    if (std::find(stream.captured.begin(), stream.captured.end(), node) == stream.captured.end())
      stream.captured.push_back(node);
  }
  return CUDA_SUCCESS;
}

void Captures::forget(Stream& stream) {
  if (active_ == 0) return;
  const std::lock_guard lock(mutex_);
  const auto capture = stream.capture;
  if (capture == nullptr) return;
  if (capture->streams.front() == &stream) {  // nothing can end it any more
    capture->is_invalid = true;
    leave(*capture);
    std::erase(captures_, capture);
    active_ = captures_.size();
    return;
  }
  capture->left.insert(capture->left.end(), stream.captured.begin(), stream.captured.end());
  std::erase(capture->streams, &stream);
  stream.capture = nullptr;
}

void Captures::forget(const Context& context) {
  if (active_ == 0) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(captures_, [&](const auto& capture) {
    if (!takes_part(*capture, context)) return false;
    capture->is_invalid = true;
    leave(*capture);
    return true;
  });
  active_ = captures_.size();
}

template <typename Which>
bool Captures::invalidate_if(Which&& which) {
  if (active_ == 0) return false;
  const std::lock_guard lock(mutex_);
  bool found = false;
  for (const auto& capture : captures_) {
    if (!which(*capture)) continue;
    capture->is_invalid = true;
    found = true;
  }
  return found;
}

CUresult Captures::check_work(const Stream& stream) {
  if (active_ == 0) return CUDA_SUCCESS;
  if (const auto at = position(stream); at.capture != nullptr)
    return at.capture->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  if (!stream.is_legacy) return CUDA_SUCCESS;
  return invalidate_if([&](const Capture& c) { return holds_up_legacy(c, stream.context); })
             ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
             : CUDA_SUCCESS;
}

CUresult Captures::check_wait(const Stream& stream) {
  if (active_ == 0) return CUDA_SUCCESS;
  if (const auto at = position(stream); at.capture != nullptr) {
    if (at.capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    invalidate(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const CUresult allowed = check_work(stream);
  return allowed != CUDA_SUCCESS ? allowed : check_unsafe_call();
}

CUresult Captures::check_wait(const Context& context) {
  if (invalidate_if([&](const Capture& c) { return takes_part(c, context); }))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return check_unsafe_call();
}

CUresult Captures::check_unsafe_call() {
  const int mode = mode_of_thread();
  if (active_ == 0 || mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const bool is_forbidden = invalidate_if([&](const Capture& c) {
    if (c.thread == std::this_thread::get_id()) return c.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && c.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  });
  return is_forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

bool Captures::blocks_legacy(const Stream& stream) {
  if (active_ == 0 || !stream.is_legacy) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(captures_.begin(), captures_.end(),
                     [&](const auto& c) { return holds_up_legacy(*c, stream.context); });
}

void Captures::invalidate(const Stream& stream) {
  if (active_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (stream.capture != nullptr) stream.capture->is_invalid = true;
}

void Captures::invalidate(Capture& capture) {
  const std::lock_guard lock(mutex_);
  capture.is_invalid = true;
}

int Captures::exchange_mode(int mode) { return std::exchange(mode_of_thread(), mode); }

}  // namespace wm::cuda
