// The transfer engine: copies between host and device memory over PCI Express, one at a time for each direction, in
// order of arrival or of priority. A copy that has begun is not interrupted. A link that is not duplex has one order
// for the copies of both directions.
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
  std::uint64_t number = 0;  // order of submission, set by the engine
};

class TransferEngine {
 public:
  enum class Direction : std::uint8_t { to_device, to_host };

  TransferEngine(const LinkConfig& config, Hertz clock);

  // Cycles of a copy of so many bytes.
  [[nodiscard]] std::uint64_t cycles(std::uint64_t bytes) const;

  void submit(Direction direction, const Transfer& transfer);
  // Begins the next copy if the direction's engine is free and, on a link that is not duplex, no copy of the other
  // direction precedes it. Returns its end; nothing if none begins.
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
  // Whether `a` goes before `b` where both wait.
  [[nodiscard]] bool precedes(const Transfer& a, const Transfer& b) const;

  LinkConfig config_;
  Hertz clock_;
  std::uint64_t latency_;
  std::array<Engine, 2> engines_;
  std::uint64_t submitted_ = 0;
};

}  // namespace wm::sim
