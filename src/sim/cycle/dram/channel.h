// One DRAM channel's banks and data bus: the earliest time of each command, and its effect on the state.
//
// Time is the command clock, as an integer. Commands must be issued in non-decreasing time, each at or after
// `earliest`. Schedulers (schedulers/) choose among requests; this is only the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wm::sim {

struct DramSpec {
  std::uint32_t banks = 16;
  std::uint32_t row_bytes = 2048;
  std::uint32_t bytes_per_clock = 32;  // on the data bus, per command clock
  std::uint32_t tCL = 12;              // read to its data
  std::uint32_t tRP = 12;              // precharge to activate
  std::uint32_t tRC = 40;              // activate to activate, one bank
  std::uint32_t tRAS = 28;             // activate to precharge
  std::uint32_t tRCD = 12;             // activate to read or write
  std::uint32_t tRRD = 6;              // activate to activate, two banks
  std::uint32_t tWR = 12;              // end of write data to precharge
  std::uint32_t tWTR = 5;              // end of write data to read
  std::uint32_t tREFI = 0;             // from refresh to refresh; 0: none
  std::uint32_t tRFC = 0;              // duration of a refresh, without commands
};

enum class DramCommand : std::uint8_t { activate, precharge, read, write };
inline constexpr std::size_t kDramCommands = 4;

class DramChannel {
 public:
  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};

  explicit DramChannel(const DramSpec& spec) : spec_(spec), banks_(spec.banks) {}

  [[nodiscard]] std::uint64_t open_row(std::uint32_t bank) const { return banks_[bank].row; }

  // The first time `command` may be issued to `bank`, after all commands issued so far. Only legal in the right row
  // state: activate on a closed bank, the others on an open one. `bytes`: size of the transfer, for read and write.
  [[nodiscard]] std::uint64_t earliest(DramCommand command, std::uint32_t bank) const {
    return std::max(bank_ready(command, bank), ready(command));
  }
  // The two parts of it: when the bank allows the command, and when what all banks share does.
  [[nodiscard]] std::uint64_t bank_ready(DramCommand command, std::uint32_t bank) const {
    return banks_[bank].after[static_cast<std::size_t>(command)];
  }
  [[nodiscard]] std::uint64_t ready(DramCommand command) const {
    // A column command may go out once the bus is free when its data starts, tCL later.
    const std::uint64_t bus = bus_free_ > spec_.tCL ? bus_free_ - spec_.tCL : 0;
    switch (command) {
      case DramCommand::activate:
        return any_activate_after_;
      case DramCommand::precharge:
        return 0;
      case DramCommand::read:
        return std::max(bus, any_read_after_);
      case DramCommand::write:
        return bus;
    }
    return 0;
  }
  // `at`, or the end of the refresh it falls into.
  [[nodiscard]] std::uint64_t after_refresh(std::uint64_t at) const {
    if (spec_.tREFI == 0) return at;
    const std::uint64_t since = at % spec_.tREFI;
    return since < spec_.tRFC && at >= spec_.tREFI ? at - since + spec_.tRFC : at;
  }

  // Issues it; returns when its last data leaves the bus (read, write) or the time itself.
  std::uint64_t issue(DramCommand command, std::uint32_t bank, std::uint64_t row_or_bytes, std::uint64_t at);

  [[nodiscard]] const DramSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint64_t busy_clocks() const { return busy_clocks_; }  // total of the data bus

 private:
  struct Bank {
    std::uint64_t row = kClosed;
    std::array<std::uint64_t, kDramCommands> after{};  // by command: when the bank can take it
    std::uint64_t& after_of(DramCommand command) { return after[static_cast<std::size_t>(command)]; }
  };

  DramSpec spec_;
  std::vector<Bank> banks_;
  std::uint64_t any_activate_after_ = 0;
  std::uint64_t any_read_after_ = 0;
  std::uint64_t bus_free_ = 0;
  std::uint64_t busy_clocks_ = 0;
};

}  // namespace wm::sim
