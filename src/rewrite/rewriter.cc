#include "rewrite/rewriter.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace wm::rewrite {

Result<Reply> Rewriter::rewrite(const Request& request) {
  if (!options_.cache_folder.empty()) {
    if (auto reply = Cache(options_.cache_folder).find(request)) {
      const std::lock_guard lock(mutex_);
      ++cached_;
      return *std::move(reply);
    }
  }
  const std::lock_guard lock(mutex_);
  auto reply = ask(request);
  // A cache that cannot be written costs time at the next run and nothing else.
  if (reply && !options_.cache_folder.empty()) (void)Cache(options_.cache_folder).store(request, *reply).ok();
  return reply;
}

Result<Reply> Rewriter::ask(const Request& request) {
  if (options_.worker.empty()) return Error{"no wm-rewrite here, and the program is in no cache"};
  for (;;) {
    const bool fresh = !worker_;
    if (fresh) {
      auto started = WorkerProcess::start(options_.worker);
      if (!started) return started.error();
      worker_ = *std::move(started);
    }
    auto reply = worker_->ask(request, options_.limit);
    if (reply) {
      ++asked_;
      return reply;
    }
    worker_.reset();
    if (fresh)
      return reply;  // a process kept from earlier may have died of another cause; a new one died of this program
  }
}

void Rewriter::warm_up() {
  const std::lock_guard lock(mutex_);
  if (options_.worker.empty() || worker_) return;
  (void)ask({.source = "kernel void first(global int* x) { x[get_global_id(0)] = 1; }"}).ok();
}

std::uint64_t Rewriter::cached() const {
  const std::lock_guard lock(mutex_);
  return cached_;
}

std::uint64_t Rewriter::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::string find_worker() { return find_program("WM_REWRITE", "wm-rewrite"); }

}  // namespace wm::rewrite
