// How bytes travel between an application and the daemon: through chunks of shared memory, in pieces where the
// application waits anyway, so that copying in and out overlaps with the device's work.
#include <algorithm>
#include <deque>

#include "runtime/driver/api.h"

namespace wm::runtime::driver {
namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kAhead = 4;  // pieces on their way at once: few enough to stay in a cache

cl_int no_memory() { return link().lost() ? kGone : CL_OUT_OF_HOST_MEMORY; }

// A blocking command's error, from the state its event ended in.
cl_int outcome(std::int32_t state) { return state >= 0 ? CL_SUCCESS : state; }

struct Piece {
  std::size_t offset, size;
  std::byte* host;
};

// One piece on its way; its slot is held by the caller. kNoSlot: it could not be sent.
std::uint32_t send(const Movement& how, bool to_device, const Piece& piece, const Waits& waits, std::uint32_t after) {
  Chunk chunk = link().take_chunk(piece.size, how.blocking);
  if (chunk.size == 0) return kNoSlot;
  const std::uint32_t slot = link().take_slot(CL_QUEUED);
  if (slot == kNoSlot) {
    link().give_chunk(chunk);
    return kNoSlot;
  }
  chunk.size = piece.size;
  std::byte* shared = link().at(chunk);
  Writer message = begin(to_device ? Work::write : Work::read, how.queue, slot, waits, after);
  message.put(Transfer{how.memory->name, piece.offset, chunk});
  if (to_device) {
    process().copying().copy(shared, piece.host, piece.size);
    link().when_ended(slot, chunk);
  } else {
    link().when_ended(slot, chunk, {piece.host, piece.size},
                      [piece, shared] { process().copying().copy(piece.host, shared, piece.size); });
  }
  if (!link().post(message)) return kNoSlot;
  return slot;
}

// Pieces one after the other; all but the last have ended when it returns, and the last one's slot is the caller's.
std::uint32_t stream(const Movement& how, bool to_device, Piece whole, const Waits& waits) {
  std::deque<std::uint32_t> sent;
  const Waits none{0, nullptr, nullptr};
  bool lost = false;
  for (std::size_t done = 0; done < whole.size && !lost; done += kPiece) {
    const Piece piece{whole.offset + done, std::min(kPiece, whole.size - done), whole.host + done};
    if (sent.size() == kAhead) {
      lost = link().wait(sent.front()) == kGone;
      link().give_slot(sent.front());
      sent.pop_front();
    }
    const std::uint32_t slot =
        send(how, to_device, piece, done == 0 ? waits : none, sent.empty() ? kNoSlot : sent.back());
    lost |= slot == kNoSlot;
    if (slot != kNoSlot) sent.push_back(slot);
  }
  while (sent.size() > 1) {
    link().wait(sent.front());
    link().give_slot(sent.front());
    sent.pop_front();
  }
  return lost || sent.empty() ? kNoSlot : sent.front();
}

cl_int conclude(const Movement& how, std::uint32_t slot, const Waits& waits) {
  if (slot == kNoSlot) return no_memory();
  const cl_int status = how.blocking ? outcome(link().wait(slot)) : CL_SUCCESS;
  if (waits.out != nullptr) {
    *waits.out = new_event(how.queue, how.type, slot);
  } else {
    link().give_slot(slot);
  }
  return status;
}

// Whether nothing in the queue is open, and nothing that is waited for.
bool idle(cl_command_queue queue, const Waits& waits) {
  queue->use();
  if (!queue->in_order() || queue->several_users.load()) return false;
  if (queue->ended.load() != queue->posted.load()) return false;
  for (cl_uint i = 0; i < waits.count; ++i) {
    if (link().state(waits.list[i]->slot) != CL_COMPLETE) return false;
  }
  return !link().lost();
}

// The buffer's bytes are here: they are moved when their turn comes, and nothing after them runs until they are.
cl_int move_in_place(const Movement& how, bool to_device, std::byte* bytes, std::size_t size, std::byte* host,
                     const Waits& waits) {
  const auto copy = [&] { std::memcpy(to_device ? bytes : host, to_device ? host : bytes, size); };
  if (how.blocking && waits.out == nullptr && idle(how.queue, waits)) return copy(), CL_SUCCESS;
  const std::uint32_t slot = link().take_slot(CL_QUEUED);
  if (slot == kNoSlot) return CL_OUT_OF_HOST_MEMORY;
  const std::uint64_t before = how.queue->posted.load(std::memory_order_acquire);
  Writer message = begin(Work::host, how.queue, slot, waits);
  if (!link().post(message)) return kGone;
  if (!how.blocking) {
    process().mover().add(link(), slot, how.memory, to_device ? bytes : host, to_device ? host : bytes, size);
    return conclude(how, slot, waits);
  }
  const std::int32_t state = link().wait(slot, CL_RUNNING);
  if (state == kGone && link().lost()) return kGone;
  if (state == CL_RUNNING) {
    copy();
    Writer done(Op::host_done);
    done.put(UserEvent{slot, CL_COMPLETE});
    if (!link().post(done)) return kGone;
    note_ended(how.queue, before + 1);
  }
  if (waits.out != nullptr) {
    link().wait(slot);
    *waits.out = new_event(how.queue, how.type, slot);
  } else {
    link().give_slot(slot);
  }
  return outcome(state);
}

// Bytes that earlier commands still have to bring to the host: they are fetched when the turn of this one has come, by
// a command of its own before it. The caller does not wait, since it may be what those commands wait for.
cl_int write_later(const Movement& how, std::size_t offset, std::size_t size, std::byte* host, const Waits& waits) {
  Chunk chunk = link().take_chunk(size, false);
  if (chunk.size == 0) return no_memory();
  chunk.size = size;
  const std::uint32_t fetched = link().take_slot(CL_QUEUED);
  const std::uint32_t slot = fetched == kNoSlot ? kNoSlot : link().take_slot(CL_QUEUED);
  if (slot == kNoSlot) {
    link().give_chunk(chunk);
    if (fetched != kNoSlot) link().give_slot(fetched);
    return CL_OUT_OF_HOST_MEMORY;
  }
  Writer fetch = begin(Work::host, how.queue, fetched, waits);
  if (!link().post(fetch)) return kGone;
  process().mover().add(link(), fetched, how.memory, link().at(chunk), host, size);
  Writer message = begin(Work::write, how.queue, slot, {0, nullptr, nullptr}, fetched);
  message.put(Transfer{how.memory->name, offset, chunk});
  link().when_ended(slot, chunk);
  const bool sent = link().post(message);
  link().give_slot(fetched);
  return conclude(how, sent ? slot : kNoSlot, waits);
}

}  // namespace

void note_ended(cl_command_queue queue, std::uint64_t count) {
  if (!queue->in_order() || queue->posted.load(std::memory_order_acquire) != count) return;
  std::uint64_t known = queue->ended.load(std::memory_order_relaxed);
  while (known < count && !queue->ended.compare_exchange_weak(known, count, std::memory_order_acq_rel)) {
  }
}

cl_int move_linear(const Movement& how, bool to_device, std::size_t offset, std::size_t size, std::byte* host,
                   const Waits& waits) {
  if (to_device && !how.blocking && (link().awaits_delivery(host, size) || process().mover().will_touch(host, size))) {
    return write_later(how, offset, size, host, waits);
  }
  if (to_device) link().wait_for_deliveries(host, size);
  constexpr std::size_t kWorthAThread = 64 << 10;
  const bool timed = waits.out != nullptr && (how.queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  if (std::byte* base = how.memory->in_place(); base != nullptr && !timed && (how.blocking || size >= kWorthAThread)) {
    return move_in_place(how, to_device, base + offset, size, host, waits);
  }
  if (to_device) process().mover().wait_for(host, size);
  const Piece whole{offset, size, host};
  const bool in_pieces = how.blocking && size > kPiece;
  return conclude(how, in_pieces ? stream(how, to_device, whole, waits) : send(how, to_device, whole, waits, kNoSlot),
                  waits);
}

void gather(const HostRect& from, std::byte* to) {
  for (std::size_t z = 0; z < from.depth; ++z) {
    for (std::size_t y = 0; y < from.height; ++y, to += from.width) {
      std::memcpy(to, from.at + z * from.slice_pitch + y * from.row_pitch, from.width);
    }
  }
}

void scatter(const std::byte* from, const HostRect& to) {
  for (std::size_t z = 0; z < to.depth; ++z) {
    for (std::size_t y = 0; y < to.height; ++y, from += to.width) {
      std::memcpy(to.at + z * to.slice_pitch + y * to.row_pitch, from, to.width);
    }
  }
}

cl_int move_rect(const Movement& how, Work work, RectTransfer rect, const HostRect& host, const Waits& waits) {
  const bool to_device = work == Work::write_rect || work == Work::write_image;
  const std::size_t extent = (host.depth - 1) * host.slice_pitch + (host.height - 1) * host.row_pitch + host.width;
  if (to_device) {
    link().wait_for_deliveries(host.at, extent);
    process().mover().wait_for(host.at, extent);
  }
  Chunk chunk = link().take_chunk(host.size(), how.blocking);
  if (chunk.size == 0) return no_memory();
  chunk.size = host.size();
  const std::uint32_t slot = link().take_slot(CL_QUEUED);
  if (slot == kNoSlot) {
    link().give_chunk(chunk);
    return CL_OUT_OF_HOST_MEMORY;
  }
  std::byte* shared = link().at(chunk);
  rect.memory = how.memory->name;
  rect.chunk = chunk;
  Writer message = begin(work, how.queue, slot, waits);
  message.put(rect);
  if (to_device) {
    gather(host, shared);
    link().when_ended(slot, chunk);
  } else {
    link().when_ended(slot, chunk, {host.at, extent}, [host, shared] { scatter(shared, host); });
  }
  return conclude(how, link().post(message) ? slot : kNoSlot, waits);
}

}  // namespace wm::runtime::driver
