// The transfer engine: copies between host and device memory over PCI Express, one at a time for each direction, in
// order of arrival or of priority. A copy that has begun is not interrupted.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/block/system_config.h"

namespace wm::sim {

struct Transfer {
  std::uint32_t queue = 0;  // the hardware queue it came from
  std::uint64_t bytes = 0;
  int priority = 0;
};

class TransferEngine {
 public:
  enum class Direction : std::uint8_t { to_device, to_host };

  TransferEngine(const LinkConfig& config, Hertz clock);

  // Cycles of a copy of so many bytes.
  [[nodiscard]] std::uint64_t cycles(std::uint64_t bytes) const;

  void submit(Direction direction, const Transfer& transfer);
  // Begins the next copy if the direction's engine is free. Returns its end; nothing if none begins.
  std::optional<std::uint64_t> begin_next(Direction direction, std::uint64_t now);
  [[nodiscard]] const std::optional<Transfer>& under_way(Direction d) const {
    return engines_[static_cast<std::size_t>(d)].under_way;
  }
  // The copy under way in that direction has ended.
  Transfer finish(Direction direction);

 private:
  struct Engine {
    std::deque<Transfer> waiting;
    std::optional<Transfer> under_way;
  };
  [[nodiscard]] Engine& engine(Direction d) { return engines_[static_cast<std::size_t>(d)]; }

  LinkConfig config_;
  Hertz clock_;
  std::uint64_t latency_;
  std::array<Engine, 2> engines_;
};

}  // namespace wm::sim
