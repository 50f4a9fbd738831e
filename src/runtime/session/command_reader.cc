#include "runtime/session/command_reader.h"

#include <cstring>

namespace wm::runtime {
namespace {

// Drivers transfer memory that is not pinned much faster if they may block, for transfers of at least this size.
constexpr std::size_t kMinBlockingTransfer = 64 << 10;

Size3 size3(const std::uint64_t* from) { return {from[0], from[1], from[2]}; }

bool is_image(CommandType type) { return type == CommandType::read_image || type == CommandType::write_image; }
bool writes(CommandType type) {
  return type == CommandType::write || type == CommandType::write_rect || type == CommandType::write_image;
}

}  // namespace

template <typename Work>
void CommandReader::submits(Command& command, Work work, std::shared_ptr<void> keep) {
  command.submit = [&submission = state_.daemon.backend.submission(), work = std::move(work), keep = std::move(keep)](
                       const QueueObject& queue, EventHandle* event) { return submission.submit(queue, work, event); };
}

void CommandReader::look_ahead(const RingReader& ring) {
  next_queue_.reset();
  std::byte bytes[sizeof(MessageHeader) + sizeof(CommandMessage)];
  if (!ring.peek(bytes)) return;
  Reader reader(bytes);
  if (reader.take<MessageHeader>().op != Op::command) return;
  const auto next = reader.take<CommandMessage>();
  if (only_uses_device(next.type)) next_queue_ = next.queue;
}

bool CommandReader::read(Reader& reader, const std::shared_ptr<Client>& client) {
  const std::size_t size = reader.left();
  const auto m = reader.take<CommandMessage>();
  if (m.wait_count > kMaxWaits) return false;
  if (m.event != kNoEvent && m.event >= kMaxEvents) return false;
  const auto waits = reader.bytes(m.wait_count * sizeof(EventId));
  std::vector<EventId> events(waits.size() / sizeof(EventId));
  if (!events.empty()) std::memcpy(events.data(), waits.data(), waits.size());
  auto command = std::make_shared<Command>();
  command->client = client;
  command->queue = state_.objects.queues.find(m.queue);
  command->type = m.type;
  command->event = m.event;
  command->message_bytes = size;
  command->dependencies.failed = m.dependency_failed != 0;
  command->start_awaited = m.start_awaited != 0;
  if (!command->queue || !reader.ok()) return false;
  command->next_queued = next_queue_ && state_.objects.queues.find(*next_queue_) == command->queue;
  if (!read_body(*command, reader) || !reader.ok()) return false;
  state_.daemon.scheduler.add(command, events);
  return true;
}

bool CommandReader::read_body(Command& command, Reader& reader) {
  switch (command.type) {
    case CommandType::marker:
    case CommandType::barrier:
      return true;
    case CommandType::host_access:
      return command.event != kNoEvent;
    case CommandType::read:
    case CommandType::write:
      return transfer(command, reader);
    case CommandType::read_rect:
    case CommandType::write_rect:
    case CommandType::read_image:
    case CommandType::write_image:
      return rect_transfer(command, reader);
    case CommandType::copy:
    case CommandType::image_to_buffer:
    case CommandType::buffer_to_image:
      return copy(command, reader);
    case CommandType::copy_rect:
    case CommandType::copy_image:
      return rect_copy(command, reader);
    case CommandType::fill:
    case CommandType::fill_image:
      return fill(command, reader);
    case CommandType::launch:
      return launches_.read(command, reader);
  }
  return false;
}

bool CommandReader::transfer(Command& command, Reader& reader) {
  const auto m = reader.take<Transfer>();
  const auto shared = state_.shared.find(m.chunk);
  if (shared.bytes.empty()) return false;
  const auto memory = state_.objects.memories.find(m.memory);
  if (!memory) return command.refuse(status::kInvalidMemoryObject), true;
  command.blocking_transfer = state_.daemon.backend.capabilities().prefers_blocking_transfers &&
                              shared.bytes.size() >= kMinBlockingTransfer && !memory_.is_pinned(shared.bytes);
  struct Kept {
    std::shared_ptr<Memory> memory;
    std::shared_ptr<Mapping> region;
  };
  submits(command,
          BufferTransfer{.to_device = writes(command.type),
                         .memory = memory->handle,
                         .offset = m.offset,
                         .bytes = shared.bytes,
                         .blocking = command.blocking_transfer},
          std::make_shared<Kept>(Kept{memory, shared.region}));
  return true;
}

bool CommandReader::rect_transfer(Command& command, Reader& reader) {
  const auto m = reader.take<RectTransfer>();
  const auto shared = state_.shared.find(m.chunk);
  if (shared.bytes.empty()) return false;
  const auto memory = state_.objects.memories.find(m.memory);
  if (!memory) return command.refuse(status::kInvalidMemoryObject), true;
  // All bytes that the device accesses must be inside the chunk.
  std::uint64_t size = 1;
  if (is_image(command.type)) {
    size = state_.daemon.backend.allocation().element_bytes(*memory->handle);
    if (size == 0) return command.refuse(status::kInvalidMemoryObject), true;
  }
  for (const std::uint64_t n : m.region) {
    if (__builtin_mul_overflow(size, n, &size)) return false;
  }
  if (size > shared.bytes.size()) return false;
  struct Kept {
    std::shared_ptr<Memory> memory;
    std::shared_ptr<Mapping> region;
  };
  auto kept = std::make_shared<Kept>(Kept{memory, shared.region});
  if (is_image(command.type)) {
    submits(command,
            ImageTransfer{writes(command.type), memory->handle, size3(m.origin), size3(m.region), shared.bytes},
            std::move(kept));
  } else {
    submits(command,
            RectBufferTransfer{writes(command.type), memory->handle, size3(m.origin), size3(m.region), m.row_pitch,
                               m.slice_pitch, shared.bytes},
            std::move(kept));
  }
  return true;
}

bool CommandReader::copy(Command& command, Reader& reader) {
  const auto m = reader.take<Copy>();
  const auto from = state_.objects.memories.find(m.from), to = state_.objects.memories.find(m.to);
  if (!from || !to) return command.refuse(status::kInvalidMemoryObject), true;
  auto kept = std::make_shared<std::pair<std::shared_ptr<Memory>, std::shared_ptr<Memory>>>(from, to);
  switch (command.type) {
    case CommandType::copy:
      submits(command, BufferCopy{from->handle, to->handle, m.from_offset, m.to_offset, m.size}, std::move(kept));
      break;
    case CommandType::image_to_buffer:
      submits(command, ImageToBufferCopy{from->handle, to->handle, size3(m.origin), size3(m.region), m.to_offset},
              std::move(kept));
      break;
    default:
      submits(command, BufferToImageCopy{from->handle, to->handle, m.from_offset, size3(m.origin), size3(m.region)},
              std::move(kept));
  }
  return true;
}

bool CommandReader::rect_copy(Command& command, Reader& reader) {
  const auto m = reader.take<RectCopy>();
  const auto from = state_.objects.memories.find(m.from), to = state_.objects.memories.find(m.to);
  if (!from || !to) return command.refuse(status::kInvalidMemoryObject), true;
  auto kept = std::make_shared<std::pair<std::shared_ptr<Memory>, std::shared_ptr<Memory>>>(from, to);
  const Size3 source = size3(m.from_origin), target = size3(m.to_origin), region = size3(m.region);
  if (command.type == CommandType::copy_image) {
    submits(command, ImageCopy{from->handle, to->handle, source, target, region}, std::move(kept));
  } else {
    submits(command,
            RectBufferCopy{from->handle, to->handle, source, target, region, m.from_row, m.from_slice, m.to_row,
                           m.to_slice},
            std::move(kept));
  }
  return true;
}

bool CommandReader::fill(Command& command, Reader& reader) {
  const auto m = reader.take<Fill>();
  if (m.pattern_size > sizeof m.pattern) return false;
  const auto memory = state_.objects.memories.find(m.memory);
  if (!memory) return command.refuse(status::kInvalidMemoryObject), true;
  // The pattern is kept with the command, because the work only refers to it.
  struct Kept {
    std::shared_ptr<Memory> memory;
    Fill fill;
  };
  auto kept = std::make_shared<Kept>(Kept{memory, m});
  const auto pattern = std::as_bytes(std::span(kept->fill.pattern));
  if (command.type == CommandType::fill) {
    submits(command, BufferFill{memory->handle, pattern.first(m.pattern_size), m.offset, m.size}, kept);
  } else {
    submits(command, ImageFill{memory->handle, pattern.first(16), size3(m.origin), size3(m.region)}, kept);
  }
  return true;
}

}  // namespace wm::runtime
