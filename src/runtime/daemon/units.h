// Compute units, where a worker can tell on which one it runs (NVIDIA's GPUs): which launch has which of them.
//
// Workers of several launches on one unit are what shares of threads and local memory would suggest. On a GPU they keep
// each other out: a unit divides its memory into cache and local memory for one kernel at a time, a launch that needs
// more local memory waits until the unit is empty, and every launch behind it waits too. So a launch's share of the
// device is a share of its units, and there it has all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/daemon/native.h"

namespace wm::runtime {

// What the device says about its units; none where workers cannot tell.
struct UnitsFound {
  std::vector<std::uint32_t> ids;
  std::string build;  // what the rewritten form is built with, so that its workers ask
};
UnitsFound find_units(const Native& native);

class Units {
 public:
  explicit Units(std::vector<std::uint32_t> ids = {});
  [[nodiscard]] bool known() const { return !ids_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ids_.size()); }

  struct Wish {
    std::uint32_t tag;  // of a launch; not 0
    std::uint32_t units;
  };
  // Who has too many gives up its last, who has too few takes free ones, and nobody's others move. Launches that are
  // not named have none. False: all stays as it was.
  bool divide(std::span<const Wish> wishes);
  [[nodiscard]] std::uint32_t of(std::uint32_t tag) const;
  // Tags by unit, as the device numbers them; 0: nobody's.
  [[nodiscard]] const std::vector<std::uint32_t>& table() const { return table_; }

 private:
  std::vector<std::uint32_t> ids_, table_;
};

// The table in the device's memory, which workers look at between groups.
class UnitTable {
 public:
  UnitTable(const Native& native, std::size_t entries);
  ~UnitTable();
  UnitTable(const UnitTable&) = delete;
  UnitTable& operator=(const UnitTable&) = delete;

  [[nodiscard]] cl_mem memory() const { return memory_; }
  void write(const std::vector<std::uint32_t>& table);

 private:
  struct Copy {
    std::vector<std::uint32_t> words;  // outlive the command that writes them
    cl_event written = nullptr;
  };
  const Native& native_;
  cl_command_queue queue_ = nullptr;
  cl_mem memory_ = nullptr;
  std::array<Copy, 16> copies_;
  std::size_t next_ = 0;
};

}  // namespace wm::runtime
