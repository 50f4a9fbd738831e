// Any bytes in a ring are read as messages of their size or reported as a broken ring; reading stays within the ring.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/protocol/ring.h"
#include "runtime/protocol/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wm::runtime;
  if (size < 8) return 0;
  RingPositions ends;
  std::uint64_t written = 0;
  std::memcpy(&written, data, sizeof written);
  ends.written = written % 8192;
  std::vector<std::byte> bytes(4096);
  std::memcpy(bytes.data(), data + 8, size - 8 < bytes.size() ? size - 8 : bytes.size());
  RingReader ring(&ends, bytes);
  std::vector<std::byte> message;
  while (ring.try_read(message) == RingReader::Outcome::message) {
    Reader reader(message);
    const MessageHeader header = reader.take<MessageHeader>();
    if (header.size != message.size()) __builtin_trap();
    const auto command = reader.take<CommandMessage>();
    (void)reader.bytes(std::size_t{command.wait_count} * 4);
    (void)reader.take<LaunchMessage>();
    while (reader.ok() && reader.left() != 0) {
      const auto argument = reader.take<Argument>();
      (void)reader.bytes(argument.size);
    }
    (void)reader.zero_terminated();
  }
  return 0;
}
