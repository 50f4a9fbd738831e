// A streaming multiprocessor: its blocks, the schedulers' loop, and its connection to memory.
//
// It runs one quantum (`run`) independently of other units: requests to memory are stored in its outbox, and replies
// were put into its inbox before. The dispatcher starts, stops and caps blocks between quanta.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/sm/block_slots.h"
#include "sim/cycle/sm/issue_stage.h"
#include "sim/cycle/sm/reply_queue.h"

namespace wm::sim {

class Sm final : private IssueEvents {
 public:
  Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index);
  Sm(const Sm&) = delete;
  Sm& operator=(const Sm&) = delete;

  // --- blocks, between quanta
  void start(std::unique_ptr<BlockRun> run, std::uint64_t at) { blocks_.start(std::move(run), at); }
  // Block `number` of the kernel may follow when one of its blocks ends in the next quantum.
  void offer(OfferedBlock block) { blocks_.offer(block); }
  [[nodiscard]] const std::vector<OfferedBlock>& offers() const { return blocks_.offers(); }
  void clear_offers() { blocks_.clear_offers(); }
  // Stops up to `count` blocks of the kernel, the youngest first (BlockSlots::stop).
  std::uint32_t stop(std::uint8_t kernel, std::uint32_t count, std::uint64_t now) {
    return blocks_.stop(kernel, count, now);
  }
  [[nodiscard]] std::uint32_t resident(std::uint8_t kernel) const { return blocks_.resident(kernel); }
  [[nodiscard]] std::uint64_t last_of(std::uint8_t kernel) const { return blocks_.last(kernel); }
  [[nodiscard]] std::uint32_t free_warps() const { return issue_.warps().free(); }
  // The caller takes and clears these.
  std::vector<FinishedBlock>& finished() { return blocks_.finished(); }
  std::vector<FinishedBlock>& stopped() { return blocks_.stopped(); }
  std::vector<FaultedKernel>& faulted() { return blocks_.faulted(); }

  // --- memory, between quanta
  // Replies, in any order.
  void receive(const Message& reply) {
    replies_.add(reply);
    expect(reply.time);
  }
  // A reply that arrives then will be received before the next quantum runs.
  void expect(std::uint64_t time) { issue_.wake_by(time); }
  std::vector<Message>& outbox() { return lsu().outbox(); }
  // Whether no message of the kernel is in flight to or from memory.
  [[nodiscard]] bool quiet(std::uint8_t kernel) const { return issue_.memory().lsu().quiet(kernel); }
  // Invalidates the client's lines in L1, as at the start of its launch.
  void forget(std::uint64_t client) { lsu().forget(client); }
  // Makes the quantum's stores visible to other SMs.
  void publish() { issue_.memory().port().publish(); }
  // Moves `bytes` of a block's context to memory at line `place`, or back; its number appears in `moved` when all
  // of it has arrived.
  std::uint32_t move_context(MessageKind kind, std::uint64_t bytes, std::uint64_t place, std::uint8_t kernel) {
    return issue_.memory().move_context(kind, bytes, place, kernel);
  }
  std::vector<std::uint32_t>& moved() { return moved_; }

  // --- quotas
  // Thread instructions that the kernel may complete from `now` on; it issues none at 0 or below.
  void set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now);
  // The rest of the quota at the beginning of cycle `now`, which no quantum has passed.
  [[nodiscard]] std::int64_t quota(std::uint8_t kernel, std::uint64_t now) const {
    return issue_.quota().left(kernel, now);
  }
  [[nodiscard]] bool has_quota(std::uint8_t kernel) const { return issue_.quota().has_quota(kernel); }
  // Kernels whose quota was spent since the last call, as bits.
  std::uint32_t take_spent() { return issue_.take_spent(); }

  // Whether the caller can take anything: blocks that ended, stopped, moved or faulted, or kernels whose quota was
  // spent.
  [[nodiscard]] bool has_events() const {
    return blocks_.has_events() || !moved_.empty() || issue_.quota().has_newly_closed();
  }
  // Whether publish() would do anything.
  [[nodiscard]] bool has_stores() const { return issue_.memory().port().has_unpublished(); }

  // --- a quantum
  void run(std::uint64_t begin, std::uint64_t until);
  // The next cycle with something to do. Contexts are moved in every cycle.
  [[nodiscard]] std::uint64_t next_event() const { return issue_.memory().lsu().moving() ? 0 : issue_.now(); }

  // --- counters
  // Brings the stall counters up to `now`, which no quantum has passed; the others are always up to date.
  void charge_until(std::uint64_t now) { issue_.charge_until(now); }
  [[nodiscard]] SmCounters& counters(std::uint8_t kernel) { return issue_.counters().totals(kernel); }
  // One of the counters, without updating the others.
  [[nodiscard]] std::uint64_t thread_instructions(std::uint8_t kernel) const {
    return issue_.counters()[kernel].thread_instructions;
  }
  // Warps of the kernel that could issue but did not, by the time of charge_until().
  [[nodiscard]] std::uint32_t idle_warps(std::uint8_t kernel) const { return issue_.idle_warps(kernel); }

 private:
  void on_arrival(std::uint64_t now) override;
  void on_warp_exited(WarpSlot& warp, std::uint64_t now) override { blocks_.warp_exited(warp, now); }
  void on_barrier(ResidentBlock& block, std::uint64_t now) override { blocks_.check_barrier(block, now); }
  void on_fault(ResidentBlock& block) override { blocks_.fault(block); }

  void deliver(std::uint64_t now);
  void finish_load(std::uint32_t load, std::uint64_t at);
  void finish_atomic(WarpSlot& w, exec::PendingAtomic& atomic);
  // Prepares the next instruction of a warp that waited for memory.
  void retry(WarpSlot& w);
  [[nodiscard]] Lsu& lsu() { return issue_.memory().lsu(); }

  std::uint32_t grain_;  // cycles between two parts of a context that is moved
  std::uint32_t l1_latency_;
  IssueStage issue_;
  BlockSlots blocks_;
  ReplyQueue replies_;
  std::vector<std::uint32_t> done_loads_;
  std::vector<std::uint32_t> moved_;
};

}  // namespace wm::sim
