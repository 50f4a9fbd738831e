// Calls the functions that applications registered with clSetEventCallback, on one thread that starts when it is first
// needed.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "runtime/client/opencl/connection/connection.h"
#include "runtime/client/opencl/objects/objects.h"

namespace wm::runtime::client {

class EventCallbacks {
 public:
  using Function = void(CL_CALLBACK*)(cl_event, cl_int, void*);

  ~EventCallbacks();
  // Calls `function` when the event has reached `state`. The event is retained until then.
  void add(Connection& connection, cl_event event, cl_int state, Function function, void* data);

 private:
  struct Callback {
    Retained<_cl_event> event;
    cl_int state;
    Function function;
    void* data;
  };
  void run(Connection& connection);

  std::mutex mutex_;
  std::condition_variable added_;
  std::list<Callback> callbacks_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime::client
