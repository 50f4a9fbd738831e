// A message between an SM and a memory partition. One message moves up to one line: a mask says which sectors.
#pragma once

#include <cstdint>

#include "sim/cycle/memory/tags.h"

namespace wm::exec {
struct PendingAtomic;
}

namespace wm::sim {

inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kHeaderBytes = 8;  // address, kind and token of a message

enum class MessageKind : std::uint8_t { read, write, atomic };

struct Message {
  std::uint64_t time = 0;  // when it arrives, in SM cycles
  LineAddress line = 0;
  exec::PendingAtomic* atomic = nullptr;  // applied at the L2 slice of the line
  std::uint32_t token = 0;                // chosen by the sender
  std::uint16_t sm = 0;
  std::uint8_t kernel = 0;  // kernel index, for accounting
  MessageKind kind = MessageKind::read;
  Sectors sectors = 0;
  std::uint8_t lanes = 0;   // lanes of an atomic
  bool combined = false;    // an atomic whose lanes were added up before it was sent
  bool moved = false;       // part of a moved context, not a program's access
  bool texture = false;     // the message belongs to the SM's texture cache, not to its L1
  std::uint8_t missed = 0;  // in a reply: sectors that were not in L2
  std::uint16_t slice = 0;  // the L2 slice of the line within its channel, found when the message arrives there
};

[[nodiscard]] inline std::uint32_t data_bytes(Sectors sectors) { return sector_count(sectors) * kSectorBytes; }

}  // namespace wm::sim
