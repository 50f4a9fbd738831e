// Copies between host memory and buffers in shared memory, for transfers that the application does not wait for. One
// thread, which starts when it is first needed, copies when the command of the transfer is running.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "runtime/client/opencl/connection/connection.h"
#include "runtime/client/opencl/objects/objects.h"

namespace wm::runtime::client {

class HostCopyThread {
 public:
  ~HostCopyThread();
  // Copies when the command of `event` is running, and then tells the daemon. Retains the event and the memory object
  // until then.
  void add(Connection& connection, EventId event, cl_mem memory, std::byte* to, const std::byte* from,
           std::size_t size);
  // Whether a copy that has not completed writes to these bytes; the second function waits until none does.
  [[nodiscard]] bool will_write(const std::byte* bytes, std::size_t size);
  void wait_for_writes(const std::byte* bytes, std::size_t size);

 private:
  struct Copy {
    EventId event;
    Retained<_cl_mem> memory;
    std::byte* to;
    const std::byte* from;
    std::size_t size;
    [[nodiscard]] bool writes(const std::byte* bytes, std::size_t count) const {
      return to < bytes + count && bytes < to + size;
    }
  };
  void run(Connection& connection);
  static void perform(Connection& connection, const Copy& copy);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Copy> copies_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime::client
