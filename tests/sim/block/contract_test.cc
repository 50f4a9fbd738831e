// The contract suite on the block machine: every policy that it has the capabilities for keeps its promises.
#include "policy/contract_suite.h"
#include "policy/record.h"
#include "policy/recorded_policy.h"
#include "sim/block/machine.h"

namespace wm::policy::test {
namespace {

constexpr sim::BlockMachineSpec kSpec = {
    .limits = {.total = {.threads = 2048, .registers = 65536, .shared_bytes = 98304, .blocks = 32}},
    .clock = {1'000'000'000},
    .bytes_per_second = 200'000'000'000,
    .decision = {13},
    .setup = {50},
    .wake = {500}};

class BlockRig final : public Rig {
 public:
  explicit BlockRig(std::uint32_t sms) : gpu_(with_sms(sms)) {}

  void start(const std::string& policy) override {
    policy_ = std::make_unique<RecordedPolicy>(gpu_, *choose(policy), "block");
    gpu_.start(*policy_, Cans::all());
  }

  void arrive(const std::vector<FakeKernel>& kernels) override {
    for (const FakeKernel& k : kernels) {
      auto client = std::make_unique<Client>();
      client->model = model_of(k);
      client->launches = k.launches;
      const KernelId id = gpu_.add_client(
          {.name = k.name, .priority = k.priority, .share = k.share, .goal = k.goal, .isolated_ipc = k.isolated_ipc});
      gpu_.launch(id, client->model);
      clients_.push_back(std::move(client));
    }
    gpu_.settle();
  }

  void run(Cycles length, const std::function<void(const Machine&)>& check) override {
    const Cycles end = gpu_.now() + length;
    while (gpu_.now() < end) {
      gpu_.advance(std::min({gpu_.next_event(), gpu_.now() + Cycles{200}, end}));
      for (const KernelId done : gpu_.completed()) {
        Client& c = *clients_[done.index];
        if (c.launches == 0 || ++c.completed < c.launches) gpu_.launch(done, c.model);
      }
      gpu_.settle();
      check(gpu_);
    }
  }

  [[nodiscard]] const Machine& machine() const override { return gpu_; }
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const override { return gpu_.totals(kernel).blocks; }
  [[nodiscard]] std::string log() const override { return policy_->record().everything(); }
  [[nodiscard]] std::size_t happened() const override { return policy_->record().lines(); }

 private:
  struct Client {
    sim::KernelModel model;
    std::uint32_t launches = 1;
    std::uint32_t completed = 0;
  };

  static sim::BlockMachineSpec with_sms(std::uint32_t sms) {
    sim::BlockMachineSpec spec = kSpec;
    spec.sms = sms;
    return spec;
  }

  static sim::KernelModel model_of(const FakeKernel& k) {
    const gpu::Resources block = gpu::footprint(k.block, kSpec.limits);
    const std::uint32_t blocks_per_sm = gpu::fit(block, kSpec.limits.total);
    const double ipc =
        k.ipc.empty() ? 32.0 * blocks_per_sm : k.ipc[std::min<std::size_t>(blocks_per_sm, k.ipc.size()) - 1];
    sim::KernelDescription d;
    d.name = k.name;
    d.blocks = k.blocks;
    d.threads = k.block.threads;
    d.registers = block.registers;
    d.shared_bytes = k.block.shared_bytes;
    d.block_time = {static_cast<std::uint64_t>(static_cast<double>(k.block_instructions) * blocks_per_sm / ipc * 1000)};
    d.shape = sim::DurationShape::uniform(0.2);
    d.block_instructions = k.block_instructions;
    d.saturation = k.ipc.empty() ? 1 : 0.6;
    return *sim::place_kernel(d, kSpec.limits, kSpec.clock, {});
  }

  sim::BlockMachine gpu_;
  std::unique_ptr<RecordedPolicy> policy_;
  std::vector<std::unique_ptr<Client>> clients_;
};

std::unique_ptr<Rig> make_block_rig(std::uint32_t sms) { return std::make_unique<BlockRig>(sms); }

std::vector<Contract> contracts_that_fit() {
  std::vector<Contract> all;
  for (const Contract& c : contracts(&make_block_rig))
    if (fits(*choose(c.policy), sim::BlockMachine::kCans, "block").ok()) all.push_back(c);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Block, PolicyContract, testing::ValuesIn(contracts_that_fit()), contract_name);
INSTANTIATE_TEST_SUITE_P(Block, PreemptionContract, preempting_policies_on(&make_block_rig), contract_name);

TEST(BlockCapabilities, PoliciesThatNeedQuotasAreRefusedWithTheReason) {
  const auto refused = fits(*choose("quota"), sim::BlockMachine::kCans, "block");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what,
            "policy 'quota' cannot run on the block machine, which cannot limit a kernel's instructions on an SM");
  EXPECT_FALSE(fits(*choose("smk"), sim::BlockMachine::kCans, "block").ok());
}

TEST(BlockCapabilities, EveryOtherPolicyFits) {
  for (const Entry& e : entries()) {
    if (e.info.name == "quota" || e.info.name == "smk") continue;
    EXPECT_TRUE(fits(*choose(e.info.name), sim::BlockMachine::kCans, "block").ok()) << e.info.name;
  }
}

}  // namespace
}  // namespace wm::policy::test
