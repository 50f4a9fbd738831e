// Rows of constants: each value once for each width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "exec/lanes.h"
#include "exec/program.h"

namespace wm::exec {

class ConstantPool {
 public:
  // A row of `bytes`-wide lanes that all hold `bits`.
  RegisterRow row(int bytes, std::uint64_t bits);
  // The mask of a predicate that is the same for all lanes.
  RegisterRow predicate(bool value) { return row(0, value ? 1 : 0); }
  // A row of the address of a module variable, filled in when a client links the program.
  RegisterRow address(int bytes, std::uint32_t variable, std::int64_t addend);

  std::vector<std::byte> bytes;
  std::vector<PoolRelocation> relocations;

 private:
  RegisterRow append(int lane_bytes, std::uint64_t bits);

  std::map<std::pair<int, std::uint64_t>, RegisterRow> rows_;
  std::map<std::tuple<int, std::uint32_t, std::int64_t>, RegisterRow> addresses_;
};

}  // namespace wm::exec
