#include "runtime/client/cuda/state/context.h"

#include <algorithm>
#include <map>

#include "runtime/client/cuda/interface/default_stream.h"
#include "runtime/client/cuda/state/driver.h"

namespace wm::cuda {

namespace {

constexpr std::size_t kMegabyte = 1U << 20;

}  // namespace

Context::Context(Driver& driver, unsigned flags, bool is_primary, std::uint64_t id)
    : flags(flags), driver_(driver), is_primary_(is_primary), id_(id) {
  limits[0] = 1024;           // stack of a thread
  limits[1] = kMegabyte;      // printf
  limits[2] = 8 * kMegabyte;  // malloc in kernels
  limits[3] = 2;              // depth of synchronisation in kernels
  limits[4] = 2048;           // launches of kernels that wait
  limits[5] = 128;            // bytes that L2 fetches at most
  legacy_ = std::make_shared<Stream>(*this, 0, 0, driver.next_id());
}

void Context::fail(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  error_.compare_exchange_strong(none, error);
}

std::shared_ptr<Stream> Context::make_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(*this, flags, priority, driver_.next_id());
  const std::lock_guard lock(order_);
  streams_.push_back(stream);
  return stream;
}

void Context::forget(const Stream& stream) {
  const std::lock_guard lock(order_);
  // Work that is still waiting must hold up the legacy stream as before.
  for (const auto& ticket : stream.last) {
    if (!driver_.queue().is_done(ticket)) legacy_->last.push_back(ticket);
  }
  std::erase_if(streams_, [&](const auto& s) { return s.get() == &stream; });
}

std::shared_ptr<Stream> Context::stream(CUstream handle) {
  if (handle == nullptr) handle = PerThreadDefaultStream::is_active() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) return legacy_;
  if (handle != CU_STREAM_PER_THREAD) return driver_.streams.find(handle);
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

runtime::WorkTicket Context::enqueue(Stream& stream, Operation operation) {
  const std::lock_guard lock(order_);
  std::vector<runtime::WorkTicket> after;
  collect_dependencies(stream, after);
  auto work = [self = shared_from_this(), run = std::move(operation.run)] {
    if (self->error() != CUDA_SUCCESS) return;  // after a fault nothing more runs
    if (const CUresult result = run(); result != CUDA_SUCCESS) self->fail(result);
  };
  auto ready = std::move(operation.ready);
  if (ready) {
    ready = [self = shared_from_this(), inner = std::move(ready)] { return self->error() != CUDA_SUCCESS || inner(); };
  }
  auto ticket = driver_.queue().submit(after, std::move(work), {operation.kind, std::move(ready)});
  stream.last = {ticket};
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
  for (const auto& ticket : tickets) driver_.queue().wait(ticket);
  driver_.flush_output();
  return error();
}

CUresult Context::synchronize(Stream& stream) { return wait_for(position(stream)); }

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
  return std::all_of(tickets.begin(), tickets.end(), [&](const auto& t) { return driver_.queue().is_done(t); });
}

}  // namespace wm::cuda
