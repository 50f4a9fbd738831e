#include "rewrite/ptx/persistent.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "rewrite/ptx/block_dependence.h"
#include "rewrite/ptx/kernel_shape.h"
#include "rewrite/ptx/loops.h"
#include "rewrite/ptx/special_values.h"
#include "rewrite/ptx/worker_code.h"

namespace wm::rewrite {
namespace {

using build::Reg;
using ptx::Function;
using ptx::Instruction;
using ptx::Module;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Suffix;
using ptx::Type;

constexpr std::uint32_t kHeldNanoseconds = 500;  // between two looks at a quota that is spent
// A worker leaves after so many, some milliseconds on an H200: many calls of the driver wait until no kernel runs, and
// the quota is renewed by a process that may be in one of them.
constexpr std::uint32_t kMaxLooks = 8000;

class WorkerWriter : private WorkerCode {
 public:
  // `threads_meet`: a virtual block begins when all threads have ended the one before.
  WorkerWriter(Function& kernel, const SpecialNeeds& needs, std::uint32_t barrier, bool threads_meet, Completion by)
      : WorkerCode(kernel, barrier, by), needs_(needs), threads_meet_(threads_meet) {}

  void run() {
    prologue();
    take_chunk();
    use_special_values(editor_, needs_, values_);
    editor_.finish();
    replace_exits();
  }

 private:
  // Only the number of the virtual block and `first_` live in registers while it runs, so that ptxas has nearly as many
  // for the body as it had: what comes from parameters costs none, and the rest is found again.
  void prologue() {
    op(Opcode::ld, {Suffix::param}, Type::u64,
       {o(address_), build::at(build::variable(Operand::Scope::parameter, control_))});
    load_grid(value(Special::nctaid_x), offsetof(PersistentGrid, x));
    load_grid(value(Special::nctaid_y), offsetof(PersistentGrid, y));
    load_grid(value(Special::nctaid_z), offsetof(PersistentGrid, z));
    load_grid(blocks_.chunk, offsetof(PersistentGrid, chunk));
    load_grid(blocks_.total, offsetof(PersistentGrid, total));
    load_grid(queue_, offsetof(PersistentGrid, queue), Type::u64);
    editor_.emit(build::mov(scratch_.low, build::special(Special::tid_x), Type::u32));
    editor_.emit(build::mov(scratch_.high, build::special(Special::tid_y), Type::u32));
    op(Opcode::or_, {}, Type::b32, {o(scratch_.low), o(scratch_.low), o(scratch_.high)});
    editor_.emit(build::mov(scratch_.high, build::special(Special::tid_z), Type::u32));
    op(Opcode::or_, {}, Type::b32, {o(scratch_.low), o(scratch_.low), o(scratch_.high)});
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(first_), o(scratch_.low), build::number(0)});
    arrive();
    end_block();
  }

  // A virtual block has ended; the next of the chunk follows. All threads come to the end of the chunk before the first
  // one writes the next ticket.
  void end_block() {
    editor_.place(labels_.next);
    op(Opcode::ld, {Suffix::shared}, Type::u32, {o(scratch_.low), ticket(0)});
    threads_meet_ ? wait_for_all() : wait_for_warp();
    op(Opcode::add, {}, Type::u32, {o(blocks_.block), o(blocks_.block), build::number(1)});
    op(Opcode::add, {}, Type::u32, {o(scratch_.high), o(scratch_.low), o(blocks_.chunk)});
    op(Opcode::min, {}, Type::u32, {o(scratch_.high), o(scratch_.high), o(blocks_.total)});
    go_if(Suffix::ge, blocks_.block, scratch_.high, threads_meet_ ? labels_.fetch : labels_.ended);
    count_coordinates();
    if (threads_meet_) return;
    editor_.place(labels_.ended);
    wait_for_all();
  }

  // The coordinates of the virtual block in a grid of one dimension, with which threads go to `found`.
  void linear_coordinates(std::uint32_t found) {
    editor_.emit(build::mov(value(Special::ctaid_x), o(blocks_.block), Type::u32));
    editor_.emit(build::mov(value(Special::ctaid_y), build::number(0), Type::u32));
    editor_.emit(build::mov(value(Special::ctaid_z), build::number(0), Type::u32));
    go_if(Suffix::eq, blocks_.total, value(Special::nctaid_x), found);
  }

  // From those of the chunk's first block, whose number is in `low`: chunks are short, and divisions take long.
  void count_coordinates() {
    const Reg x = value(Special::ctaid_x), y = value(Special::ctaid_y), z = value(Special::ctaid_z);
    linear_coordinates(labels_.start);
    for (std::uint32_t word = 1; const Reg reg : {scratch_.temporary, y, z}) {
      op(Opcode::ld, {Suffix::shared}, Type::u32, {o(reg), ticket(word++)});
    }
    op(Opcode::sub, {}, Type::u32, {o(x), o(blocks_.block), o(scratch_.low)});
    op(Opcode::add, {}, Type::u32, {o(x), o(x), o(scratch_.temporary)});
    editor_.place(labels_.wrap);
    go_if(Suffix::lt, x, value(Special::nctaid_x), labels_.start);
    op(Opcode::sub, {}, Type::u32, {o(x), o(x), o(value(Special::nctaid_x))});
    op(Opcode::add, {}, Type::u32, {o(y), o(y), build::number(1)});
    go_if(Suffix::lt, y, value(Special::nctaid_y), labels_.wrap);
    editor_.emit(build::mov(y, build::number(0), Type::u32));
    op(Opcode::add, {}, Type::u32, {o(z), o(z), build::number(1)});
    editor_.emit(build::branch(labels_.wrap));
  }

  void find_coordinates(std::uint32_t found) {
    const Reg columns = value(Special::nctaid_x), rows = value(Special::nctaid_y);
    linear_coordinates(found);
    op(Opcode::div, {}, Type::u32, {o(scratch_.temporary), o(blocks_.block), o(columns)});
    op(Opcode::rem, {}, Type::u32, {o(value(Special::ctaid_x)), o(blocks_.block), o(columns)});
    op(Opcode::rem, {}, Type::u32, {o(value(Special::ctaid_y)), o(scratch_.temporary), o(rows)});
    op(Opcode::div, {}, Type::u32, {o(value(Special::ctaid_z)), o(scratch_.temporary), o(rows)});
  }

  // The first thread counts this worker, which leaves where its SM has enough of them or the launch before is not
  // complete.
  void arrive() {
    editor_.emit(build::only_if(first_, false, build::branch(labels_.fetched)));
    find_sm();
    editor_.emit(build::mov(scratch_.looks, build::number(0), Type::u32));
    editor_.emit(build::mov(free_, build::number(0), Type::u32));
    leave_order();
    add(build::at(o(queue_), offsetof(PersistentQueue, arrived)), build::number(1));
    if (completes_itself_) tell_begin();
    load_grid(scratch_.address, offsetof(PersistentGrid, before), Type::u64);
    load_grid(ended_.blocks, offsetof(PersistentGrid, before_total));
    add(resident(), build::number(1), scratch_.low);
    read(build::at(o(scratch_.address), offsetof(PersistentQueue, completed)), ended_.before);
    read(limit(), scratch_.high);
    read(of_sm(offsetof(PersistentControl, quota)), scratch_.temporary);
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(ended_.before), o(ended_.blocks)});
    editor_.emit(build::mov(ended_.blocks, build::number(0), Type::u32));
    emit_if(build::branch(labels_.leave));
    if (completes_itself_) fence_beside(ended_.before);
    go_if(Suffix::lt, scratch_.low, scratch_.high, labels_.take);
    editor_.emit(build::branch(labels_.early));
  }

  void tell_begin() {
    load_grid(scratch_.low, offsetof(PersistentGrid, workers));
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(scratch_.low), build::number(0)});
    emit_if(store(build::at(o(queue_), offsetof(PersistentQueue, begun)), 1));
  }

  // Workers beside the stream's order say so before they take anything: what they write is not ordered before the next
  // launch of the stream, which may be on the device already. They say it in the word in which they count, so that no
  // thread sees their blocks without it.
  void leave_order() {
    load_grid(scratch_.low, offsetof(PersistentGrid, beside));
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(scratch_.low), build::number(0)});
    editor_.emit(build::only_if(
        scratch_.test, true,
        build::make(Opcode::red, {Suffix::global, Suffix::or_}, {Type::b32}, {completed(), o(scratch_.low)})));
  }

  // The first thread takes the next chunk. Where its SM has too many workers, it leaves instead: several may find so at
  // once, and those that find after their leaving that enough had left stay.
  void take_chunk() {
    editor_.place(labels_.fetch);
    editor_.emit(build::only_if(first_, false, build::branch(labels_.fetched)));
    find_sm();
    editor_.emit(build::mov(scratch_.looks, build::number(0), Type::u32));
    count_done();
    op(Opcode::ld, {Suffix::shared}, Type::u32, {o(free_), ticket(4)});
    if (completes_itself_) go_if_free(kStays, labels_.queue);
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(free_), build::number(0)});
    emit_if(build::branch(labels_.ahead));
    editor_.place(labels_.look);
    // All three are on their way before the first is needed.
    read(limit(), scratch_.high);
    read(resident(), scratch_.low);
    read(of_sm(offsetof(PersistentControl, quota)), scratch_.temporary);
    go_if(Suffix::le, scratch_.low, scratch_.high, labels_.take);
    add(resident(), minus_one(), scratch_.low);
    go_if(Suffix::gt, scratch_.low, scratch_.high, labels_.unless_last);
    add(resident(), build::number(1));
    editor_.place(labels_.take);
    keep_quota();
    editor_.place(labels_.queue);
    add(queue(), o(blocks_.chunk), blocks_.block);
    go_if(Suffix::lt, blocks_.block, blocks_.total, labels_.store);
    editor_.emit(build::branch(labels_.leave));
    if (completes_itself_) leave_early();
    take_ahead();
    editor_.place(labels_.leave);
    add(resident(), minus_one());
    editor_.place(labels_.gone);
    editor_.emit(build::mov(blocks_.block, minus_one(), Type::u32));
    tell_completion();
    if (completes_itself_) complete_launch();
    editor_.place(labels_.store);
    store_ticket();
    editor_.place(labels_.fetched);
    read_ticket();
  }

  // Where nothing limited the worker at the chunk before, the first thread takes the next without waiting for the words
  // of its SM; limits that have come since hold from the chunk after it.
  void take_ahead() {
    editor_.place(labels_.ahead);
    read(limit(), scratch_.high);
    read(resident(), scratch_.low);
    read(of_sm(offsetof(PersistentControl, quota)), scratch_.temporary);
    add(queue(), o(blocks_.chunk), blocks_.block);
    op(Opcode::setp, {Suffix::le}, Type::u32, {o(scratch_.test), o(scratch_.low), o(scratch_.high)});
    op(Opcode::selp, {}, Type::b32, {o(free_), build::number(kFree), build::number(0), o(scratch_.test)});
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(scratch_.temporary), build::number(0)});
    op(Opcode::selp, {}, Type::b32, {o(free_), o(free_), build::number(0), o(scratch_.test)});
    go_if(Suffix::lt, blocks_.block, blocks_.total, labels_.store);
  }

  // Counts this worker in `left`, and goes to `label` if others of its launch are still to leave. The number of workers
  // is in `low`.
  void count_leaving(std::uint32_t label) {
    add(build::at(o(queue_), offsetof(PersistentQueue, left)), build::number(1), scratch_.high);
    op(Opcode::add, {}, Type::u32, {o(scratch_.high), o(scratch_.high), build::number(1)});
    go_if(Suffix::ne, scratch_.high, scratch_.low, label);
  }

  // This worker may not take another chunk. The last worker of a launch that completes by itself does so even then.
  void leave_early() {
    editor_.place(labels_.early);
    add(resident(), minus_one());
    editor_.place(labels_.unless_last);
    load_grid(scratch_.low, offsetof(PersistentGrid, workers));
    editor_.emit(build::mov(free_, build::number(kHasLeft), Type::u32));
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(scratch_.low), build::number(0)});
    emit_if(build::branch(labels_.gone));
    count_leaving(labels_.gone);
    editor_.emit(build::mov(free_, build::number(kStays), Type::u32));
    add(resident(), build::number(1));
    editor_.emit(build::branch(labels_.queue));
  }

  // The last worker of a launch that completes by itself waits for those beside the stream, whose results are seen
  // behind the launch then.
  void complete_launch() {
    editor_.place(labels_.counted);
    load_grid(scratch_.low, offsetof(PersistentGrid, workers));
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(scratch_.low), build::number(0)});
    emit_if(build::branch(labels_.store));
    go_if_free(kHasLeft, labels_.store);
    go_if_free(kStays, labels_.last);
    count_leaving(labels_.store);
    editor_.place(labels_.last);
    read(completed(), scratch_.low);
    op(Opcode::and_, {}, Type::b32, {o(scratch_.low), o(scratch_.low), build::number(kBesideStream - 1)});
    op(Opcode::setp, {Suffix::ne}, Type::u32, {o(scratch_.test), o(scratch_.low), o(blocks_.total)});
    emit_if(build::make(Opcode::nanosleep, {}, {Type::u32}, {build::number(kHeldNanoseconds)}));
    emit_if(build::branch(labels_.last));
    editor_.emit(build::make(Opcode::membar, {Suffix::sys}, {}, {}));
    load_grid(scratch_.address, offsetof(PersistentGrid, complete), Type::u64);
    editor_.emit(store(build::at(o(scratch_.address)), 1));
  }

  // The chunk that has ended: from the number in the ticket to the worker's own.
  void count_done() {
    op(Opcode::ld, {Suffix::shared}, Type::u32, {o(ended_.before), ticket(0)});
    op(Opcode::ld, {Suffix::shared}, Type::u32, {o(ended_.blocks), ticket(5)});
    op(Opcode::sub, {}, Type::u32, {o(ended_.before), o(blocks_.block), o(ended_.before)});
    add(of_sm(offsetof(PersistentControl, done)), o(ended_.before));
    op(Opcode::add, {}, Type::u32, {o(ended_.blocks), o(ended_.blocks), o(ended_.before)});
  }

  // A worker that leaves counts all that it has done: a word that all workers change after every chunk would limit
  // them. The process learns from a word of its own memory that the launch is complete.
  void tell_completion() {
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(ended_.blocks), build::number(0)});
    emit_if(build::branch(labels_.counted));
    if (completes_itself_) fence_beside(ended_.before);
    add(completed(), o(ended_.blocks), ended_.before);
    op(Opcode::add, {}, Type::u32, {o(ended_.before), o(ended_.before), o(ended_.blocks)});
    op(Opcode::and_, {}, Type::b32, {o(ended_.before), o(ended_.before), build::number(kBesideStream - 1)});
    if (completes_itself_) return;  // its last worker tells
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(ended_.before), o(blocks_.total)});
    load_grid(scratch_.address, offsetof(PersistentGrid, complete), Type::u64);
    emit_if(store(build::at(o(scratch_.address)), 1));
  }

  // Where the SM has begun as many blocks as it may, the first thread waits, and looks again whether it may stay and
  // whether the queue has blocks left. The quota is in `temporary`.
  void keep_quota() {
    const Operand begun = of_sm(offsetof(PersistentControl, begun));
    editor_.emit(build::mov(free_, build::number(kFree), Type::u32));
    op(Opcode::setp, {Suffix::eq}, Type::u32, {o(scratch_.test), o(scratch_.temporary), build::number(0)});
    emit_if(build::branch(labels_.queue));
    editor_.emit(build::mov(free_, build::number(0), Type::u32));
    add(begun, o(blocks_.chunk), scratch_.low);
    op(Opcode::sub, {}, Type::u32, {o(scratch_.temporary), o(scratch_.temporary), o(scratch_.low)});
    op(Opcode::setp, {Suffix::gt}, Type::s32, {o(scratch_.test), o(scratch_.temporary), build::number(1)});
    emit_if(build::branch(labels_.queue));
    op(Opcode::sub, {}, Type::u32, {o(scratch_.temporary), build::number(0), o(blocks_.chunk)});
    add(begun, o(scratch_.temporary));
    read(queue(), blocks_.block);
    go_if(Suffix::ge, blocks_.block, blocks_.total, labels_.leave);
    op(Opcode::add, {}, Type::u32, {o(scratch_.looks), o(scratch_.looks), build::number(1)});
    op(Opcode::setp, {Suffix::gt}, Type::u32, {o(scratch_.test), o(scratch_.looks), build::number(kMaxLooks)});
    emit_if(build::branch(labels_.early));
    editor_.emit(build::make(Opcode::nanosleep, {}, {Type::u32}, {build::number(kHeldNanoseconds)}));
    // The done blocks were counted, and are not again.
    editor_.emit(build::branch(labels_.look));
  }

  // The first thread divides for all of the worker.
  void store_ticket() {
    find_coordinates(labels_.divided);
    editor_.place(labels_.divided);
    for (std::uint32_t word = 0; const Reg reg : ticket_registers()) {
      op(Opcode::st, {Suffix::shared}, Type::u32, {ticket(word++), o(reg)});
    }
    op(Opcode::st, {Suffix::shared}, Type::u32, {ticket(4), o(free_)});
    op(Opcode::st, {Suffix::shared}, Type::u32, {ticket(5), o(ended_.blocks)});
  }
  std::array<Reg, 4> ticket_registers() const {
    return {blocks_.block, value(Special::ctaid_x), value(Special::ctaid_y), value(Special::ctaid_z)};
  }

  // All threads read it before the barrier at the end of the virtual block, and the next is written after that.
  void read_ticket() {
    wait_for_all();
    for (std::uint32_t word = 0; const Reg reg : ticket_registers()) {
      op(Opcode::ld, {Suffix::shared}, Type::u32, {o(reg), ticket(word++)});
    }
    op(Opcode::setp, {Suffix::ge}, Type::u32, {o(scratch_.test), o(blocks_.block), o(blocks_.total)});
    Instruction leave = build::make(Opcode::exit, {}, {}, {});
    editor_.emit(build::only_if(scratch_.test, true, std::move(leave)));
    editor_.place(labels_.start);
    body_begins_ = editor_.size();
  }

  // Threads that would end go on with the next virtual block.
  void replace_exits() {
    Function& kernel = editor_.function();
    for (std::size_t i = body_begins_; i < kernel.body.size(); ++i) {
      Instruction& instruction = kernel.body[i];
      if (!leaves_kernel(instruction)) continue;
      const ptx::Guard guard = instruction.guard;
      instruction = build::branch(labels_.next);
      instruction.guard = guard;
    }
    if (kernel.body.empty() || kernel.body.back().guard.present || kernel.body.back().opcode != Opcode::bra) {
      kernel.body.push_back(build::branch(labels_.next));
    }
  }

  const SpecialNeeds& needs_;
  const bool threads_meet_;
  std::size_t body_begins_ = 0;
};

}  // namespace

std::uint32_t min_chunk(const Function& kernel) {
  constexpr std::size_t kShort = 96;
  if (kernel.body.size() >= kShort || kernel.body.empty()) return 1;
  return find_loops(kernel, ptx::control_flow(kernel)).empty() ? kMaxChunk : 1;
}

Result<void> make_persistent(Module& module, const std::string& name, Completion by) {
  const auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function& f) { return f.entry && f.name == name; });
  if (it == module.functions.end()) return Error{"no kernel '" + name + "'"};
  const auto index = static_cast<std::uint32_t>(it - module.functions.begin());
  const KernelShape shape(module, index);
  if (const auto why = shape.refusal()) return Error{*why};
  const std::uint32_t barrier = *shape.free_barrier();
  const bool threads_meet = shape.threads_meet();
  auto needs = find_special_needs(module, kVirtualSpecials);
  if (!needs) return needs.error();
  const auto shared_with_others = [&](std::uint32_t f) {
    return !module.functions[f].entry && !needs->by_function[f].empty();
  };
  const auto reached = reachable_functions(module, index);
  const auto kernels =
      std::count_if(module.functions.begin(), module.functions.end(), [](const Function& f) { return f.entry; });
  if (kernels > 1 && std::any_of(reached.begin(), reached.end(), shared_with_others)) {
    return Error{"a function that reads block indices may be called by other kernels of the module"};
  }
  // Functions of other kernels keep their parameters.
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!std::binary_search(reached.begin(), reached.end(), f)) needs->by_function[f].clear();
  }
  pass_special_values(module, *needs);
  WorkerWriter(module.functions[index], *needs, barrier, threads_meet, by).run();
  return {};
}

}  // namespace wm::rewrite
