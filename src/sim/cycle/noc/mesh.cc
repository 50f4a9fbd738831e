#include "sim/cycle/noc/mesh.h"

#include <algorithm>
#include <cstdlib>

namespace wm::sim {

Mesh::Mesh(const MeshSpec& spec) : spec_(spec) {
  const std::uint32_t nodes = spec.sms + spec.channels;
  while (width_ * width_ < nodes) ++width_;
  // Memory channels are at every `spacing`-th node.
  const std::uint32_t spacing = nodes / spec.channels;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const bool channel = n % spacing == spacing / 2 && channel_nodes_.size() < spec.channels;
    (channel ? channel_nodes_ : sm_nodes_).push_back(n);
  }
  free_.assign(std::size_t{width_} * width_ * 4, 0);
}

std::uint32_t Mesh::hops(std::uint32_t from, std::uint32_t to) const {
  const auto apart = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
  return apart(from % width_, to % width_) + apart(from / width_, to / width_);
}

std::uint64_t Mesh::travel(std::uint32_t from, std::uint32_t to, std::uint64_t time, std::uint32_t bytes) {
  const std::uint32_t flits = (bytes + spec_.bytes_per_cycle - 1) / spec_.bytes_per_cycle;
  while (from != to) {
    const bool row = from % width_ != to % width_;
    const bool up = row ? from % width_ < to % width_ : from / width_ < to / width_;
    const Direction way = row ? (up ? kEast : kWest) : (up ? kSouth : kNorth);
    std::uint64_t& free = free_[std::size_t{from} * 4 + way];
    time = std::max(time, free);
    free = time + flits;
    time += spec_.hop_latency;
    const std::uint32_t step = row ? 1 : width_;
    from = up ? from + step : from - step;
  }
  return time;
}

}  // namespace wm::sim
