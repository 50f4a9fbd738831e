#include "runtime/simulated/served_protocol.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>

#include "runtime/protocol/socket.h"

namespace wm::runtime {

namespace {

constexpr std::size_t kMaxPacketBytes = kMaxInlineBytes + sizeof(ServedHeader);

Result<Descriptor> file_with(std::span<const std::byte> bytes) {
  auto file = sealed_memory("warpmux-message", bytes.size());
  if (!file) return file.error();
  const auto mapping = Mapping::of(*file, bytes.size());
  if (!mapping) return mapping.error();
  std::memcpy(mapping->bytes().data(), bytes.data(), bytes.size());
  return file;
}

// Copies the payload out of a file; it may change or be shorter than it was said to be.
bool read_file_payload(const Descriptor& file, std::uint64_t bytes, std::vector<std::byte>& payload) {
  if (!file.open() || bytes > kMaxPayloadBytes) return false;
  payload.resize(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(file.get(), payload.data() + done, bytes - done, static_cast<off_t>(done));
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

Payload& Payload::raw(const void* data, std::size_t size) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + size);
  if (size != 0) std::memcpy(bytes_.data() + at, data, size);
  return *this;
}

Payload& Payload::text(std::string_view text) {
  raw(text.data(), text.size());
  bytes_.push_back(std::byte{0});
  return *this;
}

bool send_served(const Descriptor& socket, ServedHeader header, const Payload& payload, bool waits) {
  const auto bytes = payload.bytes();
  header.payload_bytes = bytes.size();
  header.in_file = bytes.size() > kMaxInlineBytes ? 1 : 0;
  Descriptor file;
  if (header.in_file != 0) {
    auto made = file_with(bytes);
    if (!made) return false;
    file = std::move(*made);
  }
  std::vector<std::byte> packet(sizeof header + (header.in_file != 0 ? 0 : bytes.size()));
  std::memcpy(packet.data(), &header, sizeof header);
  if (header.in_file == 0 && !bytes.empty()) std::memcpy(packet.data() + sizeof header, bytes.data(), bytes.size());
  while (!send_packet(socket, packet, file)) {
    if (!waits || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
    pollfd watched{socket.get(), POLLOUT, 0};
    ::poll(&watched, 1, 1000);
  }
  return true;
}

std::optional<ServedReceipt> receive_served(const Descriptor& socket, int milliseconds) {
  auto packet = receive_packet(socket, milliseconds, kMaxPacketBytes);
  if (!packet) return std::nullopt;
  ServedReceipt receipt;
  ServedHeader& header = receipt.message.header;
  receipt.closed = true;
  if (packet->bytes.size() < sizeof header) return receipt;
  std::memcpy(&header, packet->bytes.data(), sizeof header);
  if (header.in_file != 0) {
    receipt.closed = !read_file_payload(packet->file, header.payload_bytes, receipt.message.payload);
    return receipt;
  }
  receipt.message.payload.assign(packet->bytes.begin() + sizeof header, packet->bytes.end());
  receipt.closed = receipt.message.payload.size() != header.payload_bytes;
  return receipt;
}

}  // namespace wm::runtime
