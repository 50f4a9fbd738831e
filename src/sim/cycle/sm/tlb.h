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
        pages_(config.entries) {}

  // The time at which an access to the line at `at` has its translation.
  std::uint64_t translate(LineAddress line, std::uint64_t at) {
    if (pages_.empty()) return at;
    const std::uint64_t page = (line >> shift_) + 1;
    Page& known = pages_[(page ^ page >> 7) & (pages_.size() - 1)];
    if (known.number != page) {
      const std::uint64_t begin = std::max(at, served_);
      served_ = begin + interval_;
      known = {page, begin + latency_};
    }
    return std::max(at, known.ready);
  }

 private:
  struct Page {
    std::uint64_t number = 0;
    std::uint64_t ready = 0;
  };

  std::uint32_t shift_;
  std::uint32_t latency_;
  std::uint32_t interval_;
  std::uint64_t served_ = 0;  // the first cycle at which the next miss is served
  std::vector<Page> pages_;   // direct-mapped
};

}  // namespace wm::sim
