// The memory a client and the daemon share: the ring of commands, the slots in which events show their progress, and a
// staging area for data. The client divides slots and staging as it likes; the daemon only checks bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/futex.h"
#include "runtime/protocol/message.h"
#include "runtime/protocol/ring.h"

namespace wm::runtime {

// One event. `state` is an execution status as OpenCL has it (3 queued … 0 complete, negative: failed) and a futex; the
// times stand before it says complete.
struct EventSlot {
  Word state{0};
  Word sleepers{0};  // not 0 while somebody may sleep on `state`
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  std::uint64_t unused[3] = {};
};
static_assert(sizeof(EventSlot) == 64);

struct AreaHead {
  std::uint32_t magic = kMagic, version = kVersion;
  alignas(64) Word changes{0};  // goes up whenever a slot changes
  Word watchers{0};             // not 0 while somebody may sleep on `changes`
  alignas(64) RingEnds ring;
};

inline constexpr std::uint64_t kRingOffset = 4096;
inline constexpr std::uint64_t kRingBytes = 1 << 20;
inline constexpr std::uint32_t kSlots = 1 << 18;  // events that an application may hold at once
inline constexpr std::uint64_t kSlotsOffset = kRingOffset + kRingBytes;
inline constexpr std::uint64_t kStagingOffset = kSlotsOffset + kSlots * sizeof(EventSlot);
inline constexpr std::uint64_t kStagingBytes = 32 << 20;
inline constexpr std::uint64_t kPinnedBytes = 8 << 20;  // of staging, which a device may reach by itself
inline constexpr std::uint64_t kAreaBytes = kStagingOffset + kStagingBytes;
static_assert(sizeof(AreaHead) <= kRingOffset);

class SharedArea {
 public:
  // The daemon makes it; `file` is for the client.
  static Result<SharedArea> make(Descriptor& file);
  static Result<SharedArea> attach(const Descriptor& file);

  [[nodiscard]] AreaHead& head() const { return *reinterpret_cast<AreaHead*>(map_.bytes().data()); }
  [[nodiscard]] std::span<std::byte> ring() const { return map_.bytes().subspan(kRingOffset, kRingBytes); }
  [[nodiscard]] std::span<EventSlot> slots() const {
    return {reinterpret_cast<EventSlot*>(map_.bytes().data() + kSlotsOffset), kSlots};
  }
  [[nodiscard]] std::span<std::byte> staging() const { return map_.bytes().subspan(kStagingOffset, kStagingBytes); }

 private:
  explicit SharedArea(Mapping map) : map_(std::move(map)) {}
  Mapping map_;
};

// The daemon's side of an event: shows a new state, and wakes whoever waits for it.
void publish(AreaHead& head, EventSlot& slot, std::int32_t state);

}  // namespace wm::runtime
