// The calls of a client that create memory objects, samplers and queues, and queries about images.
#pragma once

#include <functional>

#include "runtime/session/session_state.h"

namespace wm::runtime {

class MemoryCalls {
 public:
  explicit MemoryCalls(SessionState& state) : state_(state) {}

  void create_buffer(const MessageHeader& header, const CreateBuffer& m);
  void create_sub_buffer(const MessageHeader& header, const CreateSubBuffer& m);
  void create_image(const MessageHeader& header, const CreateImage& m);
  void create_sampler(const MessageHeader& header, const CreateSampler& m);
  Status create_queue(const CreateQueue& m);
  void image_formats(const MessageHeader& header, const ImageFormats& m);
  void image_info(const MessageHeader& header, const Query& m);

  // Whether these bytes are in the part of the staging area that the device accesses directly. Called by the reader
  // thread only, which pins that part at the first call.
  [[nodiscard]] bool is_pinned(std::span<const std::byte> bytes);

 private:
  struct Request {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;  // counted by the limits
    std::shared_ptr<Memory> parent = nullptr;
    std::uint64_t extent = 0;  // size of a buffer
    std::shared_ptr<Mapping> place = nullptr;
    std::function<Made<MemoryHandle>()> make = {};
  };
  // Creates the object now, or on a thread of its own where it has to wait for memory, and answers.
  void create(const MessageHeader& header, Request request);
  Status create_now(Request& request);
  // Frees memory that is waiting for its release where there is not enough for all; false: it cannot be freed.
  bool make_room();
  // The same object, counted, and released when the device is idle; `storage` is held until then.
  [[nodiscard]] MemoryHandle deferred(MemoryHandle memory, std::uint64_t bytes, std::shared_ptr<void> storage) const;

  SessionState& state_;
  MemoryHandle pinned_;  // the first part of the staging area
  bool pin_attempted_ = false;
};

}  // namespace wm::runtime
