// The reason why a kernel stopped before its end: the access, its place in source and PTX, the thread, the address.
//
// A fault ends the launch it happened in and nothing else. `to_string()` is the message for the user: the first line
// names the fault and its place, further lines (nearest allocation, the warps' positions) are indented.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/lanes.h"
#include "gpu/application.h"

namespace wm::exec {

// The position of an instruction: the PTX line, and the source line if `.loc` gives one.
struct CodePlace {
  std::string function;
  std::string ptx_file;
  std::uint32_t ptx_line = 0;
  std::string source_file;
  std::uint32_t source_line = 0;

  // "vecadd.cl:7 (vecadd.ptx:31)", or "vecadd.ptx:31" where the source line is not known.
  [[nodiscard]] std::string to_string() const;
};

// The position of a warp, or of the lanes of one path, when the launch was stopped.
struct WarpPosition {
  gpu::Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
  Mask lanes = 0;
  CodePlace place;
  std::string instruction;  // its opcode with suffixes
  std::string waits_for;    // "barrier 0 (64 of 128 threads arrived)"; empty if it can continue

  [[nodiscard]] std::string to_string() const;
};

struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,        // no allocation holds the bytes accessed
    misaligned,           // the address is no multiple of the access size
    read_only,            // a store to constant memory or to kernel parameters
    bad_call,             // an indirect call or branch to an invalid target
    illegal_instruction,  // operands the instruction does not take, known only when it runs
    stack_overflow,
    trap,
    assertion,
    deadlock,
    instruction_limit,
    memory_limit,
  };

  Kind kind = Kind::trap;
  std::string kernel;
  CodePlace place;
  gpu::Dim3 block{0, 0, 0};
  gpu::Dim3 thread{0, 0, 0};
  bool has_thread = false;
  std::uint64_t address = 0;  // for memory faults
  std::uint32_t bytes = 0;
  std::string what;     // "global load of 4 bytes at 0x700000000400 is out of bounds"
  std::string nearest;  // "nearest allocation: 'x' [0x…, 0x…), 4 bytes before"; empty where it says nothing
  std::vector<WarpPosition> warps;  // for deadlocks and limits

  [[nodiscard]] std::string to_string() const;
};

}  // namespace wm::exec
