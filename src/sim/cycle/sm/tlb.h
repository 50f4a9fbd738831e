// The pages whose translation an SM knows, and the time at which those it has asked for are known.
//
// A page that is not known is asked for at the GPU's memory management unit, which serves all SMs in turn: while all of
// them miss, each is served once in `interval` cycles, in the order of their numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/message.h"

namespace wm::sim {

class Tlb {
 public:
  Tlb(const gpu::TlbConfig& config, std::uint32_t sm, std::uint32_t sms)
      : shift_(static_cast<std::uint32_t>(std::countr_zero(config.page_bytes / kLineBytes))),
        latency_(config.latency + config.interval * sm / std::max(1U, sms)),
        interval_(config.interval),
        ways_(std::min(config.entries, kWays)),
        pages_(config.entries) {}

  // The time at which an access to the line at `at` has its translation.
  std::uint64_t translate(LineAddress line, std::uint64_t at) {
    if (pages_.empty()) return at;
    const std::uint64_t page = (line >> shift_) + 1;
    const auto first = pages_.begin() + static_cast<std::ptrdiff_t>(set_of(page) * ways_);
    const auto end = first + ways_;
    const auto known = std::find_if(first, end, [&](const Page& p) { return p.number == page; });
    if (known != end) {
      std::rotate(first, known, known + 1);
    } else {
      std::rotate(first, end - 1, end);
      const std::uint64_t begin = std::max(at, served_);
      served_ = begin + interval_;
      *first = {page, begin + latency_};
    }
    return std::max(at, first->ready);
  }

 private:
  struct Page {
    std::uint64_t number = 0;
    std::uint64_t ready = 0;
  };

  static constexpr std::uint32_t kWays = 4;

  // Numbers of kernels in addresses of local memory begin at page bit 19, numbers of clients at bit 42: their first
  // pages belong to different sets.
  [[nodiscard]] std::uint64_t set_of(std::uint64_t page) const {
    return (page ^ page >> 7 ^ page >> 19 ^ page >> 41) & (pages_.size() / ways_ - 1);
  }

  std::uint32_t shift_;
  std::uint32_t latency_;
  std::uint32_t interval_;
  std::uint64_t served_ = 0;  // the first cycle at which the next miss is served
  std::uint32_t ways_;
  std::vector<Page> pages_;  // by set, in each the one that was used last first
};

}  // namespace wm::sim
