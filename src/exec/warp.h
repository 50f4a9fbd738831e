// A warp: 32 lanes of one block with their registers, paths and call frames, executed one operation at a time.
//
// A warp belongs to a Block, which owns shared memory and barriers. Nothing here knows time: `clock` is given.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/access.h"
#include "exec/grid.h"
#include "exec/lanes.h"
#include "exec/paths.h"
#include "exec/program.h"
#include "exec/shared_shape.h"

namespace wm::exec {

class Block;

// The effects of one step, for a simulator.
struct Step {
  const Op* op = nullptr;
  std::uint32_t pc = 0;
  Mask path = 0;           // lanes on the path that stepped
  Mask active = 0;         // the lanes among these that executed (guard applied)
  bool executed = false;   // false: the path was set aside to wait for other lanes, and executes later
  bool memory = false;     // `access` tells addresses
  bool divergent = false;  // a branch, call or return that lanes disagreed on
  bool at_barrier = false;
  bool exited = false;  // lanes of the warp ended
  const Access* access = nullptr;
};

// An operation that was executed ahead of its time: where it stands and how many lanes it had.
struct Executed {
  std::uint32_t pc : 26 = 0;
  std::uint32_t lanes : 6 = 0;
  std::uint32_t note = 0;  // set and read by the caller only
};

class Warp {
 public:
  // Starts the warp at the kernel's first operation. `registers` is memory of the frame of the kernel, kept by the
  // caller.
  void start(Block& block, std::uint32_t index, std::byte* registers);

  [[nodiscard]] bool done() const { return paths_.done(); }
  // Whether the warp can execute; otherwise it is done or waits for a barrier of the block.
  [[nodiscard]] bool ready() const { return paths_.ready(); }
  // The operation it executes next; it must be ready.
  [[nodiscard]] std::uint32_t next_pc() const { return paths_.now().pc; }
  [[nodiscard]] Mask next_lanes() const { return paths_.now().lanes; }
  [[nodiscard]] std::uint32_t index() const { return index_; }

  // Computes the addresses that the next operation would access, without executing it; false if it accesses no memory.
  bool peek(Access& out);
  // Executes one operation.
  void step(Step& step);
  // Executes the operations from here on whose effect is the same at any time up to the warp's next barrier, up to
  // `max_operations`, and notes them in `out`; returns how many. These work on the warp's registers, or read and write
  // shared memory: only a program with a race could observe the difference. The first operation whose timing matters
  // (other memory, barriers, exchanges, clocks) is left for `step`. A fault is stored in the block. `shared` is the
  // same in all calls for a warp.
  std::uint32_t run_ahead(Executed* out, std::uint32_t max_operations, const AccessNote& shared);
  // Executes until the warp is done, waits at a barrier, faults, or has executed `budget` operations; returns their
  // number.
  std::uint64_t run(std::uint64_t budget);

  // The position of each path and what it waits for, for messages.
  void positions(std::vector<WarpPosition>& out) const;

  [[nodiscard]] Paths& paths() { return paths_; }
  [[nodiscard]] const Paths& paths() const { return paths_; }
  // Writes the result of a barrier's reduction to the lanes of a path that waited for it, and makes the path ready.
  void barrier_done(std::uint32_t path, bool all, bool any, std::uint32_t count);
  // Lets lanes that wait at joins continue; called by the block when no other path can run.
  bool let_go() { return paths_.let_go(); }

 private:
  struct CallFrame {
    std::byte* registers = nullptr;
    std::uint32_t function = 0;
    std::uint32_t local_base = 0;
    std::uint32_t call = 0;  // Program::calls: how results go back
    std::uint32_t caller = 0;
    std::uint32_t depth = 0;
    bool used = false;
    std::unique_ptr<std::byte[]> storage;
    std::uint32_t capacity = 0;
    std::vector<std::uint32_t> stack;  // Warp::stack_ when the function began
  };
  // The host memory behind a range of addresses: it is looked up and checked once for all lanes.
  struct Window {
    std::byte* host = nullptr;
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lane_stride = 0;  // lanes have memory of their own, that far apart
    bool read_only = false;
    bool inside = false;  // every lane of the access is in it, and aligned

    // Added to an address of lane 0, gives its place in the host's memory.
    [[nodiscard]] std::uintptr_t origin() const { return reinterpret_cast<std::uintptr_t>(host) - base; }
    [[nodiscard]] std::byte* at(std::uint64_t address, int lane) const {
      return host + (address - base) + static_cast<std::uint64_t>(lane) * lane_stride;
    }
  };
  struct Exchange;
  // The effect of the last operation on the paths, for Step.
  struct Event {
    bool divergent = false;
    bool set_aside = false;
    bool at_barrier = false;
    bool exited = false;
  };

  // Operations that one path of a diverged warp may execute before the other paths run.
  static constexpr std::uint32_t kTurn = 1U << 20;

  // run_ahead.cc
  std::uint32_t run_path_ahead(Executed* out, std::uint32_t max_operations, const AccessNote& shared);
  bool load_shaped(const Op& op, const Frame& frame, const AccessNote& shared, Executed& out);
  void keep_shapes(const Op& op);

  // warp.cc
  void run_path(std::uint64_t& budget);
  void execute(const Op& op, Mask active);
  void refresh_clock();
  void setup_frame(const ProgramFunction& function, CallFrame& frame);
  void fill_special(ptx::Special special, std::byte* row) const;
  [[nodiscard]] Mask guarded(const Op& op, const Path& path) const;
  // Whether lanes that must execute `op` together with those of `path` are elsewhere.
  [[nodiscard]] bool lacks_lanes(const Op& op, const Path& path) const {
    return op.whole_warp && (path.lanes | paths_.exited()) != kAllLanes;
  }
  [[nodiscard]] Frame frame_of(const Path& path, Mask active) const {
    return {frames_[path.frame].registers, grid_->constants->data(), active};
  }
  [[nodiscard]] const CallFrame& frame() const { return frames_[paths_.now().frame]; }
  void advance() {
    Path& path = paths_.now();
    ++path.pc;
    if (path.pc == path.meet) paths_.settle();
  }
  void spin();
  void take_turns();

  // control.cc
  void branch(const Op& op, Mask active);
  void indexed_branch(const Op& op, Mask active);
  void call(const Op& op, Mask active);
  void indirect_call(const Op& op, Mask active);
  void enter(std::uint32_t function, const Op& op, Mask active);
  std::uint32_t open_frame(const ProgramFunction& function);
  void close_frames();
  void ret(Mask active);
  void exit(Mask active);
  void pass(const std::vector<Passed>& from, const CallFrame& source, const std::vector<Passed>& to,
            const CallFrame& target, Mask lanes);
  [[nodiscard]] std::byte* passed_at(const Passed& p, const CallFrame& frame, int lane) const;

  // Operations that do not change the paths (keeps_paths); false after a fault.
  bool work(const Op& op, const Frame& frame);

  // memory.cc
  bool load(const Op& op, const Frame& frame);
  bool store(const Op& op, const Frame& frame);
  Window locate(const Op& op, const Memory& memory, const Frame& frame);
  void settle_generic(Window& window);
  void resolve_aliases(const Op& op, const Memory& memory, int lead, Window& window);
  bool find_window(ptx::Space space, std::uint64_t address, Window& window);
  std::byte* host_of(const Op& op, ptx::Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool write);
  void memory_fault(Fault::Kind kind, const Op& op, ptx::Space space, int lane, std::uint64_t address,
                    std::uint32_t bytes, const char* problem);

  // port_access.cc: through the block's GlobalPort
  [[nodiscard]] bool ported() const;
  [[nodiscard]] Mask global_lanes(Mask active) const;
  [[nodiscard]] bool port_holds(Mask active, const Window& window) const;
  bool port_load(const Op& op, const Frame& frame, const Window& window);
  bool port_store(const Op& op, const Frame& frame, const Window& window);
  bool defer_atomic(const Op& op, const Frame& frame, const Window& window);

  // atomics.cc
  bool atomic(const Op& op, const Frame& frame);
  bool atomic_at_once(const Op& op, const Frame& frame, const Window& window);

  // copies.cc
  void settle_matrix(std::size_t count);
  bool async_copy(const Op& op, const Frame& frame);
  bool matrix_load(const Op& op, const Frame& frame);
  // tile_access.cc: wmma.load and wmma.store, which have Op::targets
  template <typename Body>
  bool for_each_tile_element(const Op& op, const Frame& frame, bool write, Body&& body);
  bool tile_load(const Op& op, const Frame& frame);
  bool tile_store(const Op& op, const Frame& frame);
  bool matrix_store(const Op& op, const Frame& frame);
  static void matrix_move(const Op& op, const Frame& frame);

  // copies.cc
  bool mbarrier(const Op& op, const Frame& frame);

  // control.cc
  bool change_stack(const Op& op, const Frame& frame);
  [[nodiscard]] std::uint32_t stack_top(Mask lanes) const;

  // copies.cc: textures, and suld, sust, sured
  bool texture(const Op& op, const Frame& frame);
  bool surface(const Op& op, const Frame& frame);
  bool move_on_surface(const Op& op, const Frame& frame);

  // memory.cc: cvta and isspacep
  static void shift_window(const Op& op, const Frame& frame);
  void in_space(const Op& op, const Frame& frame) const;

  // exchange.cc
  void exchange(const Op& op, Mask active);
  void assemble();
  bool join_paths(const std::vector<std::uint32_t>& group);
  void resume_waiting();
  bool complete_exchange();
  [[nodiscard]] bool waiting() const;
  [[nodiscard]] Mask named_lanes(const Op& op, const Path& path, Mask active) const;
  [[nodiscard]] std::vector<std::uint32_t> partners(std::uint32_t first) const;
  void gather(const Op& op, const Path& path, Mask active, Exchange& e) const;
  void scatter(const Op& op, const Path& path, Mask active, const Exchange& e);
  static void together(const Op& op, Exchange& e);
  void barrier(const Op& op, Mask active);

  // builtin.cc
  void builtin(ProgramFunction::Builtin which, const Op& op, Mask active);
  bool print(const Op& op, const CallSite& site, int lane);
  void assertion(const Op& op, const CallSite& site, int lane);
  bool heap(ProgramFunction::Builtin which, const CallSite& site, int lane);
  [[nodiscard]] std::uint64_t argument(const CallSite& site, std::size_t index, int lane) const;
  std::optional<std::string> string_at(const Op& op, int lane, std::uint64_t address);

  Fault fault_at(Fault::Kind kind, int lane, std::string what) const;
  void raise(Fault fault);

  Block* block_ = nullptr;
  const Grid* grid_ = nullptr;
  const Program* program_ = nullptr;
  const Op* code_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t turn_ = 0;  // operations since paths last took turns
  bool yields_ = false;     // the last operation waits for other warps: run() ends the warp's turn
  Event event_;
  Paths paths_;
  SharedShapes shapes_;               // their registers are those of the frame in which all lanes ran ahead last
  std::vector<CallFrame> frames_;     // [0] is the kernel's
  std::uint64_t frame_bytes_ = 0;     // size of the other frames
  std::vector<std::uint32_t> stack_;  // by lane, where memory of alloca begins in local_; empty before the first
  std::vector<std::byte> local_;      // local memory of each lane, one after the other; allocated when first used
};

}  // namespace wm::exec
