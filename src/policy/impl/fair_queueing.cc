// Weighted fair queueing of launches: the launch that equal shares of the machine would complete first goes first.
//
// Demers, Keshav and Shenker (SIGCOMM 1989), with virtual time as in start-time fair queueing (Goyal et al., SIGCOMM
// 1996): a launch starts at the end of its client's launch before it or at the start of the oldest active launch,
// whichever is later, and ends later by its length over its client's share. Lengths are in time of the whole machine,
// from the client's earlier launches of the same function; a launch of unknown length is as long as what it has used.
//
// It needs the order of launches only, so it runs on every machine. Where an order holds from a kernel's next launch
// on, as on a CUDA device, the lengths keep a long launch from being put before a short one.
#include <algorithm>
#include <map>
#include <vector>

#include "policy/algorithm/machine_use.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class FairQueueing final : public Policy {
 public:
  explicit FairQueueing(const Values& v) : slice_(v.cycles("slice")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    charge(gpu);
    const Kernel* kernel = gpu.find(e.kernel);
    if (kernel == nullptr) return;
    Client& client = clients_[e.kernel];
    if (kernel->launch == 0) client = {};
    client.learn_length(*kernel);
    client.share = std::max(kernel->share, 1e-9);
    client.start = std::max(virtual_time(), client.end());
    client.length = client.known_length(*kernel);
    client.used = 0;
    use_.begin(*kernel, gpu);
  }
  void on(const KernelDone& e, Machine& gpu) override {
    charge(gpu);
    use_.end(e.kernel);
  }
  void on(const KernelSetChanged&, Machine& gpu) override { order(gpu); }
  void on(const Wake&, Machine& gpu) override {
    is_due_ = false;
    order(gpu);
  }

 private:
  struct Client {
    double start = 0;   // virtual time at which its latest launch starts
    double length = 0;  // the length of that launch, in cycles of the whole machine; 0: not known
    double used = 0;    // the part of it that has passed
    double share = 1;
    std::uint32_t blocks = 0;  // its latest launch has so many
    std::uint32_t function = 0;
    std::uint64_t instructions = 0;                          // before the latest launch
    std::map<std::uint32_t, double> instructions_per_block;  // by function

    [[nodiscard]] double end() const { return start + (length > 0 ? length : used) / share; }
    // The launch before this one is complete, so its instructions are known.
    void learn_length(const Kernel& kernel) {
      if (blocks != 0 && kernel.instructions > instructions) {
        instructions_per_block[function] = static_cast<double>(kernel.instructions - instructions) / blocks;
      }
      instructions = kernel.instructions;
      function = kernel.function;
      blocks = kernel.blocks;
    }
    [[nodiscard]] double known_length(const Kernel& kernel) const {
      const auto known = instructions_per_block.find(kernel.function);
      if (known == instructions_per_block.end() || kernel.isolated_ipc <= 0) return 0;
      return known->second * kernel.blocks / kernel.isolated_ipc;
    }
  };

  // The start of the oldest active launch; while there is none, the end of the last one.
  [[nodiscard]] double virtual_time() const {
    double oldest = -1, last = 0;
    for (const auto& [id, client] : clients_) {
      last = std::max(last, client.end());
      if (use_.is_here(id)) oldest = oldest < 0 ? client.start : std::min(oldest, client.start);
    }
    return oldest < 0 ? last : oldest;
  }

  void charge(const Machine& gpu) {
    use_.charge(gpu, [&](KernelId id, double cycles) { clients_[id].used += cycles; });
  }

  void order(Machine& gpu) {
    charge(gpu);
    const auto kernels = order_launches(gpu, [&](KernelId id) { return clients_[id].end(); });
    const bool any_unknown =
        std::any_of(kernels.begin(), kernels.end(), [&](KernelId id) { return clients_[id].length <= 0; });
    if (kernels.size() > 1 && any_unknown && !is_due_) {
      is_due_ = true;
      gpu.wake_at(gpu.now() + slice_, 0);
    }
  }

  const Cycles slice_;
  bool is_due_ = false;
  MachineUse use_;
  std::map<KernelId, Client> clients_;
};

}  // namespace

WM_POLICY(FairQueueing, {.name = "fair_queueing",
                         .about = "launches in the order in which equal shares of the machine would complete them",
                         .paper = "weighted fair queueing",
                         .waits = Waits::for_priority,
                         .short_launches_unmodified = true,
                         .needs = {Can::order_launches},
                         .parameters = {cycles("slice", 100'000, {1000, 1'000'000'000},
                                               "time between two orders while a launch of unknown length runs", "")}})

}  // namespace wm::policy
