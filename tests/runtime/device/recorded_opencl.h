// The OpenCL driver that computes nothing, with a record of every call, in which one call may fail.
//
// Objects have names in the order of their creation. Queries are answered as the test says. Several threads may call.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/opencl_native.h"

namespace wm::runtime::test {

class OpenClRecord {
 public:
  static constexpr cl_int kFailure = -77;

  // `failing`: the number of the call that fails, from 1; 0: none.
  explicit OpenClRecord(int failing) : failing_(failing) {}
  // A driver whose calls this object records; one at a time.
  std::unique_ptr<Native> driver(bool cpu);

  // Answers of queries that are numbers and texts, by their name.
  std::map<cl_uint, std::uint64_t> numbers;
  std::map<cl_uint, std::string> texts;

  // The calls that may fail: those that release nothing.
  [[nodiscard]] int count() const { return count_; }
  void say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  // Objects that were not released.
  [[nodiscard]] std::vector<std::string> leaked() const;

  // --- for the driver's functions
  NativeCalls inner;
  [[nodiscard]] bool fails(const std::string& name);
  void add(const void* object, const std::string& kind);
  void remove(const void* object) {
    const std::lock_guard lock(mutex_);
    objects_.erase(object);
  }
  [[nodiscard]] std::string name(const void* object) const;

 private:
  mutable std::mutex mutex_;  // guards the following
  const int failing_;
  int count_ = 0;
  std::vector<std::string> lines_;
  std::map<const void*, std::string> objects_;
  std::map<std::string, int> made_;  // number of objects by kind
};

}  // namespace wm::runtime::test
