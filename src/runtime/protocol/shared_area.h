// The memory that a client and the daemon share: the ring of messages, the records in which the daemon publishes the
// progress of events, and a staging area for data. The client allocates events and staging memory; the daemon only
// checks bounds.
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

// One event. `state` is an execution status of OpenCL (3 queued … 0 complete, negative: failed) and a futex. The times
// are set before the state is CL_COMPLETE.
struct EventRecord {
  Word state{0};
  Word sleepers{0};  // not 0 while a thread may sleep on `state`
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  std::uint64_t unused[3] = {};
};
static_assert(sizeof(EventRecord) == 64);

struct AreaHeader {
  std::uint32_t magic = kMagic, version = kVersion;
  alignas(64) Word changes{0};  // incremented whenever an event changes
  Word watchers{0};             // not 0 while a thread may sleep on `changes`
  alignas(64) RingPositions ring;
};

inline constexpr std::uint64_t kRingOffset = 4096;
inline constexpr std::uint64_t kRingBytes = 1 << 20;
inline constexpr std::uint32_t kMaxEvents = 1 << 18;  // limit of events that an application has at once
inline constexpr std::uint64_t kEventsOffset = kRingOffset + kRingBytes;
inline constexpr std::uint64_t kStagingOffset = kEventsOffset + kMaxEvents * sizeof(EventRecord);
inline constexpr std::uint64_t kStagingBytes = 32 << 20;
inline constexpr std::uint64_t kPinnedBytes = 8
                                              << 20;  // the part of the staging area that a device may access directly
inline constexpr std::uint64_t kAreaBytes = kStagingOffset + kStagingBytes;
static_assert(sizeof(AreaHeader) <= kRingOffset);

class SharedArea {
 public:
  // Creates the area in the daemon; `file` is sent to the client.
  static Result<SharedArea> make(Descriptor& file);
  static Result<SharedArea> attach(const Descriptor& file);

  [[nodiscard]] AreaHeader& header() const { return *reinterpret_cast<AreaHeader*>(map_.bytes().data()); }
  [[nodiscard]] std::span<std::byte> ring() const { return map_.bytes().subspan(kRingOffset, kRingBytes); }
  [[nodiscard]] std::span<EventRecord> events() const {
    return {reinterpret_cast<EventRecord*>(map_.bytes().data() + kEventsOffset), kMaxEvents};
  }
  [[nodiscard]] std::span<std::byte> staging() const { return map_.bytes().subspan(kStagingOffset, kStagingBytes); }

 private:
  explicit SharedArea(Mapping map) : map_(std::move(map)) {}
  Mapping map_;
};

// Sets the state of an event and wakes the threads that wait for it.
void publish(AreaHeader& header, EventRecord& event, std::int32_t state);

}  // namespace wm::runtime
