// What the driver keeps for the process: the link, the one platform and its one device. Made at the first call.
#pragma once

#include <condition_variable>
#include <list>
#include <optional>
#include <set>
#include <thread>

#include "runtime/driver/copying.h"
#include "runtime/driver/mover.h"
#include "runtime/driver/object.h"

namespace wm::runtime::driver {

// Calls back when events reach the states asked for; one thread, started when first needed.
class Callbacks {
 public:
  ~Callbacks();
  void add(Link& link, cl_event event, cl_int state, void(CL_CALLBACK* call)(cl_event, cl_int, void*), void* data);

 private:
  struct Waiting {
    Held<_cl_event> event;
    cl_int state;
    void(CL_CALLBACK* call)(cl_event, cl_int, void*);
    void* data;
  };
  void watch(Link& link);

  std::mutex mutex_;
  std::condition_variable added_;
  std::list<Waiting> waiting_;
  bool stop_ = false;
  std::thread thread_;
};

class Process {
 public:
  // The platform exists only where the daemon answered.
  [[nodiscard]] Link* link() const { return link_.get(); }
  [[nodiscard]] cl_platform_id platform() { return link_ ? &platform_ : nullptr; }
  [[nodiscard]] cl_device_id device() { return &device_; }
  // The device's answer to a query, asked once.
  cl_int device_info(cl_device_info name, std::vector<std::byte>& answer);
  template <typename T>
  T device_fact(cl_device_info name) {
    std::vector<std::byte> bytes;
    T value{};
    if (device_info(name, bytes) == CL_SUCCESS && bytes.size() >= sizeof value) {
      std::memcpy(&value, bytes.data(), sizeof value);
    }
    return value;
  }
  std::string device_text(cl_device_info name);

  // Of the driver's own commands: name 0, which every client has.
  [[nodiscard]] cl_command_queue own_queue() { return &own_queue_; }

  // Memory objects alive, for where a kernel's parameters are not known.
  void add_memory(cl_mem memory);
  void remove_memory(cl_mem memory);
  bool is_memory(const void* pointer);

  Callbacks& callbacks() { return callbacks_; }
  Mover& mover() { return mover_; }
  Copying& copying() { return copying_; }

 private:
  friend Process& process();
  Process();

  std::unique_ptr<Link> link_;
  _cl_platform_id platform_;
  _cl_device_id device_;
  _cl_command_queue own_queue_;
  std::mutex mutex_;
  std::map<cl_device_info, std::pair<cl_int, std::vector<std::byte>>> device_answers_;
  std::set<const void*> memory_;
  Callbacks callbacks_;
  Mover mover_;
  Copying copying_;
};

// Lives as long as the process does: applications release objects from their own destructors, in any order.
Process& process();
inline Link& link() { return *process().link(); }

}  // namespace wm::runtime::driver
