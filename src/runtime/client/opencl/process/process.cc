#include "runtime/client/opencl/process/process.h"

#include <cstdio>
#include <cstdlib>

namespace wm::runtime::client {

Process::Process() {
  // The daemon looks for platforms itself, and must not find this one.
  if (const char* off = std::getenv("WARPMUX_DISABLE"); off != nullptr && *off != 0) return;
  auto connected = Connection::connect(default_socket());
  if (connected) {
    connection_ = std::move(*connected);
  } else if (std::getenv("WARPMUX_VERBOSE") != nullptr) {
    std::fprintf(stderr, "warpmux: no daemon: %s\n", connected.error().what.c_str());
  }
}

Process& process() {
  static Process& the_process = *new Process();
  return the_process;
}

void post_release(ObjectKind kind, std::uint64_t id) {
  Writer message(Op::release);
  message.put(Release{id, kind, 0});
  connection().post(message);
}

cl_int Process::device_info(cl_device_info name, std::vector<std::byte>& answer) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = device_answers_.find(name); known != device_answers_.end()) {
      answer = known->second.second;
      return known->second.first;
    }
  }
  Writer message(Op::device_info);
  message.put(Query{0, name});
  const cl_int status = connection_->call(message, &answer);
  if (status != kDaemonLost) {
    const std::lock_guard lock(mutex_);
    device_answers_[name] = {status, answer};
  }
  return status;
}

std::string Process::device_string(cl_device_info name) {
  std::vector<std::byte> bytes;
  if (device_info(name, bytes) != CL_SUCCESS || bytes.empty()) return {};
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1);
}

void Process::add_memory(cl_mem memory) {
  const std::lock_guard lock(mutex_);
  memory_.insert(memory);
}
void Process::remove_memory(cl_mem memory) {
  const std::lock_guard lock(mutex_);
  memory_.erase(memory);
}
bool Process::is_memory(const void* pointer) {
  const std::lock_guard lock(mutex_);
  return memory_.contains(pointer);
}

}  // namespace wm::runtime::client
