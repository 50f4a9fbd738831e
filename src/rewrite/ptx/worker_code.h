// The registers, labels and words that the code of persistent workers uses (persistent.cc), and the instructions that
// it consists of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "rewrite/ptx/function_editor.h"
#include "rewrite/ptx/persistent_words.h"
#include "rewrite/ptx/special_values.h"

namespace wm::rewrite {

inline constexpr std::array kVirtualSpecials{ptx::Special::ctaid_x,  ptx::Special::ctaid_y,  ptx::Special::ctaid_z,
                                             ptx::Special::nctaid_x, ptx::Special::nctaid_y, ptx::Special::nctaid_z};

class WorkerCode {
 protected:
  using Reg = build::Reg;
  using Opcode = ptx::Opcode;
  using Operand = ptx::Operand;
  using Special = ptx::Special;
  using Suffix = ptx::Suffix;
  using Type = ptx::Type;

  // The states of a worker: neither a limit nor a quota held it when it took its chunk; it is the last one of its
  // launch, and nothing holds it any more; it has left although the launch has blocks.
  static constexpr std::uint32_t kFree = 1, kStays = 2, kHasLeft = 3;

  WorkerCode(ptx::Function& kernel, std::uint32_t barrier, Completion by);

  void op(Opcode opcode, std::vector<Suffix> suffixes, Type type, std::vector<Operand> operands) {
    editor_.emit(build::make(opcode, std::move(suffixes), {type}, std::move(operands)));
  }
  static Operand o(Reg reg) { return build::operand(reg); }
  Reg value(Special special) const { return values_.at(special); }
  // The threads of a warp come together first, so that the barrier is an aligned one. Behind a barrier that is not,
  // ptxas expects divided warps: it does not unroll the loops of the virtual block (stencil ran at 0.37 of its speed on
  // an H200), and the first thread may run all of it by itself.
  void wait_for_all() {
    wait_for_warp();
    editor_.emit(build::make(Opcode::bar, {Suffix::sync}, {}, {build::number(barrier_)}));
  }
  void wait_for_warp() { editor_.emit(build::make(Opcode::bar_warp, {Suffix::sync}, {}, {minus_one()})); }
  void load_grid(Reg to, std::int64_t offset, Type type = Type::b32) {
    op(Opcode::ld, {Suffix::param}, type,
       {o(to), build::at(build::variable(Operand::Scope::parameter, grid_), offset)});
  }

  Operand queue() const { return build::at(o(queue_)); }
  Operand completed() const { return build::at(o(queue_), offsetof(PersistentQueue, completed)); }
  // A word of this SM.
  Operand of_sm(std::size_t offset) const { return build::at(o(sm_), static_cast<std::int64_t>(offset)); }
  Operand limit() const { return of_sm(offsetof(PersistentControl, limit)); }
  Operand resident() const { return of_sm(offsetof(PersistentControl, resident)); }
  Operand ticket(std::uint32_t word) const {
    return build::at(build::variable(Operand::Scope::local, ticket_), std::int64_t{4} * word);
  }
  void add(const Operand& word, Operand amount, Reg before) {
    op(Opcode::atom, {Suffix::global, Suffix::add}, Type::u32, {o(before), word, std::move(amount)});
  }
  // Without the value before, for which the thread would wait.
  void add(const Operand& word, Operand amount) {
    op(Opcode::red, {Suffix::global, Suffix::add}, Type::u32, {word, std::move(amount)});
  }
  void read(const Operand& word, Reg to) {
    op(Opcode::ld, {Suffix::volatile_, Suffix::global}, Type::u32, {o(to), word});
  }
  void go_if(Suffix compare, Reg a, Reg b, std::uint32_t label) {
    op(Opcode::setp, {compare}, Type::u32, {o(scratch_.test), o(a), o(b)});
    emit_if(build::branch(label));
  }
  static Operand minus_one() { return build::number(0xffffffffU); }

  void find_sm() {
    editor_.emit(build::mov(scratch_.temporary, build::special(Special::smid), Type::u32));
    editor_.emit(build::make(Opcode::mad, {Suffix::wide}, {Type::u32},
                             {o(sm_), o(scratch_.temporary), build::number(sizeof(std::uint32_t)), o(address_)}));
  }

  // Where `test` is true.
  void emit_if(ptx::Instruction instruction) {
    editor_.emit(build::only_if(scratch_.test, true, std::move(instruction)));
  }
  // Uses `temporary`.
  ptx::Instruction store(const Operand& word, std::uint32_t value) {
    editor_.emit(build::mov(scratch_.temporary, build::number(value), Type::u32));
    return build::make(Opcode::st, {Suffix::volatile_, Suffix::global}, {Type::u32}, {word, o(scratch_.temporary)});
  }
  void go_if_free(std::uint32_t state, std::uint32_t label) {
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(free_), build::number(state)});
    emit_if(build::branch(label));
  }
  // A worker beside the stream sees what came before the launch, and what it has written is seen behind the launch, by
  // the host too. Others follow the launch before theirs and are followed by the next.
  void fence_beside(Reg temporary) {
    load_grid(temporary, offsetof(PersistentGrid, beside));
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(temporary), build::number(0)});
    emit_if(build::make(Opcode::membar, {Suffix::sys}, {}, {}));
  }

  FunctionEditor editor_;
  const std::uint32_t barrier_;
  const bool completes_itself_;
  SpecialRegisters values_;
  std::uint32_t control_ = 0, grid_ = 0, ticket_ = 0;
  struct {
    std::uint32_t next, wrap, ended, fetch, ahead, early, unless_last, counted, last, look, take, queue, leave, gone,
        store, divided, fetched, start;
  } labels_{};
  struct {
    Reg block, total, chunk;  // the virtual block that runs, their number, and how many are taken at once
  } blocks_{};
  struct {
    Reg temporary, low, high, test;
    Reg looks;  // at a quota that is spent
    Reg address;
  } scratch_{};
  struct {
    Reg blocks, before;  // virtual blocks that this worker has ended, and those that others had ended before
  } ended_{};
  Reg address_{}, queue_{}, sm_{};  // addresses of the control words, of the launch's and of this SM's
  Reg first_{};                     // whether this is the first thread
  Reg free_{};                      // kFree, kStays or kHasLeft; 0: a limit or a quota may hold this worker
};

}  // namespace wm::rewrite
