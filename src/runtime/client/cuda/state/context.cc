#include "runtime/client/cuda/state/context.h"

#include <algorithm>
#include <map>

#include "runtime/client/cuda/interface/default_stream.h"
#include "runtime/client/cuda/interface/lasting_thread_object.h"
#include "runtime/client/cuda/state/capture.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {

namespace {

constexpr std::size_t kMegabyte = 1U << 20;

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
  legacy_->is_legacy = true;
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

void Context::forget(Stream& stream) {
  Captures::instance().forget(stream);
  const std::lock_guard lock(order_);
  std::erase_if(orphaned_, [&](const auto& ticket) { return device_.queue().is_done(ticket); });
  // Work that is still waiting holds up the legacy stream as before, or not.
  auto& keeper = (stream.flags & CU_STREAM_NON_BLOCKING) != 0 ? orphaned_ : legacy_->last;
  for (const auto& ticket : stream.last) {
    if (!device_.queue().is_done(ticket)) keeper.push_back(ticket);
  }
  std::erase_if(streams_, [&](const auto& s) { return s.get() == &stream; });
}

std::shared_ptr<Stream> Context::stream(CUstream handle) {
  if (handle == nullptr) handle = PerThreadDefaultStream::is_active() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) return legacy_;
  if (handle != CU_STREAM_PER_THREAD) return device_.streams.find(handle);
  using StreamsByContext = std::map<std::uint64_t, std::shared_ptr<Stream>>;
  auto& stream = LastingThreadObject<StreamsByContext, struct ThreadStreamsTag>::get()[id_];
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

runtime::WorkTicket Context::enqueue(Stream& stream, const Operation& operation) {
  if (Captures::instance().append(stream, operation) != nullptr) return nullptr;
  const std::lock_guard lock(order_);
  std::vector<runtime::WorkTicket> after;
  collect_dependencies(stream, after);
  auto ticket = submit(after, operation);
  stream.last = {ticket};
  return ticket;
}

void Context::enqueue_graph(Stream& stream, std::vector<GraphOperation> operations) {
  // Every piece of work keeps all of them, and with them the memory that the graph has: it may be destroyed meanwhile.
  const auto kept = std::make_shared<const std::vector<GraphOperation>>(std::move(operations));
  const std::lock_guard lock(order_);
  std::vector<runtime::WorkTicket> before, tickets;
  collect_dependencies(stream, before);
  for (const GraphOperation& step : *kept) {
    std::vector<runtime::WorkTicket> after = before;
    for (const std::size_t i : step.dependencies) after.push_back(tickets[i]);
    tickets.push_back(submit_node(after, step.operation, kept));
  }
  if (!tickets.empty()) stream.last = std::move(tickets);
}

runtime::WorkTicket Context::submit_node(std::vector<runtime::WorkTicket> after, const Operation& node,
                                         const std::shared_ptr<const std::vector<GraphOperation>>& kept) {
  const auto* event = node.parameters == nullptr ? nullptr : std::get_if<EventNode>(&node.parameters->value);
  if (event != nullptr && node.type == NodeType::wait_event) {
    const auto state = event->event->state();
    if (state.ticket != nullptr) after.push_back(state.ticket);
  }
  Operation work{node.kind, node.run, node.ready};
  if (node.run) work.run = [kept, run = node.run] { return run(); };
  if (event == nullptr || node.type != NodeType::record_event) return submit(after, work);
  auto record = std::make_shared<EventRecord>();
  work.run = [&device = device_, record] {
    record->nanoseconds = device.now();
    return CUDA_SUCCESS;
  };
  auto ticket = submit(after, work);
  event->event->set({.recorded = true, .ticket = ticket, .record = std::move(record)});
  return ticket;
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
  if (const CUresult allowed = Captures::instance().check_wait(stream); allowed != CUDA_SUCCESS) return allowed;
  return wait(stream);
}

CUresult Context::wait(Stream& stream) { return wait_for(position(stream)); }

bool Context::is_capturing(const Stream& stream) { return Captures::instance().position(stream).capture != nullptr; }

CUresult Context::synchronize() {
  if (const CUresult allowed = Captures::instance().check_wait(*this); allowed != CUDA_SUCCESS) return allowed;
  return drain();
}

CUresult Context::drain() {
  std::vector<runtime::WorkTicket> tickets;
  {
    const std::lock_guard lock(order_);
    tickets = legacy_->last;
    tickets.insert(tickets.end(), orphaned_.begin(), orphaned_.end());
    for (const auto& stream : streams_) tickets.insert(tickets.end(), stream->last.begin(), stream->last.end());
  }
  return wait_for(tickets);
}

bool Context::is_idle(Stream& stream) {
  const auto tickets = position(stream);
  return std::all_of(tickets.begin(), tickets.end(), [&](const auto& t) { return device_.queue().is_done(t); });
}

}  // namespace wm::cuda
