// The SM that %smid tells a block of a launch without time.
#pragma once

#include <vector>

#include "exec/block.h"

namespace wm::exec {

// Blocks run on `sms` (in ascending order) in turn; null: all on SM 0, the only one.
[[nodiscard]] inline Block::SmNumbers sm_numbers_of(std::uint64_t block, const std::vector<std::uint32_t>* sms) {
  if (sms == nullptr || sms->empty()) return {};
  return {(*sms)[block % sms->size()], sms->back() + 1};
}

}  // namespace wm::exec
