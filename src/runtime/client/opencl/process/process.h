// The state of the client library in a process: the connection to the daemon, and the one platform with its one
// device. Created by the first OpenCL call.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "runtime/client/opencl/connection/connection.h"
#include "runtime/client/opencl/objects/objects.h"
#include "runtime/client/opencl/process/event_callbacks.h"
#include "runtime/client/opencl/process/host_copy_thread.h"
#include "runtime/client/opencl/process/parallel_copy.h"

namespace wm::runtime::client {

class Process {
 public:
  // Null where no daemon answered; then there is no platform either.
  [[nodiscard]] Connection* connection() const { return connection_.get(); }
  [[nodiscard]] cl_platform_id platform() { return connection_ ? &platform_ : nullptr; }
  [[nodiscard]] cl_device_id device() { return &device_; }

  // The device's answer to a query. The daemon is asked once for each query.
  cl_int device_info(cl_device_info name, std::vector<std::byte>& answer);
  // The same as a value of type T, zero where the device does not know the query.
  template <typename T>
  T device_value(cl_device_info name) {
    std::vector<std::byte> bytes;
    T value{};
    if (device_info(name, bytes) == CL_SUCCESS && bytes.size() >= sizeof value) {
      std::memcpy(&value, bytes.data(), sizeof value);
    }
    return value;
  }
  std::string device_string(cl_device_info name);

  // The queue of the library's own commands: id 0, which every client has.
  [[nodiscard]] cl_command_queue internal_queue() { return &internal_queue_; }

  // All memory objects of the process. A kernel argument whose parameter type is unknown is looked up here.
  void add_memory(cl_mem memory);
  void remove_memory(cl_mem memory);
  bool is_memory(const void* pointer);

  EventCallbacks& event_callbacks() { return event_callbacks_; }
  HostCopyThread& host_copy_thread() { return host_copy_thread_; }
  ParallelCopy& parallel_copy() { return parallel_copy_; }

 private:
  friend Process& process();
  Process();

  std::unique_ptr<Connection> connection_;
  _cl_platform_id platform_;
  _cl_device_id device_;
  _cl_command_queue internal_queue_;
  std::mutex mutex_;  // guards device_answers_ and memory_
  std::map<cl_device_info, std::pair<cl_int, std::vector<std::byte>>> device_answers_;
  std::set<const void*> memory_;
  EventCallbacks event_callbacks_;
  HostCopyThread host_copy_thread_;
  ParallelCopy parallel_copy_;
};

// Never destroyed: applications release objects from their own static destructors, in any order.
Process& process();
inline Connection& connection() { return *process().connection(); }

// Tells the daemon that the client has deleted an object.
void post_release(ObjectKind kind, std::uint64_t id);

}  // namespace wm::runtime::client
