#include "runtime/device/cuda/worker_tables.h"

#include <algorithm>
#include <cstring>

#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/events.h"

namespace wm::runtime::cuda {
namespace {

using rewrite::PersistentControl;
using rewrite::PersistentQueue;
constexpr unsigned kTableStreamFlags = 1, kWithoutTiming = 2;

}  // namespace

// Permits are copied from memory that is not pinned: the driver has taken the bytes when the call returns. Counts are
// copied to pinned memory, so that nobody waits for them.
class CudaWorkerTables::Table final : public WorkerTable {
 public:
  Table(Device& device, HostMemory& host, Stream stream, Address address)
      : device_(device),
        host_(host),
        stream_(stream),
        memory_(device, address, sizeof words_, CudaMemory::Owner::other),
        counts_(host.take(kCountBytes + sizeof(PersistentQueue))) {
    device_.cuda.create_event(&ready_.end, kWithoutTiming);
    device_.cuda.create_event(&answered_, kWithoutTiming);
  }
  ~Table() override {
    device_.make_current();
    if (ready_.end != nullptr) device_.cuda.destroy_event(ready_.end);
    if (answered_ != nullptr) device_.cuda.destroy_event(answered_);
    if (!counts_.empty()) host_.give_back(counts_);
    device_.free_words(memory_.address);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  [[nodiscard]] EventHandle ready_event() override {
    device_.make_current();
    if (is_written_ || device_.cuda.query_event(ready_.end) == kSuccess) is_written_ = true;
    return is_written_ ? nullptr : reinterpret_cast<EventHandle>(&ready_);
  }
  Status begin(const Permits& permits) override {
    words_ = {};
    is_asked_ = false;
    keep(permits);
    return write(0, &words_, sizeof words_);
  }
  Status change(const Permits& permits) override {
    keep(permits);
    constexpr std::size_t kFirst = offsetof(PersistentControl, limit);
    constexpr std::size_t kEnd = offsetof(PersistentControl, quota) + sizeof words_.quota;
    return write(kFirst, words_.limit, kEnd - kFirst);
  }
  void ask(const LaunchCounters& launch) override {
    if (is_asked_ || counts_.empty()) return;
    device_.make_current();
    const DriverCalls& cuda = device_.cuda;
    const Address queue = static_cast<const CudaLaunchCounters&>(launch).queue;
    is_asked_ = cuda.copy_to_host(counts_.data(), memory_.address + kFirstCount, kCountBytes, stream_) == kSuccess &&
                cuda.copy_to_host(counts_.data() + kCountBytes, queue, sizeof(PersistentQueue), stream_) == kSuccess &&
                cuda.record_event(answered_, stream_) == kSuccess;
    launch_ = &launch;
  }
  [[nodiscard]] bool answered(Counts& counts) override {
    device_.make_current();
    if (!is_asked_ || device_.cuda.query_event(answered_) != kSuccess) return false;
    is_asked_ = false;
    const auto copy = [&](std::size_t offset, std::vector<std::uint32_t>& to) {
      to.resize(static_cast<std::size_t>(device_.facts().multiprocessors));
      std::memcpy(to.data(), counts_.data() + offset - kFirstCount, to.size() * sizeof(std::uint32_t));
    };
    copy(offsetof(PersistentControl, resident), counts.workers);
    copy(offsetof(PersistentControl, done), counts.groups);
    copy(offsetof(PersistentControl, begun), counts.begun);
    PersistentQueue queue;
    std::memcpy(&queue, counts_.data() + kCountBytes, sizeof queue);
    counts.launch = launch_;
    counts.taken = queue.next;
    counts.started = queue.arrived;
    return true;
  }

 private:
  static constexpr std::size_t kFirstCount = offsetof(PersistentControl, begun);
  static constexpr std::size_t kCountBytes = sizeof(PersistentControl) - kFirstCount;

  void keep(const Permits& permits) {
    std::copy(permits.workers.begin(), permits.workers.end(), words_.limit);
    std::copy(permits.quotas.begin(), permits.quotas.end(), words_.quota);
  }
  Status write(std::size_t offset, const void* bytes, std::size_t size) {
    device_.make_current();
    is_written_ = false;
    const Code code = device_.cuda.copy_to_device(memory_.address + offset, bytes, size, stream_);
    return status_of(code != kSuccess ? code : device_.cuda.record_event(ready_.end, stream_));
  }

  Device& device_;
  HostMemory& host_;
  const Stream stream_;
  PersistentControl words_;
  CudaMemory memory_;
  CommandEvent ready_;
  bool is_written_ = true;
  const std::span<std::byte> counts_;
  Event answered_ = nullptr;
  const LaunchCounters* launch_ = nullptr;  // the last `ask` named it; only its address is used
  bool is_asked_ = false;
};

CudaWorkerTables::CudaWorkerTables(Device& device, HostMemory& host) : device_(device), host_(host) {
  device_.make_current();
  device_.cuda.create_stream(&stream_, kTableStreamFlags, device_.facts().greatest_priority);
  counters_ = std::make_unique<LaunchCounterPool>(device_, host_, stream_);
}

CudaWorkerTables::~CudaWorkerTables() {
  device_.make_current();
  if (stream_ != nullptr) device_.cuda.synchronize_stream(stream_);
  counters_.reset();
  tables_.clear();
  if (stream_ != nullptr) device_.cuda.destroy_stream(stream_);
}

std::shared_ptr<WorkerTable> CudaWorkerTables::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    Address address = 0;
    if (stream_ == nullptr || device_.allocate_words(address, sizeof(PersistentControl)) != kSuccess) return nullptr;
    tables_.push_back(std::make_unique<Table>(device_, host_, stream_, address));
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
