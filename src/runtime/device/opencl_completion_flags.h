// Completion flags written by copies from device memory.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "runtime/device/completion_flags.h"
#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class OpenClCompletionFlags final : public CompletionFlags {
 public:
  explicit OpenClCompletionFlags(const Native& native);
  ~OpenClCompletionFlags() override;

  [[nodiscard]] std::optional<Flag> enqueue(const QueueObject& queue, EventHandle after) override;
  [[nodiscard]] bool is_set(const Flag& flag) const override;
  void release(const Flag& flag) override;

 private:
  [[nodiscard]] std::optional<std::uint32_t> free_place();

  const Native& native_;
  void* page_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem numbers_ = nullptr;         // in device memory: every number that a flag may have
  cl_mem host_ = nullptr;            // the page, so that the device reaches it by itself
  std::vector<std::uint32_t> uses_;  // number of uses of each place
  std::deque<std::uint32_t> free_;
  std::deque<Flag> unset_;  // released before they were set
};

}  // namespace wm::runtime
