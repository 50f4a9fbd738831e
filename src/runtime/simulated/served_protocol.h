// The messages between a program on a shared simulated GPU and its daemon (simulated_server/).
//
// A message is a ServedHeader and its payload, in one packet, or in a file that the packet carries. Both sides check
// every length. The program's calls have numbers, which the answers repeat; launches are answered when they are over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/address_space.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/message.h"

namespace wm::runtime {

enum class ServedOp : std::uint32_t {
  // From the program.
  allocate,       // Allocate, name
  free,           // u64 address
  alias,          // Alias
  heap,           // Heap
  load_module,    // LoadModule, PTX, then a variable's name and u64 address for each
  unload_module,  // u64 number
  launch,         // ServedLaunch, kernel, parameters
  wait,           // all its threads that use the device wait for it
  poll,           // a thread has asked in vain whether work is done; answered a little later
  goal,           // kernel, double ipc
  // From the daemon.
  answer,       // u32 status (0: done), text of an error
  launch_over,  // LaunchOver, fault, printed text
  ended,        // the program was ended by `wm end`; the connection is closed next
};

struct ServedHeader {
  ServedOp op{};
  std::uint32_t in_file = 0;  // 1: the payload lies in the packet's file
  std::uint64_t number = 0;   // the call's
  std::uint64_t payload_bytes = 0;
  // From the program: its simulated time. From the daemon: the time of the answer. In nanoseconds.
  std::uint64_t nanoseconds = 0;
  // From the program: messages `launch_over`, and answers to `poll`, that it has handled.
  std::uint64_t resumptions = 0;
};

// The daemon's welcome, beside the protocol's: with the descriptor of the program's memory.
struct ServedWelcome {
  std::uint32_t magic = kMagic, version = kVersion;
  std::uint32_t accepted = 0;
  std::uint32_t unused = 0;
  double host_time = 0;  // simulated time that passes per time of the host
  std::uint64_t memory_bytes = 0;
  char reason[240] = {};
};

// The rate that a program's launches must reach.
struct ServedGoal {
  enum class Kind : std::uint32_t { none, fraction, ipc, nanoseconds };
  Kind kind = Kind::none;
  std::uint32_t unused = 0;
  double value = 0;  // part of the isolated rate; thread instructions per cycle; time of a launch
};

struct ServedAllocate {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t on_device = 0, unused = 0;
};
struct ServedAlias {
  std::uint64_t alias = 0, address = 0, bytes = 0;
};
struct ServedHeap {
  std::uint64_t address = 0, sm_bytes = 0;
};
struct ServedLoadModule {
  std::uint64_t number = 0, ptx_bytes = 0;
  std::uint32_t variables = 0, unused = 0;
};
struct ServedLaunch {
  std::uint64_t module = 0, grid_id = 0, workspace = 0, stream = 0;
  std::uint32_t blocks[3] = {}, threads[3] = {};
  std::uint32_t dynamic_shared = 0, parameter_bytes = 0;
  std::int32_t priority = 0, unused = 0;
};
struct ServedLaunchOver {
  std::uint64_t cycles = 0, nanoseconds = 0, warp_instructions = 0;
  std::uint32_t fault = 0;  // 0: none; else 1 + exec::Fault::Kind
  std::uint32_t unused = 0;
};

inline constexpr std::size_t kMaxInlineBytes = 16 * 1024;
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 30;
// Bytes of simulated addresses that a program's memory may span.
inline constexpr std::uint64_t kServedSpan =
    std::min(std::uint64_t{1} << 42, (exec::kGlobalEnd - exec::kGlobalBase) / 2);

// Appends the parts of a payload; `wire.h` reads it.
class Payload {
 public:
  template <Plain T>
  Payload& put(const T& value) {
    return raw(&value, sizeof value);
  }
  Payload& raw(const void* data, std::size_t size);
  // The text and a zero, which it must not contain.
  Payload& text(std::string_view text);
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct ServedMessage {
  ServedHeader header;
  std::vector<std::byte> payload;
};

// Sends a message. `waits`: for room in the socket, where the peer has not read yet. False: the peer is gone, or, if it
// does not wait, has not read enough.
bool send_served(const Descriptor& socket, ServedHeader header, const Payload& payload, bool waits);

// Waits up to `milliseconds` (-1: without end). Empty after that time; a message without header bytes, `closed`, when
// the peer is gone or has sent something else.
struct ServedReceipt {
  bool closed = false;
  ServedMessage message;
};
std::optional<ServedReceipt> receive_served(const Descriptor& socket, int milliseconds);

}  // namespace wm::runtime
