// The application's end of the connection to the daemon: messages, event slots, shared memory. Safe for many threads.
//
// When the daemon is gone every call returns kGone, every event reads as failed with it, and nothing waits.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/driver/staging.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime::driver {

inline constexpr std::int32_t kGone = -2;  // CL_DEVICE_NOT_AVAILABLE

class Link {
 public:
  static Result<std::unique_ptr<Link>> connect(const std::string& path);

  // Sends and waits for the answer, whose bytes go to `answer` where one is given. Returns the daemon's status.
  std::int32_t call(Writer& message, std::vector<std::byte>* answer = nullptr);
  // Sends. False: the daemon is gone.
  bool post(Writer& message);

  [[nodiscard]] std::uint64_t new_name() { return ++names_; }

  // --- event slots
  // Held once by the caller; kNoSlot: none is left.
  std::uint32_t take_slot(std::int32_t state);
  void hold_slot(std::uint32_t slot);
  // Free again when nobody holds it and its command has ended.
  void give_slot(std::uint32_t slot);
  // The state now, with what has ended settled, so that data read has arrived where it belongs.
  std::int32_t state(std::uint32_t slot);
  // Until it has ended, or is as far as `until`; its state then.
  std::int32_t wait(std::uint32_t slot, std::int32_t until = 0);
  [[nodiscard]] EventSlot& slot(std::uint32_t index) const { return area_.slots()[index]; }
  void set_state(std::uint32_t slot, std::int32_t state);
  // Sleeps until any slot changes after `seen`, or a while.
  [[nodiscard]] std::uint32_t changes() const { return area_.head().changes.load(); }
  void wait_for_change(std::uint32_t seen);

  // --- shared memory
  // Enough for `size` bytes. `patient`: waits for earlier transfers where staging is full, instead of a region of its
  // own. Size 0 in the answer of a size that is not: no memory.
  Chunk take_chunk(std::uint64_t size, bool patient);
  void give_chunk(const Chunk& chunk);
  [[nodiscard]] std::byte* at(const Chunk& chunk);
  // When the command of `slot` has ended: `deliver`s into `host` if it ended well, then frees the chunk. Holds the slot
  // till then.
  void when_ended(std::uint32_t slot, const Chunk& chunk, std::span<const std::byte> host = {},
                  std::function<void()> deliver = {});
  void settle();
  // A region of its own for a buffer to live in; 0: none is to be had, or the device has its own memory.
  std::uint32_t place_buffer(std::uint64_t size, Mapping& map);
  // Whether something still has to be delivered into these bytes, and waiting for it.
  [[nodiscard]] bool awaits_delivery(const void* host, std::size_t size);
  void wait_for_deliveries(const void* host, std::size_t size);

  [[nodiscard]] bool lost();
  // What the device's own driver says to a call that the standard refuses; 0: it takes it.
  [[nodiscard]] std::int32_t natively(Question question) const { return answers_[question]; }

 private:
  Link(Descriptor socket, SharedArea area, bool host_memory, const Answers& answers);
  std::uint32_t ask_region(std::uint64_t bytes, Mapping& map);
  struct Region {
    Mapping map;
    bool taken = false;
  };
  struct Ending {
    std::uint32_t slot;
    Chunk chunk;
    std::span<const std::byte> host;
    std::function<void()> deliver;
  };
  [[nodiscard]] std::int32_t raw_state(std::uint32_t slot) const {
    return static_cast<std::int32_t>(this->slot(slot).state.load(std::memory_order_acquire));
  }
  [[nodiscard]] std::uint32_t delivery_into(const void* host, std::size_t size);
  Chunk take_region(std::uint64_t size);
  bool wait_for_oldest();
  void collect_slots();

  Descriptor socket_;
  SharedArea area_;
  const bool host_memory_;  // the device's is the host's
  const Answers answers_;
  std::atomic<bool> lost_{false};
  std::atomic<std::uint64_t> names_{0};

  std::mutex writing_;
  RingWriter ring_;

  std::mutex dividing_;  // slots, staging, regions
  Staging staging_{kStagingBytes};
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint8_t> holds_ = std::vector<std::uint8_t>(kSlots, 0);
  std::vector<std::uint32_t> retired_;  // not wanted any more, but their commands have not ended
  std::map<std::uint32_t, Region> regions_;
  std::mutex asking_;  // for regions, on the socket

  std::mutex settling_;
  std::list<Ending> endings_;
  std::atomic<std::size_t> unsettled_{0};
};

}  // namespace wm::runtime::driver
