// A kernel decoded once: a flat array of operations for the kernel and every function it can call.
//
// Branch targets and reconvergence points are indices into that array (a "pc"), registers are rows of a frame (lanes.h)
// that share their place if they are never live together, immediates are rows of a constant pool. A Program knows
// no client and no launch: any number of them can run it at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/fault.h"
#include "exec/instruction_class.h"
#include "exec/lanes.h"
#include "exec/tile.h"
#include "ptx/ir.h"

namespace wm::exec {

inline constexpr std::uint32_t kNoPc = 0xffffffffU;

// Addresses of the param space: the kernel's own parameters from 0, those of the running function and of the calls it
// prepares from here.
inline constexpr std::uint64_t kFrameParameters = 0x100000;

// The code that executes an operation: `lane` is a routine of lane_ops.h, the others are parts of Warp.
enum class Kind : std::uint8_t {
  lane,
  // These work on registers and memory and do not change the paths of a warp.
  load,
  store,
  atomic,     // atom
  reduction,  // red
  async_copy,
  matrix_load,
  matrix_store,
  surface_load,
  surface_store,
  surface_reduction,
  texture,        // tex, tld4
  texture_query,  // txq, suq
  matrix_move,
  mbarrier,
  stack,         // alloca, stacksave, stackrestore
  to_generic,    // cvta
  from_generic,  // cvta.to
  in_space,      // isspacep
  active_mask,
  nothing,  // no effect without timing: fences, cp.async.wait_all, prefetches
  // These may change the paths.
  branch,
  indexed_branch,
  call,
  indirect_call,
  ret,
  exit,
  trap,
  barrier,
  warp_barrier,
  vote,
  match,
  shuffle,
  warp_reduce,
  elect,
};
[[nodiscard]] constexpr bool keeps_paths(Kind kind) { return kind <= Kind::nothing; }

// The variant of an operation, where its Kind has several.
enum class Mode : std::uint8_t {
  none,
  add,
  min,
  max,
  inc,
  dec,
  and_,
  or_,
  xor_,
  exch,
  cas,  // atomics, redux
  all,
  any,
  uni,
  ballot,  // vote; match
  up,
  down,
  bfly,
  idx,  // shfl
  sync,
  arrive,
  red_popc,
  red_and,
  red_or,  // bar
  mbarrier_init,
  mbarrier_inval,
  mbarrier_expect,
  mbarrier_complete,
  mbarrier_arrive,
  mbarrier_drop,
  mbarrier_arrive_expect,
  mbarrier_drop_expect,
  mbarrier_wait,
  mbarrier_wait_parity,
  mbarrier_pending,
  stack_allocate,
  stack_save,
  stack_restore,
  query_width,
  query_height,
  query_depth,
  query_layers,
  query_levels,
  query_normalized,  // txq
};

// The memory that an operation accesses: `count` elements of `bytes` each, beside one another, at base + offset.
struct Memory {
  RegisterRow base;             // the address register; without one the offset is the address
  std::uint8_t base_bytes = 0;  // 4 or 8
  ptx::Space space = ptx::Space::generic;
  std::uint8_t bytes = 0;  // size of one element
  std::uint8_t count = 1;
  std::uint8_t row_bytes = 0;  // size of one lane in the registers that take or give the elements
  bool sign_extend = false;
  bool spins = false;    // volatile, relaxed or acquire: a loop may wait on it
  bool uniform = false;  // every lane has the same address
  ptx::Type type = ptx::Type::none;
  std::int64_t offset = 0;
};

struct Op {
  LaneOp run = nullptr;
  Operands operands;
  RegisterRow guard;
  bool guard_negated = false;
  Kind kind = Kind::nothing;
  Mode mode = Mode::none;
  Class unit = Class::other;
  bool reads_clock = false;      // a special register that changes while the warp runs: its rows are refreshed before
  bool synchronous = false;      // .sync: waits for the lanes its mask names
  bool whole_warp = false;       // matrices: all lanes of the warp execute it as one
  bool timeless = false;         // its result does not depend on when it is executed before the next barrier
  bool shaped = false;           // a load from shared memory as shared_shape.h takes it
  bool writes_base = false;      // may write a register in which such a load has its address
  std::uint32_t target = kNoPc;  // branch: pc; call: function; indexed branch: first of the table
  std::uint32_t targets = 0;  // indexed branch: how many; indirect call: the call's own record; cp.async.wait_group: N;
                              // wmma: 1 + a tile; alloca: alignment; textures, surfaces: TextureShape::pack()
  std::uint32_t reconverge = kNoPc;  // branch: where its lanes meet again; kNoPc: only at the function's end
  Memory memory;
};

// Data about an operation for simulators and messages, kept apart from the data needed to execute it.
struct OpInfo {
  std::uint32_t ptx_line = 0;
  ptx::SourceLine source;
  std::uint32_t function = 0;
  // Registers read (guard and addresses included) and written, in Program::registers: `reads` of them, then `writes`.
  std::uint32_t first_register = 0;
  std::uint16_t reads = 0;
  std::uint16_t writes = 0;
  std::string text;  // the opcode with its suffixes
};

// A row that is filled when a frame begins: a special register, or the address of a local variable.
struct SetupRow {
  enum class Kind : std::uint8_t { special, local_address, zero };
  Kind kind = Kind::zero;
  std::uint8_t bytes = 4;  // size of one lane; 0: a predicate
  ptx::Special special{};
  RegisterRow destination;
  std::uint64_t value = 0;  // for a local variable its offset in the frame
};

// The place of a parameter or result: in the frame's parameter area, or in a register row.
struct Passed {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  RegisterRow row;
  bool in_register = false;
};

struct ProgramFunction {
  enum class Builtin : std::uint8_t { none, vprintf, assertfail, malloc, free };
  std::string name;
  Builtin builtin = Builtin::none;
  std::uint32_t entry = kNoPc;
  std::uint32_t end = kNoPc;          // one past its last operation
  std::uint32_t row_bytes = 0;        // registers of a warp
  std::uint32_t parameter_bytes = 0;  // per lane: parameters, results and arguments of calls
  std::uint32_t local_bytes = 0;      // per thread
  std::vector<SetupRow> setup;
  std::vector<Passed> parameters;
  std::vector<Passed> results;
  std::uint32_t module_index = 0;

  // Rows, then the parameter area of each lane.
  [[nodiscard]] std::uint32_t frame_bytes() const { return row_bytes + kLanes * parameter_bytes; }
};

// The arguments and results of a call: rows or parameter-area offsets of the caller, in the callee's order.
struct CallSite {
  std::vector<Passed> arguments;
  std::vector<Passed> results;
  std::vector<std::uint32_t> allowed;  // functions an indirect call may reach; empty: any that fits
};

// A parameter of the kernel, as a launch must give it.
struct KernelParameter {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool pointer = false;
  ptx::Space pointer_space = ptx::Space::generic;
};

// A place in the constant pool that holds the address of a module variable, known when a client loads the module.
struct PoolRelocation {
  std::uint32_t row = 0;       // byte offset of the row
  std::uint32_t bytes = 8;     // per lane
  std::uint32_t variable = 0;  // ptx::Module::variables
  std::int64_t addend = 0;
};

class Program {
 public:
  std::string kernel;
  std::string file;
  std::vector<std::string> source_files;
  std::vector<Op> code;
  std::vector<OpInfo> info;
  std::vector<ProgramFunction> functions;  // [0] is the kernel
  std::vector<CallSite> calls;
  std::vector<Memory> second_access;  // cp.async: the shared side; Op::target is the index
  std::vector<std::uint32_t> branch_targets;
  std::vector<TilePlaces> tiles;         // fragments of wmma.load and wmma.store; Op::targets is 1 + the index
  std::vector<std::uint32_t> registers;  // pool of OpInfo's register numbers, dense over the program
  std::uint32_t register_count = 0;      // how many numbers there are
  std::vector<std::byte> constants;      // rows, before relocation
  std::vector<PoolRelocation> relocations;
  std::vector<std::unique_ptr<RegisterRow[]>> operand_rows;  // storage of Operands::more
  std::vector<KernelParameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;          // per block
  bool reads_reserved_shared = false;             // asks where a block's memory for the system's own use begins
  std::uint32_t local_bytes = 0;                  // per thread: the deepest stack of local variables
  std::uint32_t shared_align = 16;                // alignment of the dynamic part, which follows the static part
  std::array<std::uint32_t, 3> required_block{};  // .reqntid; 0: not given
  std::array<std::uint32_t, 3> largest_block{};   // .maxntid

  [[nodiscard]] std::span<const std::uint32_t> reads(std::uint32_t pc) const {
    return {registers.data() + info[pc].first_register, info[pc].reads};
  }
  [[nodiscard]] std::span<const std::uint32_t> writes(std::uint32_t pc) const {
    return {registers.data() + info[pc].first_register + info[pc].reads, info[pc].writes};
  }
  [[nodiscard]] CodePlace place(std::uint32_t pc) const;
};

// Decodes `kernel` of `module`. An instruction that cannot be executed is an error at its line of the PTX. `file` names
// the PTX.
Result<std::shared_ptr<const Program>> decode(const ptx::Module& module, std::string_view kernel,
                                              const std::string& file = {});

// Marks the operations that Warp::run_ahead may execute early, and how.
void mark_ahead(std::vector<Op>& code);

// The address of a function as a value: the result of `mov` of its name, and the operand of an indirect call.
[[nodiscard]] constexpr std::uint64_t function_address(std::uint32_t module_index) {
  return 0x10000000ULL + module_index * 0x80ULL;
}

}  // namespace wm::exec
