// Kernels of CUDA programs with gates: the same results, the same memory, and reasons where there are none.
#include "fixture.h"

namespace wm::runtime {
namespace {

class GatesTest : public ArbitratedProgramsTest {
 protected:
  void SetUp() override {
    ArbitratedProgramsTest::SetUp();
    ArbiterOptions options = mps(25);
    options.gates = Gates::beside_others;
    options.max_loss = 0.5;
    start_daemon(options);
  }
  std::unique_ptr<Program> start_service() {
    auto service = start({"latency", "60"}, "5");
    (void)client(5, [](const Json& c) { return c["state"] == "active"; });
    return service;
  }
  [[nodiscard]] static bool closes(const Json& c) {
    return c["counters"]["gated_launches"].get<int>() > 10 && c["counters"]["gate_closings"].get<int>() > 10;
  }
  // The reason of each kernel; "gates" for those that have them.
  [[nodiscard]] static std::map<std::string, std::string> kernels(const Json& client) {
    std::map<std::string, std::string> found;
    for (const Json& k : client["kernels"])
      found[k["name"]] = k["gates"].get<bool>() ? "gates" : k["reason"].get<std::string>();
    return found;
  }
};

TEST_F(GatesTest, KernelsWithGatesComputeTheSameInTheSameMemory) {
  const auto service = start_service();
  for (const char* kind : {"module", "library"}) {
    const auto batch = start({"gated", "told", kind});
    const Json seen = client(0, closes);
    EXPECT_EQ(seen["mechanism"], "at most 75% of the blocks per SM, gates closed at most 50% of the time");
    const Json result = batch->finish();
    EXPECT_EQ(result["right"], result["launches"]) << kind;
    EXPECT_EQ(result["blocks"], result["expected_blocks"]) << kind;
    EXPECT_EQ(result["functions"], 4) << kind;
    for (const char* error : {"refused", "empty_grid", "large_block", "tall_grid"})
      EXPECT_EQ(result[error], 1) << kind << error;
    (void)clients(1);
  }
}

TEST_F(GatesTest, AKernelWithoutGatesIsNamedWithItsReason) {
  const auto service = start_service();
  const auto batch = start({"gated", "told", "module"});
  const auto found = kernels(client(0, [](const Json& c) { return c["kernels"].size() == 4; }));
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"sum", "gates"},
                                                       {"scaled", "gates"},
                                                       {"spins", "a loop of it may wait for another block"},
                                                       {"straight", "it has no loops"}}));
  EXPECT_EQ(batch->finish()["functions"], 4);
}

TEST_F(GatesTest, WithoutALatencySensitiveProgramKernelsAreUnchanged) {
  const Json result = start({"gated", "20", "module"})->result();
  EXPECT_EQ(result["right"], 40);
  EXPECT_EQ(status()["clients_seen"], 1);
}

TEST_F(GatesTest, ThreadsAndContextsOfAProgramHaveGates) {
  const auto service = start_service();
  for (const char* kind : {"threads", "contexts"}) {
    const auto batch = start({"gated", "told", kind});
    (void)client(0, closes);
    const Json result = batch->finish();
    EXPECT_EQ(result["right"], result["launches"]) << kind;
    (void)clients(1);
  }
}

TEST_F(GatesTest, ACaptureInProgressIsNotDisturbedAndKeepsTheProgramsKernel) {
  const auto service = start_service();
  const auto batch = start({"gated", "told", "capture"});
  (void)client(0, closes);
  const Json result = batch->finish();
  EXPECT_EQ(result["ended"], 0);
  EXPECT_EQ(result["own"], 1);
  EXPECT_EQ(result["right"], 1);
}

TEST_F(GatesTest, GatesEndWithTheLatencySensitiveProgram) {
  const auto service = start_service();
  const auto batch = start({"gated", "told", "module"});
  (void)client(0, closes);
  service->kill();
  (void)client(0, [](const Json& c) { return c["mechanism"] == "none"; });
  const Json result = batch->finish();
  EXPECT_EQ(result["right"], result["launches"]);
}

TEST_F(GatesTest, AProgramWithGatesOutlivesTheDaemon) {
  const auto service = start_service();
  const auto batch = start({"gated", "told", "module"});
  (void)client(0, closes);
  end_daemon();
  EXPECT_TRUE(batch->says("the daemon is gone"));
  const Json result = batch->finish();
  EXPECT_EQ(result["right"], result["launches"]);
}

TEST_F(GatesTest, AKernelMayHaveGatesFromItsFirstLaunchOn) {
  end_daemon();
  ArbiterOptions options = mps(25);
  options.gates = Gates::always;
  start_daemon(options);
  const auto batch = start({"gated", "told", "module"});
  const Json seen = client(0, [](const Json& c) { return c["counters"]["gated_launches"].get<int>() > 0; });
  const Json result = batch->finish();
  EXPECT_EQ(result["right"], result["launches"]);
  EXPECT_EQ(kernels(seen).at("sum"), "gates");
}

TEST_F(GatesTest, GatesNeedMps) {
  ArbiterOptions options;
  options.gates = Gates::beside_others;
  options.socket = socket_ + "2";
  EXPECT_FALSE(Arbiter::open(options, "a GPU"));
}

class LongGatesTest : public GatesTest {};

TEST_F(LongGatesTest, AHundredKilledProgramsLeaveNothingBehind) {
  const auto service = start_service();
  const auto survivor = start({"gated", "told", "module"});
  (void)client(0, closes);
  for (int i = 0; i < 100; ++i) {
    const auto killed = start({"gated", "told", i % 3 == 0 ? "threads" : "module"}, i % 2 == 0 ? "5" : "0");
    std::this_thread::sleep_for(std::chrono::milliseconds(i * 37 % 400));
    killed->kill();
  }
  EXPECT_EQ(clients(2).size(), 2U);
  const int before = client(0, closes)["counters"]["gate_closings"];
  (void)client(0, [&](const Json& c) { return c["counters"]["gate_closings"].get<int>() > before; });
  const Json result = survivor->finish();
  EXPECT_EQ(result["right"], result["launches"]);
}

}  // namespace
}  // namespace wm::runtime
