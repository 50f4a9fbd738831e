#include "sim/cycle/dram/channel.h"

#include <algorithm>

namespace wm::sim {

std::uint64_t DramChannel::issue(DramCommand command, std::uint32_t bank, std::uint64_t row_or_bytes,
                                 std::uint64_t at) {
  Bank& b = banks_[bank];
  switch (command) {
    case DramCommand::activate:
      b.row = row_or_bytes;
      b.after_of(DramCommand::read) = at + spec_.tRCD;
      b.after_of(DramCommand::write) = at + spec_.tRCD;
      b.after_of(DramCommand::precharge) = at + spec_.tRAS;
      b.after_of(DramCommand::activate) = at + spec_.tRC;
      any_activate_after_ = at + spec_.tRRD;
      return at;
    case DramCommand::precharge:
      b.row = kClosed;
      b.after_of(DramCommand::activate) = std::max(b.after_of(DramCommand::activate), at + spec_.tRP);
      return at;
    case DramCommand::read:
    case DramCommand::write:
      break;
  }
  const std::uint64_t clocks = (row_or_bytes + spec_.bytes_per_clock - 1) / spec_.bytes_per_clock;
  const std::uint64_t done = at + spec_.tCL + clocks;
  bus_free_ = done;
  busy_clocks_ += clocks;
  std::uint64_t& precharge_after = b.after_of(DramCommand::precharge);
  if (command == DramCommand::write) {
    precharge_after = std::max(precharge_after, done + spec_.tWR);
    any_read_after_ = std::max(any_read_after_, done + spec_.tWTR);
  } else {
    precharge_after = std::max(precharge_after, at + clocks);
  }
  return done;
}

}  // namespace wm::sim
