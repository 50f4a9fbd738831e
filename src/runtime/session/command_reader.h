// Turns the command messages of a client into commands that the scheduler can submit to the device. Used by the reader
// thread only.
#pragma once

#include <optional>

#include "runtime/protocol/ring.h"
#include "runtime/session/launch_reader.h"
#include "runtime/session/memory_calls.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

class CommandReader {
 public:
  CommandReader(SessionState& state, MemoryCalls& memory, LaunchReader& launches)
      : state_(state), memory_(memory), launches_(launches) {}

  // Reads a command and gives it to the scheduler. False: the message breaks the protocol.
  bool read(Reader& reader, const std::shared_ptr<Client>& client);
  // Looks at the next message of the ring, before the current one is read: if it is work for the same queue, the
  // scheduler is told so.
  void look_ahead(const RingReader& ring);

  static constexpr std::uint32_t kMaxWaits = 65'536;

 private:
  bool read_body(Command& command, Reader& reader);
  bool transfer(Command& command, Reader& reader);
  bool rect_transfer(Command& command, Reader& reader);
  bool copy(Command& command, Reader& reader);
  bool rect_copy(Command& command, Reader& reader);
  bool fill(Command& command, Reader& reader);
  // The command submits this to the device.
  template <typename Work>
  void submits(Command& command, Work work, std::shared_ptr<void> keep = nullptr);

  SessionState& state_;
  MemoryCalls& memory_;
  LaunchReader& launches_;
  std::optional<std::uint64_t> next_queue_;  // the queue of the next message, where that `only_uses_device`
};

}  // namespace wm::runtime
