#include "sim/block/transfer_engine.h"

#include <algorithm>

#include "sim/block/app_trace.h"

namespace wm::sim {
namespace {

// A size times a clock needs more than 64 bits.
__extension__ using Wide = unsigned __int128;
// Runs end before it (system.cc); with a latency it still fits into 64 bits.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;

}  // namespace

TransferEngine::TransferEngine(const LinkConfig& config, Hertz clock)
    : config_(config), clock_(clock), latency_(to_cycles(config.latency, clock)) {}

std::uint64_t TransferEngine::cycles(std::uint64_t bytes) const {
  const std::uint64_t bursts = (bytes + config_.burst_bytes - 1) / config_.burst_bytes;
  const std::uint64_t rate = std::max<std::uint64_t>(1, config_.bytes_per_second);
  // Whole numbers: with floating-point ones half a cycle would be rounded up for some sizes and down for others.
  const Wide rounded = (Wide{bursts * config_.burst_bytes} * clock_.count + rate / 2) / rate;
  return latency_ + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min<Wide>(rounded, kLongest)));
}

bool TransferEngine::precedes(const Transfer& a, const Transfer& b) const {
  if (config_.order == LinkConfig::Order::priority && a.priority != b.priority) return a.priority > b.priority;
  return a.number < b.number;
}

void TransferEngine::submit(Direction direction, const Transfer& transfer) {
  std::deque<Transfer>& waiting = engine(direction).waiting;
  Transfer added = transfer;
  added.number = submitted_++;
  const auto at = std::find_if(waiting.begin(), waiting.end(), [&](const Transfer& t) { return precedes(added, t); });
  waiting.insert(at, added);
}

std::optional<std::uint64_t> TransferEngine::begin_next(Direction direction, std::uint64_t now) {
  Engine& e = engine(direction);
  const Engine& other = engine(direction == Direction::to_device ? Direction::to_host : Direction::to_device);
  if (e.under_way || e.waiting.empty()) return std::nullopt;
  if (!config_.duplex && other.under_way) return std::nullopt;
  if (!config_.duplex && !other.waiting.empty() && precedes(other.waiting.front(), e.waiting.front()))
    return std::nullopt;
  e.under_way = e.waiting.front();
  e.waiting.pop_front();
  return now + cycles(e.under_way->bytes);
}

Transfer TransferEngine::finish(Direction direction) {
  Engine& e = engine(direction);
  const Transfer done = *e.under_way;
  e.under_way.reset();
  return done;
}

}  // namespace wm::sim
