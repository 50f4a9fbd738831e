#include "runtime/client/cuda/state/context.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/client/cuda/interface/default_stream.h"
#include "runtime/client/cuda/state/graph.h"

namespace wm::cuda {

namespace {

constexpr std::size_t kMegabyte = 1U << 20;

// Whether one of `ends` is the node or follows it.
bool leads_to(const Graph& graph, const GraphNode& node, const std::vector<GraphNode*>& ends) {
  std::set<const GraphNode*> reached{&node};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& n : graph.nodes()) {
      const auto& after = n->dependencies;
      if (std::any_of(after.begin(), after.end(), [&](const GraphNode* d) { return reached.contains(d); }))
        reached.insert(n.get());
    }
  }
  return std::any_of(ends.begin(), ends.end(), [&](const GraphNode* n) { return reached.contains(n); });
}

}  // namespace

Context::Context(Device& device, unsigned flags, bool is_primary, std::uint64_t id)
    : flags(flags), device_(device), is_primary_(is_primary), id_(id) {
  limits[0] = 1024;           // stack of a thread
  limits[1] = kMegabyte;      // printf
  limits[2] = 8 * kMegabyte;  // malloc in kernels
  limits[3] = 2;              // depth of synchronisation in kernels
  limits[4] = 2048;           // launches of kernels that wait
  limits[5] = 128;            // bytes that L2 fetches at most
  legacy_ = std::make_shared<Stream>(*this, 0, 0, device.next_id());
}

void Context::fail(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  error_.compare_exchange_strong(none, error);
}

std::shared_ptr<Stream> Context::make_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(*this, flags, priority, device_.next_id());
  const std::lock_guard lock(order_);
  streams_.push_back(stream);
  return stream;
}

void Context::forget(const Stream& stream) {
  const std::lock_guard lock(order_);
  // Work that is still waiting must hold up the legacy stream as before.
  for (const auto& ticket : stream.last) {
    if (!device_.queue().is_done(ticket)) legacy_->last.push_back(ticket);
  }
  std::erase_if(streams_, [&](const auto& s) { return s.get() == &stream; });
}

std::shared_ptr<Stream> Context::stream(CUstream handle) {
  if (handle == nullptr) handle = PerThreadDefaultStream::is_active() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) return legacy_;
  if (handle != CU_STREAM_PER_THREAD) return device_.streams.find(handle);
  thread_local std::map<std::uint64_t, std::shared_ptr<Stream>> own;  // by context
  auto& stream = own[id_];
  if (stream == nullptr) stream = make_stream(0, 0);
  return stream;
}

void Context::collect_dependencies(Stream& stream, std::vector<runtime::WorkTicket>& after) {
  after = stream.last;
  if ((stream.flags & CU_STREAM_NON_BLOCKING) != 0) return;
  if (&stream != legacy_.get()) {
    after.insert(after.end(), legacy_->last.begin(), legacy_->last.end());
    return;
  }
  for (const auto& other : streams_) {
    if ((other->flags & CU_STREAM_NON_BLOCKING) == 0) {
      after.insert(after.end(), other->last.begin(), other->last.end());
    }
  }
}

runtime::WorkTicket Context::submit(const std::vector<runtime::WorkTicket>& after, const Operation& operation) {
  auto work = [self = shared_from_this(), run = operation.run] {
    if (self->error() != CUDA_SUCCESS || !run) return;  // after a fault nothing more runs
    if (const CUresult result = run(); result != CUDA_SUCCESS) self->fail(result);
  };
  auto ready = operation.ready;
  if (ready) {
    ready = [self = shared_from_this(), inner = operation.ready] { return self->error() != CUDA_SUCCESS || inner(); };
  }
  return device_.queue().submit(after, std::move(work), {operation.kind, std::move(ready)});
}

runtime::WorkTicket Context::enqueue(Stream& stream, Operation operation) {
  const std::lock_guard lock(order_);
  if (stream.capture != nullptr) {
    stream.captured = {stream.capture->graph->add(operation.type, std::move(operation), stream.captured)};
    return nullptr;
  }
  std::vector<runtime::WorkTicket> after;
  collect_dependencies(stream, after);
  auto ticket = submit(after, operation);
  stream.last = {ticket};
  return ticket;
}

void Context::enqueue_graph(Stream& stream, const std::vector<GraphOperation>& operations) {
  const std::lock_guard lock(order_);
  std::vector<runtime::WorkTicket> before, tickets;
  collect_dependencies(stream, before);
  for (const GraphOperation& step : operations) {
    std::vector<runtime::WorkTicket> after = before;
    for (const std::size_t i : step.dependencies) after.push_back(tickets[i]);
    tickets.push_back(submit(after, step.operation));
  }
  if (!tickets.empty()) stream.last = std::move(tickets);
}

void Context::add_dependency(Stream& stream, const runtime::WorkTicket& ticket) {
  const std::lock_guard lock(order_);
  stream.last.push_back(ticket);
}

std::vector<runtime::WorkTicket> Context::position(Stream& stream) {
  const std::lock_guard lock(order_);
  std::vector<runtime::WorkTicket> after;
  collect_dependencies(stream, after);
  return after;
}

CUresult Context::wait_for(const std::vector<runtime::WorkTicket>& tickets) {
  for (const auto& ticket : tickets) device_.queue().wait(ticket);
  device_.flush_output();
  return error();
}

CUresult Context::synchronize(Stream& stream) {
  if (is_capturing(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return wait_for(position(stream));
}

bool Context::is_capturing(const Stream& stream) {
  const std::lock_guard lock(order_);
  return stream.capture != nullptr;
}

CUresult Context::begin_capture(Stream& stream) {
  const std::lock_guard lock(order_);
  if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (&stream == legacy_.get()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->id = device_.next_id();
  stream.captured.clear();
  return CUDA_SUCCESS;
}

CUresult Context::end_capture(Stream& stream, std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(order_);
  const auto capture = stream.capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  graph = capture->graph;
  // Every operation of the streams that took part must lead to the stream that began the capture.
  const std::vector<GraphNode*> ends = stream.captured;
  bool is_joined = true;
  for (const auto& other : streams_) {
    if (other->capture != capture) continue;
    for (const GraphNode* last : other->captured) is_joined = is_joined && leads_to(*graph, *last, ends);
    other->capture = nullptr;
    other->captured.clear();
  }
  return is_joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

std::shared_ptr<Capture> Context::capture_of(const Stream& stream, std::vector<GraphNode*>& last) {
  const std::lock_guard lock(order_);
  last = stream.captured;
  return stream.capture;
}

CUresult Context::join_capture(Stream& stream, const std::shared_ptr<Capture>& capture,
                               const std::vector<GraphNode*>& nodes) {
  const std::lock_guard lock(order_);
  if (stream.capture != nullptr && stream.capture != capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  stream.capture = capture;
  stream.captured.insert(stream.captured.end(), nodes.begin(), nodes.end());
  return CUDA_SUCCESS;
}

CUresult Context::synchronize() {
  std::vector<runtime::WorkTicket> tickets;
  {
    const std::lock_guard lock(order_);
    tickets = legacy_->last;
    for (const auto& stream : streams_) tickets.insert(tickets.end(), stream->last.begin(), stream->last.end());
  }
  return wait_for(tickets);
}

bool Context::is_idle(Stream& stream) {
  const auto tickets = position(stream);
  return std::all_of(tickets.begin(), tickets.end(), [&](const auto& t) { return device_.queue().is_done(t); });
}

}  // namespace wm::cuda
