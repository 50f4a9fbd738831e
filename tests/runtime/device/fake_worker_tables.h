// Worker tables without workers: their counts are what permits allow, and grow a little with every question.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/worker_tables.h"

namespace wm::runtime::test {

struct FakeCounters final : LaunchCounters {
  [[nodiscard]] bool is_complete() const override { return complete; }
  bool complete = false;
  std::uint32_t taken = 0, started = 0;
};

class FakeTable final : public WorkerTable {
 public:
  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  Status begin(const Permits& permits) override {
    counts_ = {};
    ++begun;
    return change(permits);
  }
  Status change(const Permits& permits) override {
    workers.assign(permits.workers.begin(), permits.workers.end());
    quotas.assign(permits.quotas.begin(), permits.quotas.end());
    counts_.workers.resize(workers.size());
    counts_.groups.resize(workers.size());
    counts_.begun.resize(workers.size());
    ++changes;
    return status::kSuccess;
  }
  [[nodiscard]] EventHandle ready_event() override { return nullptr; }
  void ask(const LaunchCounters& launch) override {
    asked_ = &launch;
    counts_.taken = static_cast<const FakeCounters&>(launch).taken;
    counts_.started = static_cast<const FakeCounters&>(launch).started;
    ++questions;
  }
  [[nodiscard]] bool answered(Counts& counts) override {
    if (asked_ == nullptr || workers.empty()) return false;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      counts_.workers[i] = workers[i] - (i == questions % workers.size() && workers[i] != 0 ? 1 : 0);
      counts_.groups[i] += questions % 3;
      counts_.begun[i] += quotas[i] != 0 ? questions % 2 : 0;
    }
    counts_.launch = asked_;
    counts = counts_;
    asked_ = nullptr;
    return true;
  }

  std::vector<std::uint32_t> workers, quotas;  // as permitted
  std::uint32_t begun = 0, changes = 0, questions = 0;

 private:
  struct Memory final : MemoryObject {};
  Memory memory_;
  Counts counts_;
  const LaunchCounters* asked_ = nullptr;
};

class FakeTables final : public WorkerTables {
 public:
  FakeTables(std::vector<std::weak_ptr<FakeTable>>& made, const bool& without_tables, const bool& without_counters)
      : no_tables(without_tables), no_counters(without_counters), made_(made) {}
  const bool &no_tables, &no_counters;  // the device has no memory for them
  std::shared_ptr<WorkerTable> take() override {
    if (no_tables) return nullptr;
    auto table = std::make_shared<FakeTable>();
    made_.push_back(table);
    return table;
  }
  // Counters are compared by their addresses, so none is used again.
  std::shared_ptr<LaunchCounters> take_counters() override {
    if (no_counters) return nullptr;
    return counters_.emplace_back(std::make_shared<FakeCounters>());
  }

 private:
  std::vector<std::weak_ptr<FakeTable>>& made_;
  std::vector<std::shared_ptr<FakeCounters>> counters_;
};

}  // namespace wm::runtime::test
