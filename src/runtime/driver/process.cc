#include "runtime/driver/process.h"

#include <cstdio>
#include <cstdlib>

namespace wm::runtime::driver {

Process::Process() {
  // The daemon itself looks for platforms, and must not find this one.
  if (const char* off = std::getenv("WARPMUX_DISABLE"); off != nullptr && *off != 0) return;
  auto made = Link::connect(default_socket());
  if (made) {
    link_ = std::move(*made);
  } else if (std::getenv("WARPMUX_VERBOSE") != nullptr) {
    std::fprintf(stderr, "warpmux: no daemon: %s\n", made.error().what.c_str());
  }
}

Process& process() {
  static Process& the_process = *new Process();
  return the_process;
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
  const cl_int status = link_->call(message, &answer);
  if (status != kGone) {
    const std::lock_guard lock(mutex_);
    device_answers_[name] = {status, answer};
  }
  return status;
}

std::string Process::device_text(cl_device_info name) {
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

Callbacks::~Callbacks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  added_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Callbacks::add(Link& link, cl_event event, cl_int state, void(CL_CALLBACK* call)(cl_event, cl_int, void*),
                    void* data) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({Held<_cl_event>(event), state, call, data});
  if (!thread_.joinable()) thread_ = std::thread([this, &link] { watch(link); });
  added_.notify_all();
}

void Callbacks::watch(Link& link) {
  for (;;) {
    const std::uint32_t seen = link.changes();
    std::list<Waiting> due;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      for (auto it = waiting_.begin(); it != waiting_.end();) {
        const auto next = std::next(it);
        if (link.state(it->event->slot) <= it->state) due.splice(due.end(), waiting_, it);
        it = next;
      }
    }
    for (Waiting& w : due) {
      const cl_int now = link.state(w.event->slot);
      w.call(w.event.get(), now < 0 ? now : w.state, w.data);
    }
    if (due.empty()) link.wait_for_change(seen);
  }
}

}  // namespace wm::runtime::driver
