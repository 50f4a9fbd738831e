// The fake CUDA driver with a record of every call, in which one call may fail.
//
// Objects have names in the order of their creation. A call from a thread on which no context is current fails, as the
// driver's own does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/device/fake_cuda.h"

namespace wm::runtime::cuda {

class RecordedCuda {
 public:
  static constexpr Code kFailure = 999;

  // The driver that was made last is called. `failing`: the number of the call that fails, from 1; 0: none.
  explicit RecordedCuda(int failing);

  [[nodiscard]] const DriverCalls& calls() const { return calls_; }
  [[nodiscard]] FakeCuda& fake() { return fake_; }
  // The calls that may fail: those that destroy nothing.
  [[nodiscard]] int count() const { return count_; }
  void say(const std::string& line) { record_.push_back(line); }
  [[nodiscard]] const std::vector<std::string>& record() const { return record_; }
  // Objects and memory that were not destroyed.
  [[nodiscard]] std::vector<std::string> leaked() const;

  // --- for the driver's functions
  [[nodiscard]] const DriverCalls& inner() const { return inner_; }
  // The error that the call must answer with; 0: none.
  [[nodiscard]] Code refusal(const std::string& name);
  // Names an object, or `bytes` of memory.
  void add(const void* object, const std::string& kind, std::size_t bytes = 0);
  void remove(const void* object) { objects_.erase(reinterpret_cast<std::uint64_t>(object)); }
  // The object's name, or the place in the memory that has a name.
  [[nodiscard]] std::string name(const void* object) const;

 private:
  struct Object {
    std::string name;
    std::size_t bytes;
  };
  FakeCuda fake_;
  DriverCalls inner_, calls_;
  const int failing_;
  int count_ = 0;
  std::vector<std::string> record_;
  std::map<std::uint64_t, Object> objects_;
  std::map<std::string, int> made_;  // number of objects by kind
};

}  // namespace wm::runtime::cuda
