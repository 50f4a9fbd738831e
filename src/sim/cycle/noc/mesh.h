// A two-dimensional mesh between SMs and memory channels: messages go along rows first, then columns, link by link.
//
// A link carries one message after the other, each for the time of its bytes; a router adds its latency. Messages must
// be handed over in order of time. Requests and replies have links of their own (two meshes), so neither can block the
// other. Memory channels sit spread among the SMs.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::sim {

struct MeshSpec {
  std::uint32_t sms = 1;
  std::uint32_t channels = 1;
  std::uint32_t hop_latency = 4;
  std::uint32_t bytes_per_cycle = 32;
};

class Mesh {
 public:
  explicit Mesh(const MeshSpec& spec);

  [[nodiscard]] std::uint32_t node_of_sm(std::uint32_t sm) const { return sm_nodes_[sm]; }
  [[nodiscard]] std::uint32_t node_of_channel(std::uint32_t channel) const { return channel_nodes_[channel]; }
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;

  // When a message of so many bytes that enters at `from` at `time` arrives at `to`.
  std::uint64_t travel(std::uint32_t from, std::uint32_t to, std::uint64_t time, std::uint32_t bytes);

 private:
  enum Direction : std::uint32_t { kEast, kWest, kSouth, kNorth };

  MeshSpec spec_;
  std::uint32_t width_ = 1;
  std::vector<std::uint32_t> sm_nodes_;
  std::vector<std::uint32_t> channel_nodes_;
  std::vector<std::uint64_t> free_;  // by node and direction: when the link takes its next message
};

}  // namespace wm::sim
