// A client's commands: from a message to a command that knows how to put itself on the device.
#include <algorithm>
#include <cstring>

#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMostWaits = 65'536;

// The buffer that a sub-buffer is part of, where `first` of the part lies further on. PoCL 3.1 does not survive copies
// of rectangles from or to a part.
cl_mem whole_buffer(const NativeCalls& cl, const Memory& memory, std::size_t& first) {
  if (!memory.parent) return memory.native.get();
  std::size_t offset = 0;
  cl.GetMemObjectInfo(memory.native.get(), CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
  first += offset;
  return whole_buffer(cl, *memory.parent, first);
}

// The size of an element of an image that is a row of a buffer's; 0: it is none. PoCL 3.1 does not survive fills of
// such images, nor copies to buffers, and refuses to copy them to and from other images.
std::size_t element_of_row(const NativeCalls& cl, const Memory& image) {
  if (!image.parent) return 0;
  std::size_t height = 1, element = 0;
  cl.GetImageInfo(image.native.get(), CL_IMAGE_HEIGHT, sizeof height, &height, nullptr);
  cl.GetImageInfo(image.native.get(), CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return height == 0 ? element : 0;
}

// By way of an image of its own, which knows how a colour is stored.
cl_int fill_row(const NativeCalls& cl, cl_context context, cl_command_queue queue, const Memory& image, const Fill& m,
                std::size_t element, cl_event* event) {
  cl_image_format format{};
  cl.GetImageInfo(image.native.get(), CL_IMAGE_FORMAT, sizeof format, &format, nullptr);
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D;
  desc.image_width = m.region[0];
  cl_int status = CL_SUCCESS;
  const cl_mem colours = cl.CreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &status);
  if (status != CL_SUCCESS) return status;
  const std::size_t origin[3] = {0, 0, 0}, region[3] = {m.region[0], 1, 1};
  cl_event filled = nullptr;
  status = cl.EnqueueFillImage(queue, colours, m.pattern, origin, region, 0, nullptr, &filled);
  if (status == CL_SUCCESS) {
    status = cl.EnqueueCopyImageToBuffer(queue, colours, image.parent->native.get(), origin, region,
                                         m.origin[0] * element, 1, &filled, event);
    cl.ReleaseEvent(filled);
  }
  cl.ReleaseMemObject(colours);
  return status;
}

std::array<std::size_t, 3> three(const std::uint64_t* from) { return {from[0], from[1], from[2]}; }

// Between images of which at least one is a row of a buffer's.
cl_int copy_row(const NativeCalls& cl, cl_command_queue queue, const Memory& from, const Memory& to, const RectCopy& m,
                std::size_t from_element, std::size_t to_element, cl_event* event) {
  const auto a = three(m.from_origin), b = three(m.to_origin), region = three(m.region);
  if (to_element == 0) {
    return cl.EnqueueCopyBufferToImage(queue, from.parent->native.get(), to.native.get(), a[0] * from_element, b.data(),
                                       region.data(), 0, nullptr, event);
  }
  if (from_element == 0) {
    return cl.EnqueueCopyImageToBuffer(queue, from.native.get(), to.parent->native.get(), a.data(), region.data(),
                                       b[0] * to_element, 0, nullptr, event);
  }
  return cl.EnqueueCopyBuffer(queue, from.parent->native.get(), to.parent->native.get(), a[0] * from_element,
                              b[0] * to_element, region[0] * from_element, 0, nullptr, event);
}

}  // namespace

bool Session::command(Reader& reader) {
  const std::size_t size = reader.left();
  const auto m = reader.take<CommandMessage>();
  if (m.type > kLastCommandType || m.wait_count > kMostWaits || (m.event != kNoEvent && m.event >= kMaxEvents))
    return false;
  const auto waits = reader.bytes(m.wait_count * sizeof(std::uint32_t));
  std::vector<std::uint32_t> slots(waits.size() / sizeof(std::uint32_t));
  if (!slots.empty()) std::memcpy(slots.data(), waits.data(), waits.size());
  auto command = std::make_shared<Command>();
  command->client = shared_from_this();
  command->queue = find(queues_, m.queue);
  command->work = m.type;
  command->slot = m.event;
  command->message_bytes = size;
  command->dependency_failed = m.dependency_failed != 0;
  if (!command->queue || !reader.ok()) return false;
  bool read = true;
  switch (m.type) {
    case CommandType::marker:
    case CommandType::barrier:
      break;
    case CommandType::host_access:
      read = m.event != kNoEvent;
      break;
    case CommandType::read:
    case CommandType::write:
      read = transfer(*command, reader);
      break;
    case CommandType::read_rect:
    case CommandType::write_rect:
    case CommandType::read_image:
    case CommandType::write_image:
      read = rect_transfer(*command, reader);
      break;
    case CommandType::copy:
    case CommandType::image_to_buffer:
    case CommandType::buffer_to_image:
      read = copy(*command, reader);
      break;
    case CommandType::copy_rect:
    case CommandType::copy_image:
      read = rect_copy(*command, reader);
      break;
    case CommandType::fill:
    case CommandType::fill_image:
      read = fill(*command, reader);
      break;
    case CommandType::launch:
      read = launch(*command, reader);
      break;
  }
  if (!read || !reader.ok()) return false;
  daemon_.scheduler.add(command, slots);
  return true;
}

bool Session::transfer(Command& command, Reader& reader) {
  const auto m = reader.take<Transfer>();
  const auto shared = bytes_of(m.chunk);
  const auto bytes = shared.bytes;
  if (bytes.empty()) return false;
  const auto memory = find(memories_, m.memory);
  if (!memory) return command.refuse(CL_INVALID_MEM_OBJECT), true;
  const NativeCalls& cl = daemon_.native.cl;
  // Drivers move memory that they do not know far faster when they may wait for it.
  constexpr std::size_t kLarge = 64 << 10;
  command.carried = !daemon_.native.in_host_memory() && bytes.size() >= kLarge && !known_to_device(bytes);
  const cl_bool wait = command.carried ? CL_TRUE : CL_FALSE;
  if (command.work == CommandType::read) {
    command.run = [&cl, memory, m, bytes, wait, keep = shared.region](cl_command_queue queue, cl_event* event) {
      return cl.EnqueueReadBuffer(queue, memory->native.get(), wait, m.offset, bytes.size(), bytes.data(), 0, nullptr,
                                  event);
    };
  } else {
    command.run = [&cl, memory, m, bytes, wait, keep = shared.region](cl_command_queue queue, cl_event* event) {
      return cl.EnqueueWriteBuffer(queue, memory->native.get(), wait, m.offset, bytes.size(), bytes.data(), 0, nullptr,
                                   event);
    };
  }
  return true;
}

// The driver takes staging's first part as a buffer's memory, and by that into the memory that the device reaches. It
// is mapped for good: what the buffer itself holds is nobody's.
bool Session::known_to_device(std::span<const std::byte> bytes) {
  const NativeCalls& cl = daemon_.native.cl;
  const auto part = area_->staging().first(kPinnedBytes);
  if (bytes.data() < part.data() || bytes.data() + bytes.size() > part.data() + part.size()) return false;
  if (!pinned_asked_) {
    pinned_asked_ = true;
    const cl_mem made = cl.CreateBuffer(daemon_.native.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, part.size(),
                                        part.data(), nullptr);
    if (made == nullptr) return false;
    pinned_ = own_memory(made, 0, area_);
    const auto queue = find(queues_, 0);
    cl_int status = CL_SUCCESS;
    const void* at = cl.EnqueueMapBuffer(queue->native.get(), made, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                         part.size(), 0, nullptr, nullptr, &status);
    if (at != part.data()) pinned_.reset();
  }
  return pinned_ != nullptr;
}

bool Session::rect_transfer(Command& command, Reader& reader) {
  const auto m = reader.take<RectTransfer>();
  const auto shared = bytes_of(m.chunk);
  const auto bytes = shared.bytes;
  if (bytes.empty()) return false;
  const auto memory = find(memories_, m.memory);
  if (!memory) return command.refuse(CL_INVALID_MEM_OBJECT), true;
  // What the device will touch must lie in the chunk: its elements may have up to 16 bytes.
  std::uint64_t size = 1;
  if (command.work == CommandType::read_image || command.work == CommandType::write_image) {
    std::size_t element = 0;
    if (daemon_.native.cl.GetImageInfo(memory->native.get(), CL_IMAGE_ELEMENT_SIZE, sizeof element, &element,
                                       nullptr) != CL_SUCCESS) {
      return command.refuse(CL_INVALID_MEM_OBJECT), true;
    }
    size = element;
  }
  for (const std::uint64_t n : m.region) {
    if (__builtin_mul_overflow(size, n, &size)) return false;
  }
  if (size > bytes.size()) return false;
  const NativeCalls& cl = daemon_.native.cl;
  command.run = [&cl, memory, m, bytes, keep = shared.region, work = command.work](cl_command_queue queue,
                                                                                   cl_event* event) -> cl_int {
    const auto origin = three(m.origin), region = three(m.region);
    const std::size_t zero[3] = {0, 0, 0};
    switch (work) {
      case CommandType::read_rect:
        return cl.EnqueueReadBufferRect(queue, memory->native.get(), CL_FALSE, origin.data(), zero, region.data(),
                                        m.row_pitch, m.slice_pitch, 0, 0, bytes.data(), 0, nullptr, event);
      case CommandType::write_rect:
        return cl.EnqueueWriteBufferRect(queue, memory->native.get(), CL_FALSE, origin.data(), zero, region.data(),
                                         m.row_pitch, m.slice_pitch, 0, 0, bytes.data(), 0, nullptr, event);
      case CommandType::read_image:
        return cl.EnqueueReadImage(queue, memory->native.get(), CL_FALSE, origin.data(), region.data(), 0, 0,
                                   bytes.data(), 0, nullptr, event);
      default:
        return cl.EnqueueWriteImage(queue, memory->native.get(), CL_FALSE, origin.data(), region.data(), 0, 0,
                                    bytes.data(), 0, nullptr, event);
    }
  };
  return true;
}

bool Session::copy(Command& command, Reader& reader) {
  const auto m = reader.take<Copy>();
  const auto from = find(memories_, m.from), to = find(memories_, m.to);
  if (!from || !to) return command.refuse(CL_INVALID_MEM_OBJECT), true;
  const NativeCalls& cl = daemon_.native.cl;
  const std::size_t row = command.work == CommandType::image_to_buffer ? element_of_row(cl, *from) : 0;
  command.run = [&cl, from, to, m, row, work = command.work](cl_command_queue queue, cl_event* event) -> cl_int {
    const auto origin = three(m.origin), region = three(m.region);
    if (row != 0) {
      return cl.EnqueueCopyBuffer(queue, from->parent->native.get(), to->native.get(), origin[0] * row, m.to_offset,
                                  region[0] * row, 0, nullptr, event);
    }
    switch (work) {
      case CommandType::copy:
        return cl.EnqueueCopyBuffer(queue, from->native.get(), to->native.get(), m.from_offset, m.to_offset, m.size, 0,
                                    nullptr, event);
      case CommandType::image_to_buffer:
        return cl.EnqueueCopyImageToBuffer(queue, from->native.get(), to->native.get(), origin.data(), region.data(),
                                           m.to_offset, 0, nullptr, event);
      default:
        return cl.EnqueueCopyBufferToImage(queue, from->native.get(), to->native.get(), m.from_offset, origin.data(),
                                           region.data(), 0, nullptr, event);
    }
  };
  return true;
}

bool Session::rect_copy(Command& command, Reader& reader) {
  const auto m = reader.take<RectCopy>();
  const auto from = find(memories_, m.from), to = find(memories_, m.to);
  if (!from || !to) return command.refuse(CL_INVALID_MEM_OBJECT), true;
  const NativeCalls& cl = daemon_.native.cl;
  const bool images = command.work == CommandType::copy_image;
  const std::size_t from_row = images ? element_of_row(cl, *from) : 0, to_row = images ? element_of_row(cl, *to) : 0;
  command.run = [&cl, from, to, m, images, from_row, to_row](cl_command_queue queue, cl_event* event) -> cl_int {
    if (from_row != 0 || to_row != 0) return copy_row(cl, queue, *from, *to, m, from_row, to_row, event);
    auto a = three(m.from_origin), b = three(m.to_origin);
    const auto region = three(m.region);
    if (images) {
      return cl.EnqueueCopyImage(queue, from->native.get(), to->native.get(), a.data(), b.data(), region.data(), 0,
                                 nullptr, event);
    }
    const cl_mem source = whole_buffer(cl, *from, a[0]), target = whole_buffer(cl, *to, b[0]);
    return cl.EnqueueCopyBufferRect(queue, source, target, a.data(), b.data(), region.data(), m.from_row, m.from_slice,
                                    m.to_row, m.to_slice, 0, nullptr, event);
  };
  return true;
}

bool Session::fill(Command& command, Reader& reader) {
  const auto m = reader.take<Fill>();
  if (m.pattern_size > sizeof m.pattern) return false;
  const auto memory = find(memories_, m.memory);
  if (!memory) return command.refuse(CL_INVALID_MEM_OBJECT), true;
  const NativeCalls& cl = daemon_.native.cl;
  const std::size_t row = command.work == CommandType::fill_image ? element_of_row(cl, *memory) : 0;
  command.run = [&cl, memory, m, row, context = daemon_.native.context, work = command.work](
                    cl_command_queue queue, cl_event* event) -> cl_int {
    if (row != 0) return fill_row(cl, context, queue, *memory, m, row, event);
    if (work == CommandType::fill) {
      return cl.EnqueueFillBuffer(queue, memory->native.get(), m.pattern, m.pattern_size, m.offset, m.size, 0, nullptr,
                                  event);
    }
    const auto origin = three(m.origin), region = three(m.region);
    return cl.EnqueueFillImage(queue, memory->native.get(), m.pattern, origin.data(), region.data(), 0, nullptr, event);
  };
  return true;
}

}  // namespace wm::runtime
