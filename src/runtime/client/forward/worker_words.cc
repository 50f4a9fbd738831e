#include "runtime/client/forward/worker_words.h"

#include <cstdlib>

#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

WorkerWords*& WorkerWords::instance() {
  static auto* only = new WorkerWords;
  return only;
}

// Another thread may hold the mutex in the process that was forked, so that the object is not used again.
void WorkerWords::forget_after_fork() { instance() = new WorkerWords; }

std::optional<WorkerWords::Launch> WorkerWords::take() {
  const RealFunctions& f = real();
  CUcontext context = nullptr;
  if (f.cuCtxGetCurrent == nullptr || f.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return {};
  const AllowedInCaptures allowed;
  const std::lock_guard lock(mutex_);
  auto at = tables_.find(context);
  if (at == tables_.end()) {
    at = tables_.emplace(context, WorkerTable::make(allowed_)).first;
    // The driver ends after this, since it has begun before.
    static const int at_exit = std::atexit([] { Lock(get()).forget_all(); });
    (void)at_exit;
  }
  if (at->second == nullptr) return {};
  const auto words = at->second->take();
  if (!words) return {};
  return Launch{context, *words, allowed_};
}

unsigned WorkerWords::launched(const Launch& launch, WorkerKernel kernel) {
  const AllowedInCaptures allowed;
  const std::lock_guard lock(mutex_);
  const auto at = tables_.find(launch.context);
  if (at == tables_.end() || at->second == nullptr) return 0;
  at->second->launched(launch.words, std::move(kernel));
  return allowed_ > launch.allowed_sms ? at->second->add_workers() : 0;
}

void WorkerWords::give_back(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  if (const auto at = tables_.find(launch.context); at != tables_.end() && at->second != nullptr)
    at->second->give_back(launch.words);
}

void WorkerWords::forget(CUfunction function) {
  const std::lock_guard lock(mutex_);
  for (auto& [context, table] : tables_) {
    if (table != nullptr) table->forget(function);
  }
}

template <typename Visit>
void WorkerWords::for_each(Visit&& visit) {
  const RealFunctions& f = real();
  if (f.cuCtxSetCurrent == nullptr) return;
  const AllowedInCaptures allowed;
  for (auto& [context, table] : tables_) {
    if (table == nullptr) continue;
    // A context whose kernels have failed takes no more calls, and its kernels do not run any more.
    if (f.cuCtxSetCurrent(context) != CUDA_SUCCESS || !visit(*table)) table = nullptr;
  }
}

unsigned WorkerWords::allow(std::uint32_t sms) {
  const std::lock_guard lock(mutex_);
  if (sms == allowed_) return 0;
  const bool has_more = sms > allowed_;
  allowed_ = sms;
  unsigned added = 0;
  for_each([&](WorkerTable& table) {
    if (!table.allow(sms)) return false;
    if (has_more) added += table.add_workers();
    return true;
  });
  return added;
}

std::optional<WorkerWords::Look> WorkerWords::look() {
  const std::lock_guard lock(mutex_);
  bool is_known = false;
  Look seen;
  runtime::SmSet beyond;  // the limit
  for_each([&](WorkerTable& table) {
    const auto resident = table.resident();
    is_known |= resident.has_value();
    if (resident) {
      beyond |= *resident >> allowed_;
      seen.is_running |= resident->any();
      seen.added += table.add_where_few(*resident, allowed_);
    }
    return resident.has_value();
  });
  seen.leaving = static_cast<std::uint32_t>(beyond.count());
  return is_known ? std::optional(seen) : std::nullopt;
}

}  // namespace wm::forward
