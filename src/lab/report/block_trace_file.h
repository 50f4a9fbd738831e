// A run on the block machine as a trace that ui.perfetto.dev opens, in Chrome's JSON format.
//
// There is a group of rows for each process (CPU phases, launches of each stream), one for the transfer engine and one
// for the SMs, which show the clients that have blocks there: the spans of a row must not overlap, so an SM has as many
// rows as it had clients at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/block/system.h"

namespace wm::lab {

class BlockTraceFile final : public sim::SystemObserver {
 public:
  // `processes` are the names in order; further ones get the name of their first kernel. A cycle of `clock` is the unit
  // of the run's times.
  BlockTraceFile(const std::vector<std::string>& processes, std::uint32_t sms, Hertz clock);

  void block_began(const sim::ObservedBlock& block, std::uint64_t at, std::uint64_t works_from, bool resumed) override;
  void block_left(const sim::ObservedBlock& block, std::uint64_t at, bool ended) override;
  void cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) override;
  void transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                std::uint64_t end) override;
  void launch_began(std::uint32_t process, std::uint32_t stream, const sim::KernelModel& kernel,
                    std::uint64_t at) override;
  void launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t at) override;
  void run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) override;
  // Viewers open files of up to about 2 GB.
  [[nodiscard]] bool full() const override { return events_.size() >= 2'000'000'000; }

  // The document of a run that ended at cycle `end`. Blocks and launches that were there still end with it, and CPU
  // phases and copies that would end later. Nothing is recorded after it.
  [[nodiscard]] std::string text(std::uint64_t end);

 private:
  struct Open {
    std::string name;
    std::uint64_t begin = 0;
    bool active = false;
  };
  // The blocks of one client on one SM.
  struct Residency {
    std::uint32_t blocks = 0;
    std::uint32_t row = 0;  // among those of the SM
    std::uint64_t begin = 0;
  };
  // A CPU phase or a copy, whose end is known when it begins. It is written when the next one of its row begins.
  struct Known {
    std::string name;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  void add_process(const std::string& name);
  void name_group(std::uint32_t group, const std::string& name);
  void name_row(std::uint32_t group, std::uint32_t row, const std::string& name);
  void span(std::uint32_t group, std::uint32_t row, const std::string& name, std::uint64_t begin, std::uint64_t end);
  void replace(Known& last, std::uint32_t group, std::uint32_t row, const Known& next);
  [[nodiscard]] std::uint32_t take_row(std::uint32_t sm);
  [[nodiscard]] std::uint32_t run_row(std::uint32_t process, std::uint64_t begin, std::uint64_t end);
  void end_residency(std::uint32_t sm, std::uint32_t client, std::uint64_t at);
  [[nodiscard]] double microseconds(std::uint64_t cycles) const {
    return static_cast<double>(cycles) * 1e6 / static_cast<double>(clock_.count);
  }

  std::vector<std::string> processes_;
  Hertz clock_;
  std::string events_;
  std::vector<Open> launches_;                     // by stream
  std::vector<std::uint32_t> stream_owners_;       // by stream
  std::vector<std::vector<Residency>> residents_;  // by SM, by stream
  std::vector<std::vector<bool>> rows_in_use_;     // by SM
  std::vector<std::vector<std::uint64_t>> runs_;   // by process, by row of its runs: the end of the last
  std::vector<Known> cpu_phases_;                  // by process, the last
  std::array<Known, 2> copies_;                    // to device, to host, the last
};

}  // namespace wm::lab
