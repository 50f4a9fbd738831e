// Moves the bytes of buffers that lie in shared memory when a command's turn has come, for who does not wait for it.
// One thread, started when first needed.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "runtime/driver/object.h"

namespace wm::runtime::driver {

class Mover {
 public:
  ~Mover();
  // When the command of `slot` is running: moves, and tells the daemon. Holds the slot and the buffer till then.
  void add(Link& link, std::uint32_t slot, cl_mem memory, std::byte* to, const std::byte* from, std::size_t size);
  [[nodiscard]] bool will_touch(const std::byte* bytes, std::size_t size);
  // Until nothing is left to be moved into these bytes.
  void wait_for(const std::byte* bytes, std::size_t size);

 private:
  struct Move {
    std::uint32_t slot;
    Held<_cl_mem> memory;
    std::byte* to;
    const std::byte* from;
    std::size_t size;
  };
  void watch(Link& link);
  static void move(Link& link, const Move& m);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Move> moves_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime::driver
