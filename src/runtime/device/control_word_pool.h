// Words in device memory that workers read: the queue they take groups from, and how many of them may continue.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/device/backend.h"

namespace wm::runtime {

class ControlWord {
 public:
  ControlWord() = default;
  virtual ~ControlWord() = default;
  ControlWord(const ControlWord&) = delete;
  ControlWord& operator=(const ControlWord&) = delete;

  [[nodiscard]] virtual const MemoryObject& memory() const = 0;
  // The event that a launch must wait for to see the initial value; null where the value is there already. It belongs
  // to the word.
  [[nodiscard]] virtual EventHandle ready_event() = 0;
  // Takes effect while a kernel that reads the word runs.
  virtual Status set(std::uint32_t value) = 0;
  // Only after a launch that uses the word has started.
  [[nodiscard]] virtual std::uint32_t get() const = 0;
};

class ControlWordPool {
 public:
  ControlWordPool() = default;
  virtual ~ControlWordPool() = default;
  ControlWordPool(const ControlWordPool&) = delete;
  ControlWordPool& operator=(const ControlWordPool&) = delete;

  // Initial values: 0 groups taken; all workers may continue.
  enum class Kind { queue, control };
  // Null: the device has no memory for one. The word returns to the pool with its last owner.
  virtual std::shared_ptr<ControlWord> take(Kind kind) = 0;
};

}  // namespace wm::runtime
