#include "runtime/device/cuda/worker_tables.h"

#include <algorithm>

#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/events.h"

namespace wm::runtime::cuda {
namespace {

using rewrite::PersistentControl;
constexpr unsigned kTableStreamFlags = 1, kWithoutTiming = 2;

}  // namespace

// Copies come from memory that is not pinned: the driver has taken the bytes when the call returns.
class CudaWorkerTables::Table final : public WorkerTable {
 public:
  Table(Device& device, Stream stream, Address address)
      : device_(device), stream_(stream), memory_(device, address, sizeof words_, CudaMemory::Owner::other) {
    device_.cuda.create_event(&ready_.end, kWithoutTiming);
  }
  ~Table() override {
    device_.make_current();
    if (ready_.end != nullptr) device_.cuda.destroy_event(ready_.end);
    device_.free_words(memory_.address);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  [[nodiscard]] EventHandle ready_event() override { return reinterpret_cast<EventHandle>(&ready_); }
  Status begin(const Permits& permits) override {
    words_ = {};
    keep(permits);
    return write(0, &words_, sizeof words_);
  }
  Status change(const Permits& permits) override {
    keep(permits);
    constexpr std::size_t kFirst = offsetof(PersistentControl, limit);
    constexpr std::size_t kEnd = offsetof(PersistentControl, quota) + sizeof words_.quota;
    return write(kFirst, words_.limit, kEnd - kFirst);
  }
  Status read(Counts& counts) override {
    device_.make_current();
    PersistentControl now;
    Code code = device_.cuda.copy_to_host(&now, memory_.address, sizeof now, stream_);
    if (code == kSuccess) code = device_.cuda.synchronize_stream(stream_);
    const auto sms = static_cast<std::size_t>(device_.facts().multiprocessors);
    counts.taken = now.next;
    counts.workers.assign(now.resident, now.resident + sms);
    counts.groups.assign(now.done, now.done + sms);
    counts.begun.assign(now.begun, now.begun + sms);
    return status_of(code);
  }

 private:
  void keep(const Permits& permits) {
    std::copy(permits.workers.begin(), permits.workers.end(), words_.limit);
    std::copy(permits.quotas.begin(), permits.quotas.end(), words_.quota);
  }
  Status write(std::size_t offset, const void* bytes, std::size_t size) {
    device_.make_current();
    const Code code = device_.cuda.copy_to_device(memory_.address + offset, bytes, size, stream_);
    return status_of(code != kSuccess ? code : device_.cuda.record_event(ready_.end, stream_));
  }

  Device& device_;
  const Stream stream_;
  PersistentControl words_;
  CudaMemory memory_;
  CommandEvent ready_;
};

CudaWorkerTables::CudaWorkerTables(Device& device) : device_(device) {
  device_.make_current();
  device_.cuda.create_stream(&stream_, kTableStreamFlags, device_.facts().greatest_priority);
}

CudaWorkerTables::~CudaWorkerTables() {
  device_.make_current();
  if (stream_ != nullptr) device_.cuda.synchronize_stream(stream_);
  tables_.clear();
  if (stream_ != nullptr) device_.cuda.destroy_stream(stream_);
}

std::shared_ptr<WorkerTable> CudaWorkerTables::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    Address address = 0;
    if (stream_ == nullptr || device_.allocate_words(address, sizeof(PersistentControl)) != kSuccess) return nullptr;
    tables_.push_back(std::make_unique<Table>(device_, stream_, address));
    free_.push_back(tables_.back().get());
  }
  Table* table = free_.back();
  free_.pop_back();
  return {table, [this](Table* back) {
            const std::lock_guard again(mutex_);
            free_.push_back(back);
          }};
}

}  // namespace wm::runtime::cuda
