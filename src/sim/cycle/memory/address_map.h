// The place of a line: its L2 slice, and its bank and row in that slice's memory channel.
//
// Neighbouring chunks (pairs of lines) go to different slices. With `l2.chunks` of more than 1 two slices take turns
// until each has so many; then the next two slices follow. The order of slices is rotated from group to group by a hash
// of the group, so that no power-of-two stride keeps to one channel. Within a group the map is a permutation: no two
// lines share a place in DRAM.
#pragma once

#include <cstdint>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/divisor.h"
#include "sim/cycle/memory/message.h"

namespace wm::sim {

class AddressMap {
 public:
  explicit AddressMap(const gpu::GpuConfig& config)
      : slices_(config.l2.slices),
        chunks_(config.l2.chunks),
        channels_(config.dram.channels),
        banks_(config.dram.banks),
        lines_per_row_(config.dram.row_bytes / kLineBytes),
        slices_per_channel_(config.l2.slices / config.dram.channels) {}

  struct Place {
    std::uint32_t channel = 0;
    std::uint32_t slice = 0;  // L2 slice within the channel
    std::uint32_t bank = 0;
    std::uint64_t row = 0;
  };

  [[nodiscard]] std::uint32_t slice(LineAddress line) const {
    const std::uint64_t turn = turn_of(line >> 1);
    return static_cast<std::uint32_t>((turn % slices_ + scatter(turn / slices_) % slices_) % slices_);
  }
  [[nodiscard]] std::uint32_t channel_of_slice(std::uint32_t slice) const {
    return static_cast<std::uint32_t>(slice % channels_);
  }
  [[nodiscard]] std::uint32_t slice_in_channel(LineAddress line) const {
    return static_cast<std::uint32_t>(slice(line) / channels_);
  }

  [[nodiscard]] Place place(LineAddress line) const {
    const std::uint32_t s = slice(line);
    const std::uint64_t group = turn_of(line >> 1) / slices_;
    Place p{.channel = channel_of_slice(s), .slice = static_cast<std::uint32_t>(s / channels_)};
    const std::uint64_t chunk = (group * slices_per_channel_ + p.slice) * chunks_.value() + (line >> 2) % chunks_;
    const std::uint64_t row = (chunk * 2 + (line & 1)) / lines_per_row_;
    p.row = row / banks_;
    p.bank = static_cast<std::uint32_t>((row + scatter(p.row)) % banks_);
    return p;
  }

 private:
  // The number of a chunk's turn: chunks of one slice in a group of neighbours have the same.
  [[nodiscard]] std::uint64_t turn_of(std::uint64_t chunk) const {
    return chunks_.value() == 1 ? chunk : chunk / 2 / chunks_ * 2 + chunk % 2;
  }
  static std::uint64_t scatter(std::uint64_t x) { return (x * 0x9e3779b97f4a7c15ULL) >> 40; }

  Divisor slices_;
  Divisor chunks_;
  Divisor channels_;
  Divisor banks_;
  Divisor lines_per_row_;
  std::uint32_t slices_per_channel_;
};

}  // namespace wm::sim
