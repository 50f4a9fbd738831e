// The place of a line: its L2 slice, and its bank and row in that slice's memory channel.
//
// Neighbouring pairs of lines go to different slices; the order of slices is rotated from group to group by a hash of
// the group, so that no power-of-two stride keeps to one channel. Within a group the map is a permutation: no two lines
// share a place in DRAM.
#pragma once

#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/message.h"

namespace wm::sim {

class AddressMap {
 public:
  explicit AddressMap(const gpu::GpuConfig& config)
      : slices_(config.l2.slices),
        channels_(config.dram.channels),
        banks_(config.dram.banks),
        lines_per_row_(config.dram.row_bytes / kLineBytes) {}

  struct Place {
    std::uint32_t channel = 0;
    std::uint32_t slice = 0;  // L2 slice within the channel
    std::uint32_t bank = 0;
    std::uint64_t row = 0;
  };

  [[nodiscard]] std::uint32_t slice(LineAddress line) const {
    const std::uint64_t pair = line >> 1;
    const std::uint64_t group = pair / slices_;
    return static_cast<std::uint32_t>((pair % slices_ + scatter(group) % slices_) % slices_);
  }
  [[nodiscard]] std::uint32_t channel_of_slice(std::uint32_t slice) const { return slice % channels_; }

  [[nodiscard]] Place place(LineAddress line) const {
    const std::uint32_t s = slice(line);
    const std::uint64_t group = (line >> 1) / slices_;
    const std::uint32_t slices_per_channel = slices_ / channels_;
    Place p{.channel = s % channels_, .slice = s / channels_};
    const std::uint64_t local = (group * slices_per_channel + p.slice) * 2 + (line & 1);
    const std::uint64_t row = local / lines_per_row_;
    p.row = row / banks_;
    p.bank = static_cast<std::uint32_t>((row + scatter(p.row)) % banks_);
    return p;
  }

 private:
  static std::uint64_t scatter(std::uint64_t x) { return (x * 0x9e3779b97f4a7c15ULL) >> 40; }

  std::uint32_t slices_;
  std::uint32_t channels_;
  std::uint32_t banks_;
  std::uint32_t lines_per_row_;
};

}  // namespace wm::sim
