// The kernels of the block machine: the paper's Kernel Status Register Table with its Preempted Thread Block Queues
// (ISCA 2014, section 3.3), and the totals of each client over all its launches.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policy/machine.h"
#include "sim/block/kernel_model.h"
#include "sim/block/sm_unit.h"

namespace wm::sim {

// One queue of launches, which run one after the other.
inline constexpr std::uint32_t kOwnBlockProcess = ~std::uint32_t{0};
struct BlockClientSpec {
  std::string name;
  // Clients with the same number are streams of one process. kOwnBlockProcess: a process of its own.
  std::uint32_t process = kOwnBlockProcess;
  int priority = 0;
  double share = 1;
  double goal = 0;          // ipc; 0: none
  double isolated_ipc = 0;  // 0: not known
};

struct BlockClientTotals {
  std::uint64_t launches = 0;     // completed
  std::uint64_t blocks = 0;       // completed
  std::uint64_t preemptions = 0;  // blocks whose context was saved
  std::uint64_t instructions = 0;
  Cycles first_start = kNever;  // start of its first block
  Cycles last_end;              // end of its last launch
};

class KernelTable {
 public:
  explicit KernelTable(std::uint64_t seed) : seed_(seed) {}

  policy::KernelId add(BlockClientSpec spec);
  // The facts that a policy sees of the client's launches that follow.
  void set_spec(policy::KernelId client, BlockClientSpec spec) { clients_[client.index].spec = std::move(spec); }
  // The client's next launch arrives; it must have none. Blocks may start from cycle `starts` on.
  void arrive(policy::KernelId client, const KernelModel& model, Cycles now, Cycles starts);
  // Its last block has ended.
  void remove(policy::KernelId client, Cycles now);

  // Active kernels, oldest arrival first.
  [[nodiscard]] std::span<const policy::Kernel> active() const { return active_; }
  // The view of an active kernel; nullptr: the client has no active launch.
  [[nodiscard]] policy::Kernel* view(std::uint32_t client) {
    return clients_[client].place == kInactive ? nullptr : &active_[clients_[client].place];
  }
  [[nodiscard]] const KernelModel& model(std::uint32_t client) const { return *clients_[client].model; }
  [[nodiscard]] Cycles starts(std::uint32_t client) const { return clients_[client].starts; }
  [[nodiscard]] std::uint32_t clients() const { return static_cast<std::uint32_t>(clients_.size()); }
  [[nodiscard]] const BlockClientTotals& totals(std::uint32_t client) const { return clients_[client].totals; }
  [[nodiscard]] const BlockClientSpec& spec(std::uint32_t client) const { return clients_[client].spec; }

  // The block to issue next: preempted ones first (section 3.3). `resumed`: it has worked before, so its context has to
  // be restored.
  BlockWork take_block(std::uint32_t client, bool& resumed);
  // The same for a client without preempted blocks.
  BlockWork take_new_block(std::uint32_t client) {
    Client& c = clients_[client];
    const std::uint32_t block = c.next_block++;
    return {block, duration_of(c, block)};
  }
  // New blocks to be taken one after the other, and the instructions of those that they replace.
  struct Replacement {
    const DurationShape* shape = nullptr;
    Cycles mean;
    std::uint64_t seed = 0;
    std::uint64_t instructions_per_cycle = 0;
    std::uint32_t next_block = 0;
    std::uint64_t instructions = 0;

    BlockWork take() {
      const std::uint32_t block = next_block++;
      return {block, shape->duration(mean, seed, block) << kFraction};
    }
    std::uint64_t retire(std::uint64_t work) {
      const std::uint64_t done = ((work >> kFraction) * instructions_per_cycle) >> kFraction;
      instructions += done;
      return done;
    }
  };
  [[nodiscard]] Replacement begin_replacing(std::uint32_t client) const {
    const Client& c = clients_[client];
    return {&c.model->shape, c.model->block_time, c.launch_seed, c.instructions_per_cycle, c.next_block};
  }
  void end_replacing(std::uint32_t client, const Replacement& r);
  // Blocks were taken that replace none.
  void end_starting(std::uint32_t client, const Replacement& r) { clients_[client].next_block = r.next_block; }
  [[nodiscard]] bool has_preempted(std::uint32_t client) const { return !clients_[client].preempted.empty(); }
  void note_start(std::uint32_t client, Cycles now) {
    if (clients_[client].totals.first_start == kNever) clients_[client].totals.first_start = now;
  }
  void put_back(std::uint32_t client, BlockWork work) { clients_[client].preempted.push_back(work); }
  void count_preempted(std::uint32_t client, std::uint32_t blocks) { clients_[client].totals.preemptions += blocks; }
  // Work done by a block of the client, as thread instructions; adds them to its total.
  std::uint64_t retire(std::uint32_t client, std::uint64_t work) {
    const std::uint64_t done = instructions_of(client, work);
    clients_[client].totals.instructions += done;
    return done;
  }
  [[nodiscard]] std::uint64_t instructions_of(std::uint32_t client, std::uint64_t work) const {
    return ((work >> kFraction) * clients_[client].instructions_per_cycle) >> kFraction;
  }
  // `instructions`: those of the blocks that `retire` has not counted.
  void blocks_ended(std::uint32_t client, std::uint32_t count, std::uint64_t instructions = 0) {
    clients_[client].totals.blocks += count;
    clients_[client].totals.instructions += instructions;
  }

 private:
  static constexpr std::uint32_t kInactive = ~std::uint32_t{0};
  struct Client {
    BlockClientSpec spec;
    const KernelModel* model = nullptr;
    std::uint64_t instructions_per_cycle = 0;
    std::uint64_t launch_seed = 0;
    std::uint32_t place = kInactive;  // in active_
    std::uint32_t next_block = 0;     // first block that has not been started
    std::uint64_t arrivals = 0;
    Cycles first_arrived;
    Cycles starts;
    std::deque<BlockWork> preempted;  // the client's PTBQ
    BlockClientTotals totals;
  };
  [[nodiscard]] static std::uint64_t duration_of(const Client& c, std::uint32_t block) {
    return c.model->shape.duration(c.model->block_time, c.launch_seed, block) << kFraction;
  }

  std::uint64_t seed_;
  std::vector<Client> clients_;
  std::vector<policy::Kernel> active_;
};

}  // namespace wm::sim
