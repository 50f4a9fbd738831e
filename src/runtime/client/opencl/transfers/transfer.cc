#include "runtime/client/opencl/transfers/transfer.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace wm::runtime::client {
namespace {

// Blocking transfers are sent in pieces, so that copying to and from shared memory overlaps with the device's work.
constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kPiecesInFlight = 4;  // few enough to stay in a cache
// Smaller non-blocking transfers go through a chunk: waking the copy thread costs more than the second copy.
constexpr std::size_t kMinCopyThreadBytes = 64 << 10;

cl_int out_of_memory() { return connection().lost() ? kDaemonLost : CL_OUT_OF_HOST_MEMORY; }

// The status of a blocking command, from the final state of its event.
cl_int status_of(std::int32_t state) { return state >= 0 ? CL_SUCCESS : state; }

struct Piece {
  std::size_t offset, size;
  std::byte* host;
};

// Sends one piece. The caller holds a reference to the returned event; kNoEvent: the piece could not be sent.
EventId send(const HostTransfer& transfer, bool to_device, const Piece& piece, const WaitList& wait_list,
             EventId after) {
  using IfFull = Connection::IfFull;
  Chunk chunk = connection().allocate(piece.size, transfer.blocking ? IfFull::wait : IfFull::use_region);
  if (chunk.size == 0) return kNoEvent;
  const EventId event = connection().allocate_event(CL_QUEUED);
  if (event == kNoEvent) {
    connection().free(chunk);
    return kNoEvent;
  }
  chunk.size = piece.size;
  std::byte* shared = connection().address(chunk);
  Writer message =
      begin_command(to_device ? CommandType::write : CommandType::read, transfer.queue, event, wait_list, after);
  message.put(Transfer{transfer.memory->id, piece.offset, chunk});
  if (to_device) {
    process().parallel_copy().copy(shared, piece.host, piece.size);
    connection().on_completion(event, chunk);
  } else {
    connection().on_completion(event, chunk, {piece.host, piece.size},
                               [piece, shared] { process().parallel_copy().copy(piece.host, shared, piece.size); });
  }
  return connection().post(message) ? event : kNoEvent;
}

// Sends a transfer in pieces. All pieces but the last have completed when it returns; the caller holds a reference to
// the event of the last one.
EventId send_in_pieces(const HostTransfer& transfer, bool to_device, Piece all, const WaitList& wait_list) {
  std::deque<EventId> sent;
  bool lost = false;
  for (std::size_t done = 0; done < all.size && !lost; done += kPieceBytes) {
    const Piece piece{all.offset + done, std::min(kPieceBytes, all.size - done), all.host + done};
    if (sent.size() == kPiecesInFlight) {
      lost = connection().wait(sent.front()) == kDaemonLost;
      connection().release_event(sent.front());
      sent.pop_front();
    }
    const EventId event =
        send(transfer, to_device, piece, done == 0 ? wait_list : kNoWaitList, sent.empty() ? kNoEvent : sent.back());
    lost |= event == kNoEvent;
    if (event != kNoEvent) sent.push_back(event);
  }
  while (sent.size() > 1) {
    connection().wait(sent.front());
    connection().release_event(sent.front());
    sent.pop_front();
  }
  return lost || sent.empty() ? kNoEvent : sent.front();
}

// Waits for a blocking transfer, and gives its event to the application if it wants one.
cl_int finish_transfer(const HostTransfer& transfer, EventId event, const WaitList& wait_list) {
  if (event == kNoEvent) return out_of_memory();
  const cl_int status = transfer.blocking ? status_of(connection().wait(event)) : CL_SUCCESS;
  if (wait_list.event != nullptr) {
    *wait_list.event = create_event(transfer.queue, transfer.type, event);
  } else {
    connection().release_event(event);
  }
  return status;
}

// Whether all commands of the queue and of the wait list are known to have completed.
bool is_idle(cl_command_queue queue, const WaitList& wait_list) {
  queue->note_use();
  if (!queue->in_order() || queue->used_by_several_threads.load()) return false;
  if (queue->completed_commands.load() != queue->enqueued_commands.load()) return false;
  for (cl_uint i = 0; i < wait_list.count; ++i) {
    if (connection().state(wait_list.events[i]->id) != CL_COMPLETE) return false;
  }
  return !connection().lost();
}

// Accesses a buffer that is stored in shared memory. The bytes are copied when the command is running, and no later
// command of the queue runs until they are.
cl_int access_shared_buffer(const HostTransfer& transfer, bool to_device, std::byte* bytes, std::size_t size,
                            std::byte* host, const WaitList& wait_list) {
  const auto copy = [&] { std::memcpy(to_device ? bytes : host, to_device ? host : bytes, size); };
  if (transfer.blocking && wait_list.event == nullptr && is_idle(transfer.queue, wait_list)) {
    copy();
    return CL_SUCCESS;
  }
  const EventId event = connection().allocate_event(CL_QUEUED);
  if (event == kNoEvent) return CL_OUT_OF_HOST_MEMORY;
  const std::uint64_t before = transfer.queue->enqueued_commands.load(std::memory_order_acquire);
  Writer message = begin_command(CommandType::host_access, transfer.queue, event, wait_list);
  if (!connection().post(message)) return kDaemonLost;
  if (!transfer.blocking) {
    process().host_copy_thread().add(connection(), event, transfer.memory, to_device ? bytes : host,
                                     to_device ? host : bytes, size);
    return finish_transfer(transfer, event, wait_list);
  }
  const std::int32_t state = connection().wait(event, CL_RUNNING);
  if (state == kDaemonLost && connection().lost()) return kDaemonLost;
  if (state == CL_RUNNING) {
    copy();
    Writer done(Op::host_access_done);
    done.put(UserEvent{event, CL_COMPLETE});
    if (!connection().post(done)) return kDaemonLost;
    note_completed(transfer.queue, before + 1);
  }
  if (wait_list.event != nullptr) {
    connection().wait(event);
    *wait_list.event = create_event(transfer.queue, transfer.type, event);
  } else {
    connection().release_event(event);
  }
  return status_of(state);
}

// Writes bytes that earlier commands still have to deliver to the host: the copy thread fetches them in a command of
// its own before the write. The caller does not wait, because those commands may wait for the caller.
cl_int write_after_delivery(const HostTransfer& transfer, std::size_t offset, std::size_t size, std::byte* host,
                            const WaitList& wait_list) {
  Chunk chunk = connection().allocate(size, Connection::IfFull::use_region);
  if (chunk.size == 0) return out_of_memory();
  chunk.size = size;
  const EventId fetched = connection().allocate_event(CL_QUEUED);
  const EventId event = fetched == kNoEvent ? kNoEvent : connection().allocate_event(CL_QUEUED);
  if (event == kNoEvent) {
    connection().free(chunk);
    if (fetched != kNoEvent) connection().release_event(fetched);
    return CL_OUT_OF_HOST_MEMORY;
  }
  Writer fetch = begin_command(CommandType::host_access, transfer.queue, fetched, wait_list);
  if (!connection().post(fetch)) return kDaemonLost;
  process().host_copy_thread().add(connection(), fetched, transfer.memory, connection().address(chunk), host, size);
  Writer message = begin_command(CommandType::write, transfer.queue, event, kNoWaitList, fetched);
  message.put(Transfer{transfer.memory->id, offset, chunk});
  connection().on_completion(event, chunk);
  const bool sent = connection().post(message);
  connection().release_event(fetched);
  return finish_transfer(transfer, sent ? event : kNoEvent, wait_list);
}

void gather(const HostBox& from, std::byte* to) {
  for (std::size_t z = 0; z < from.depth; ++z) {
    for (std::size_t y = 0; y < from.height; ++y, to += from.width) {
      std::memcpy(to, from.start + z * from.slice_pitch + y * from.row_pitch, from.width);
    }
  }
}

void scatter(const std::byte* from, const HostBox& to) {
  for (std::size_t z = 0; z < to.depth; ++z) {
    for (std::size_t y = 0; y < to.height; ++y, from += to.width) {
      std::memcpy(to.start + z * to.slice_pitch + y * to.row_pitch, from, to.width);
    }
  }
}

}  // namespace

cl_int transfer_buffer(const HostTransfer& transfer, bool to_device, std::size_t offset, std::size_t size,
                       std::byte* host, const WaitList& wait_list) {
  if (to_device && !transfer.blocking &&
      (connection().has_pending_delivery(host, size) || process().host_copy_thread().will_write(host, size))) {
    return write_after_delivery(transfer, offset, size, host, wait_list);
  }
  if (to_device) connection().wait_for_deliveries(host, size);
  const bool profiled = wait_list.event != nullptr && (transfer.queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  std::byte* shared = transfer.memory->shared_bytes();
  if (shared != nullptr && !profiled && (transfer.blocking || size >= kMinCopyThreadBytes)) {
    return access_shared_buffer(transfer, to_device, shared + offset, size, host, wait_list);
  }
  if (to_device) process().host_copy_thread().wait_for_writes(host, size);
  const Piece all{offset, size, host};
  const bool in_pieces = transfer.blocking && size > kPieceBytes;
  return finish_transfer(transfer,
                         in_pieces ? send_in_pieces(transfer, to_device, all, wait_list)
                                   : send(transfer, to_device, all, wait_list, kNoEvent),
                         wait_list);
}

cl_int transfer_box(const HostTransfer& transfer, CommandType command, RectTransfer box, const HostBox& host,
                    const WaitList& wait_list) {
  using IfFull = Connection::IfFull;
  const bool to_device = command == CommandType::write_rect || command == CommandType::write_image;
  if (to_device) {
    connection().wait_for_deliveries(host.start, host.extent());
    process().host_copy_thread().wait_for_writes(host.start, host.extent());
  }
  Chunk chunk = connection().allocate(host.size(), transfer.blocking ? IfFull::wait : IfFull::use_region);
  if (chunk.size == 0) return out_of_memory();
  chunk.size = host.size();
  const EventId event = connection().allocate_event(CL_QUEUED);
  if (event == kNoEvent) {
    connection().free(chunk);
    return CL_OUT_OF_HOST_MEMORY;
  }
  std::byte* shared = connection().address(chunk);
  box.memory = transfer.memory->id;
  box.chunk = chunk;
  Writer message = begin_command(command, transfer.queue, event, wait_list);
  message.put(box);
  if (to_device) {
    gather(host, shared);
    connection().on_completion(event, chunk);
  } else {
    connection().on_completion(event, chunk, {host.start, host.extent()}, [host, shared] { scatter(shared, host); });
  }
  return finish_transfer(transfer, connection().post(message) ? event : kNoEvent, wait_list);
}

}  // namespace wm::runtime::client
