#include "runtime/client/opencl/process/host_copy_thread.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime::client {

HostCopyThread::~HostCopyThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostCopyThread::add(Connection& connection, EventId event, cl_mem memory, std::byte* to, const std::byte* from,
                         std::size_t size) {
  connection.retain_event(event);
  const std::lock_guard lock(mutex_);
  copies_.push_back({event, Retained<_cl_mem>(memory), to, from, size});
  if (!thread_.joinable()) thread_ = std::thread([this, &connection] { run(connection); });
  changed_.notify_all();
}

bool HostCopyThread::will_write(const std::byte* bytes, std::size_t size) {
  const std::lock_guard lock(mutex_);
  return std::any_of(copies_.begin(), copies_.end(), [&](const Copy& c) { return c.writes(bytes, size); });
}

void HostCopyThread::wait_for_writes(const std::byte* bytes, std::size_t size) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return stop_ || std::none_of(copies_.begin(), copies_.end(), [&](const Copy& c) { return c.writes(bytes, size); });
  });
}

void HostCopyThread::perform(Connection& connection, const Copy& copy) {
  if (connection.state(copy.event) == CL_RUNNING) {
    connection.process_completions();  // an earlier command may have read the data that is written now
    std::memcpy(copy.to, copy.from, copy.size);
    Writer done(Op::host_access_done);
    done.put(UserEvent{copy.event, CL_COMPLETE});
    connection.post(done);
  }
  connection.release_event(copy.event);
}

void HostCopyThread::run(Connection& connection) {
  for (;;) {
    const std::uint32_t seen = connection.changes();
    auto due = copies_.end();
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !copies_.empty(); });
      if (stop_) return;
      due = std::find_if(copies_.begin(), copies_.end(),
                         [&](const Copy& c) { return connection.state(c.event) <= CL_RUNNING; });
      if (due == copies_.end()) {
        lock.unlock();
        connection.wait_for_change(seen);
        continue;
      }
    }
    perform(connection, *due);  // without the lock: only this thread removes copies from the list
    std::list<Copy> done;
    {
      const std::lock_guard lock(mutex_);
      done.splice(done.end(), copies_, due);
    }
    changed_.notify_all();
  }
}

}  // namespace wm::runtime::client
