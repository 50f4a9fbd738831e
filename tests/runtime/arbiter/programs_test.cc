// CUDA programs under an arbiter: limits, slices, goals, memory and faults.
#include "fixture.h"

namespace wm::runtime {
namespace {

TEST_F(ArbitratedProgramsTest, EntryPointsAreOursWhereWeWrapThemAndTheDriversElsewhere) {
  start_daemon({});
  for (const char* preload : {"", "1"}) {
    const Json found = start({"addresses"}, "0", preload)->result();
    for (const char* wrapped : {"launch", "launch_ptsz", "launch_ex", "proc", "old", "symbol"}) {
      EXPECT_EQ(found[wrapped], "forward") << wrapped;
    }
    // Where ours is preloaded, the simulated driver finds our symbols in place of its own.
    EXPECT_EQ(found["copy"], *preload == 0 ? "simulated" : "forward");
    EXPECT_EQ(found["unknown"], "error 500");
    EXPECT_EQ(found["too_old"], "error 500");
    EXPECT_EQ(found["export_table"], 801);  // as the simulated driver answers
  }
}

TEST_F(ArbitratedProgramsTest, AProgramByItselfIsUnchangedAndCounted) {
  start_daemon(mps(50));
  const auto program = start({"shared", "told"});
  const Json client = this->client(0, [](const Json& c) { return c["launches"].get<int>() > 0; });
  EXPECT_EQ(client["mechanism"], "none");
  const Json result = program->finish();
  EXPECT_EQ(result["shared_bytes"], 16);
  EXPECT_EQ(result["priority"], 0);
  EXPECT_TRUE(clients(0).empty());
  EXPECT_EQ(status()["clients_seen"], 1);
}

TEST_F(ArbitratedProgramsTest, BesideALatencySensitiveProgramBlocksAreLimitedThroughMps) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)clients(1);
  const auto batch = start({"wide", "told"});
  const Json limited = client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  EXPECT_EQ(limited["mechanism"], "at most 25% of the blocks per SM");
  const Json sensitive = client(5, [](const Json& c) { return c["counters"]["requests"].get<int>() > 10; });
  EXPECT_EQ(sensitive["mechanism"], "highest stream priority");
  EXPECT_GT(sensitive["counters"]["mean_request_us"], 0.0);
  // 32 blocks of 64 threads fit on an SM of an H200; 8 do with this much shared memory each.
  const unsigned bytes = batch->finish()["shared_bytes"];
  EXPECT_GT(9 * (bytes + 1024), 228U * 1024);
  EXPECT_LE(8 * bytes, 228U * 1024);
}

TEST_F(ArbitratedProgramsTest, LimitsAreSearchedFromATimeWithoutOne) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  start_daemon(options);
  const auto latency = start({"latency", "60"}, "5");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  const auto batch = start({"wide", "told"});
  (void)client(0, [](const Json& c) { return c["mechanism"] == "none" && c["launches"].get<int>() > 0; });
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
}

TEST_F(ArbitratedProgramsTest, ALaunchThatLeavesRoomOnEverySmIsNotPadded) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)clients(1);
  const auto batch = start({"shared", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  EXPECT_EQ(batch->finish()["shared_bytes"], 16);
}

TEST_F(ArbitratedProgramsTest, APolicyDividesTheSmsAmongPrograms) {
  ArbiterOptions options = mps(50);
  options.policy = "accelos";
  options.threads = 132 * 2048;
  start_daemon(options);
  const auto first = start({"compute", "60"});
  (void)clients(1);
  const auto second = start({"shared", "told"});
  (void)clients(2);
  EXPECT_EQ(status()["policy"], "accelos");
  // Its launches of 256 threads fill no part of the GPU, so that the policy has nothing to take away.
  EXPECT_EQ(second->finish()["shared_bytes"], 16);
  options.sharing = Sharing::isolated;
  options.socket = socket_ + "2";
  EXPECT_FALSE(Arbiter::open(options, "a GPU"));
}

TEST_F(ArbitratedProgramsTest, LaunchesBeyondAQuotaWait) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  options.policy = "quota";
  options.threads = 132 * 2048;
  start_daemon(options);
  // Ten launches a second are so few for this program that its quota holds it back.
  const auto service = start({"compute", "60"}, "0", "", "2 10");
  (void)clients(1);
  const auto batch = start({"shared", "told"}, "1");
  const auto has_quota = [](const Json& c) {
    return c["mechanism"].get<std::string>().find("a quota of launches") != std::string::npos;
  };
  (void)client(0, has_quota);
  (void)client(1, has_quota);
  (void)client(0, [](const Json& c) { return c["counters"]["waits"].get<int>() > 0; });
  (void)batch->finish();
  (void)client(0, [](const Json& c) { return c["mechanism"].get<std::string>().find("quota") == std::string::npos; });
}

TEST_F(ArbitratedProgramsTest, AKernelOfUnknownOriginIsPaddedWithoutAttributes) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  const auto batch = start({"enumerated", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  const unsigned bytes = batch->finish()["shared_bytes"];
  EXPECT_GT(bytes, 24U * 1024);
  EXPECT_LE(bytes, 48U * 1024);
}

TEST_F(ArbitratedProgramsTest, TheLimitEndsWithTheLatencySensitiveProgram) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)clients(1);
  const auto batch = start({"wide", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  latency->kill();
  (void)client(0, [](const Json& c) { return c["mechanism"] == "none"; });
  const Json result = batch->finish();
  EXPECT_EQ(result["shared_bytes"], 16);
  EXPECT_EQ(result["carveout"], -1);  // the driver's choice, so that the kernel has its L1 cache back
}

TEST_F(ArbitratedProgramsTest, CapturedLaunchesStayAsTheyAre) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  const auto batch = start({"capture", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  const Json result = batch->finish();
  EXPECT_GT(result["launched"], 16);
  EXPECT_EQ(result["captured"], 16);
}

TEST_F(ArbitratedProgramsTest, AGraphCountsAsItsKernels) {
  start_daemon(mps(50));
  const auto program = start({"graphs", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["graph_launches"].get<int>() > 0; });
  // Both numbers are of the same time only while the program waits between two launches. The launches that were
  // captured count too.
  (void)client(0, [](const Json& c) {
    return c["launches"].get<int>() == 3 * (c["counters"]["graph_launches"].get<int>() + 1);
  });
  EXPECT_EQ(program->finish()["shared_bytes"], 16);
}

TEST_F(ArbitratedProgramsTest, ACopyOfTheResultEndsARequest) {
  start_daemon(mps(50));
  const auto batch = start({"compute", "60"});
  (void)client(0, [](const Json& c) { return c["state"] == "active"; });
  const auto service = start({"copied", "told"}, "5");
  const Json c = client(5, [](const Json& c) { return c["counters"]["requests"].get<int>() > 10; });
  EXPECT_GT(c["counters"]["mean_request_us"], 0.0);
  (void)service->finish();
}

TEST_F(ArbitratedProgramsTest, StreamsOfALatencySensitiveProgramHaveTheHighestPriority) {
  start_daemon({});
  EXPECT_LT(start({"shared", "1"}, "5")->result()["priority"], 0);
  EXPECT_LT(start({"shared", "1"}, "0", "", "1 300000")->result()["priority"], 0);
  EXPECT_EQ(start({"shared", "1"}, "0")->result()["priority"], 0);
}

TEST_F(ArbitratedProgramsTest, AGoalIsMeasuredAndShown) {
  start_daemon(mps(50));
  const auto latency = start({"latency", "60"}, "0", "", "1 900000000");
  const auto batch = start({"compute", "60"});
  const Json c = client(0, [](const Json& c) { return !c["reached"].get<std::string>().empty(); });
  EXPECT_EQ(c["goal"], "p99=900000us");
}

TEST_F(ArbitratedProgramsTest, AGoalMayBeAPartOfTheIsolatedRate) {
  start_daemon(mps(50));
  const auto program = start({"compute", "60"}, "0", "", "3 0.9");
  const Json c = client(0, [](const Json& c) { return !c["reached"].get<std::string>().empty(); });
  EXPECT_EQ(c["goal"], "0.9");
  EXPECT_GT(std::stod(c["reached"].get<std::string>()), 0.0);
}

TEST_F(ArbitratedProgramsTest, TheIsolatedRateIsSampledWhereOthersAreAlwaysActive) {
  start_daemon(mps(50));
  const auto batch = start({"compute", "60"});
  (void)client(0, [](const Json& c) { return c["state"] == "active"; });
  const auto program = start({"compute", "60"}, "3", "", "3 0.9");
  const Json c = client(3, [](const Json& c) { return !c["reached"].get<std::string>().empty(); });
  EXPECT_GT(std::stod(c["reached"].get<std::string>()), 0.0);
  (void)client(0, [](const Json& c) { return c["mechanism"] != "none"; });
  (void)client(0, [](const Json& c) { return c["counters"]["waits"].get<int>() > 0; });
}

TEST_F(ArbitratedProgramsTest, AGoalThatOthersLeaveNoRoomForIsRefused) {
  start_daemon(mps(50));
  const auto first = start({"compute", "60"}, "0", "", "3 0.9");
  (void)clients(1);
  const auto second = start({"shared", "1"}, "0", "", "3 0.5");
  EXPECT_NE(second->wait(), 0);
  EXPECT_NE(second->text().find("0.10 could be met; this program may not use the GPU"), std::string::npos)
      << second->text();
  EXPECT_EQ(start({"shared", "1"}, "0", "", "3 0.1")->result()["shared_bytes"], 16);
}

class WaitingGoalsTest : public ArbitratedProgramsTest {
 protected:
  // A program whose goal leaves others a tenth of the GPU. Those with larger goals wait.
  std::unique_ptr<Program> start_first() {
    ArbiterOptions options = mps(50);
    options.unmet_goals = UnmetGoals::wait;
    start_daemon(options);
    auto first = start({"compute", "60"}, "0", "", "3 0.9");
    (void)clients(1);
    return first;
  }
};

TEST_F(WaitingGoalsTest, AGoalWaitsUntilOthersLeaveRoomForIt) {
  const auto first = start_first();
  const auto gone = start({"shared", "1"}, "0", "", "3 0.5"), second = start({"shared", "1"}, "0", "", "3 0.5");
  for (int i = 0; i < 1000 && (second->text().empty() || gone->text().empty()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(second->text().find("this program waits: the goal 0.5 cannot be met"), std::string::npos);
  gone->kill();
  EXPECT_EQ(clients(1).size(), 1U);
  first->kill();
  EXPECT_EQ(second->result()["shared_bytes"], 16);
}

TEST_F(WaitingGoalsTest, AProgramThatWaitsRunsUnmanagedWhenTheDaemonEnds) {
  const auto first = start_first();
  const auto second = start({"shared", "1"}, "0", "", "3 0.5");
  EXPECT_TRUE(second->says("this program waits"));
  end_daemon();
  EXPECT_EQ(second->result()["shared_bytes"], 16);
  EXPECT_TRUE(second->says("the daemon has ended; this program's CUDA launches are not managed"));
}

TEST_F(ArbitratedProgramsTest, IsolatedProgramsGetASliceWhichTheSimulatedDriverHasNoGroupsFor) {
  ArbiterOptions options;
  options.max_loss = 1;
  start_daemon(options);
  const auto latency = start({"latency", "60"}, "5", "1");
  (void)clients(1);
  const auto batch = start({"compute", "60"}, "0", "1");
  const Json c = client(0, [](const Json& c) { return c["mechanism"] != "none"; });
  EXPECT_EQ(c["mechanism"], "time slice 100 us (not applied: no channel group takes it)");
  EXPECT_EQ(c["counters"]["channel_groups"], 0);
}

TEST_F(ArbitratedProgramsTest, AMemoryLimitHoldsForEveryKindOfMemoryAndIsVisible) {
  start_daemon({});
  constexpr std::size_t kLimit = 10 << 20;
  const Json r = start({"allocate"}, "0", "", "", std::to_string(kLimit))->result();
  EXPECT_EQ(r["total"], kLimit);
  EXPECT_EQ(r["device"], kLimit);
  EXPECT_EQ(r["free"], kLimit - 4);
  for (const char* kind : {"plain", "managed", "ordered", "arrays"}) EXPECT_EQ(r[kind], 9) << kind;
  EXPECT_EQ(r["left"], kLimit - 4 - (2 << 20));
  EXPECT_EQ(r["after_reset"], kLimit - 4) << "a reset frees all";
  const Json unlimited = start({"allocate"})->result();
  EXPECT_EQ(unlimited["plain"], 100);
  EXPECT_GT(unlimited["total"], kLimit);
}

TEST_F(ArbitratedProgramsTest, AFaultIsToldWithThoseThatItTakesDown) {
  ::testing::internal::CaptureStderr();
  start_daemon(mps(75));
  const auto other = start({"compute", "60"});
  (void)clients(1);
  const auto failing = start({"fault"}, "2");
  EXPECT_EQ(client(2, [](const Json& c) { return c["fault"] != 0; })["fault"], 700);
  end_daemon();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("client 2 (forward_program, pid"), std::string::npos) << text;
  EXPECT_NE(text.find("has failed with error 700 of the driver; through MPS the kernels of clients 1 (forward_program) "
                      "fail with it"),
            std::string::npos)
      << text;
}

TEST_F(ArbitratedProgramsTest, ContextsComeAndGo) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  EXPECT_EQ(start({"contexts", "8"})->result()["right"], 16);
}

TEST_F(ArbitratedProgramsTest, LaunchesOfOpenClAreSeenWhereTheLibraryIsPreloaded) {
  ArbiterOptions options;
  options.max_loss = 1;
  start_daemon(options);
  const auto service = start({"opencl", "told"}, "5", "1");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  const auto batch = start({"compute", "60"}, "0", "1");
  (void)client(5, [](const Json& c) { return c["counters"]["requests"].get<int>() > 0; });
  (void)client(0, [](const Json& c) { return c["mechanism"] != "none"; });
  const Json result = service->finish();
  EXPECT_EQ(result["failed"], 0);
  EXPECT_EQ(result["made"], result["launches"]);
}

TEST_F(ArbitratedProgramsTest, LaunchesWaitABoundedTime) {
  ArbiterOptions options;
  options.wait_microseconds = 500;
  start_daemon(options);
  const auto latency = start({"latency", "60"}, "5");
  (void)clients(1);
  const auto batch = start({"compute", "60"});
  const Json c = client(0, [](const Json& c) { return c["counters"]["waits"].get<int>() > 3; });
  EXPECT_LT(c["counters"]["waited_seconds"].get<double>(), c["counters"]["waits"].get<double>() * 0.1);
}

TEST_F(ArbitratedProgramsTest, AProgramOutlivesTheDaemonAndSaysSoOnce) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)clients(1);
  const auto batch = start({"wide", "told"});
  (void)client(0, [](const Json& c) { return c["counters"]["limited_launches"].get<int>() > 0; });
  end_daemon();
  EXPECT_TRUE(batch->says("the daemon is gone"));
  EXPECT_EQ(batch->finish()["shared_bytes"], 16);
  const std::string text = batch->text();
  EXPECT_EQ(text.find("the daemon is gone"), text.rfind("the daemon is gone"));
}

TEST_F(ArbitratedProgramsTest, WithoutADaemonAProgramRunsUnmanaged) {
  const auto program = start({"shared", "1"});
  EXPECT_EQ(program->result()["shared_bytes"], 16);
  EXPECT_NE(program->text().find("no daemon answers there"), std::string::npos);
}

TEST_F(ArbitratedProgramsTest, ProgramsKilledAtAnyMomentAreNoticed) {
  start_daemon(mps(75));
  const auto batch = start({"compute", "60"});
  (void)clients(1);
  for (int i = 0; i < 20; ++i) {
    const auto latency = start({"latency", "60"}, "5");
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
    latency->kill();
  }
  EXPECT_EQ(clients(1).size(), 1U);
  (void)client(0, [](const Json& c) { return c["mechanism"] == "none"; });
}

TEST_F(ArbitratedProgramsTest, AForkedChildDoesNotKeepTheConnection) {
  start_daemon({});
  const auto program = start({"fork"});
  const Json result = program->result();
  EXPECT_EQ(result["shared_bytes"], 16);
  const pid_t child = result["child"];
  EXPECT_EQ(::kill(child, 0), 0);
  EXPECT_TRUE(clients(0).empty());
  EXPECT_EQ(::kill(child, 0), 0) << "the child has ended before the daemon looked";
  ::kill(child, SIGKILL);
}

TEST_F(ArbitratedProgramsTest, ThreadsLaunchAtOnce) {
  start_daemon(mps(75));
  const auto latency = start({"latency", "60"}, "5");
  (void)client(5, [](const Json& c) { return c["state"] == "active"; });
  EXPECT_EQ(start({"threads", "4"})->result()["launches"], 400);
}

TEST_F(ArbitratedProgramsTest, AProgramMayCloseDescriptorsThatItDoesNotKnow) {
  start_daemon({});
  const auto program = start({"close", "told"});
  EXPECT_TRUE(program->says("the daemon is gone"));
  const Json result = program->finish();
  EXPECT_EQ(result["intact"], 8);
  EXPECT_EQ(result["shared_bytes"], 16);
}

TEST_F(ArbitratedProgramsTest, AProgramMayCloseTheLibrary) {
  start_daemon({});
  EXPECT_EQ(start({"unload"})->result()["closed"], 0);
}

TEST_F(ArbitratedProgramsTest, AProgramSetsItsOwnGoal) {
  start_daemon(mps(50));
  const std::pair<const char*, const char*> kinds[] = {{"1", "p99=900000us"}, {"2", "rate=1/s"}, {"3", "0.9"}};
  for (const auto& [kind, text] : kinds) {
    const auto program = start({"goal", kind, "told"});
    (void)client(0, [&](const Json& c) { return c["goal"] == text; });
    const Json result = program->finish();
    EXPECT_EQ(result["heard"], 1);
    EXPECT_EQ(result["too_much"], 0);
    EXPECT_EQ(result["unknown"], 0);
    (void)clients(0);
  }
}

TEST_F(ArbitratedProgramsTest, AProgramsOwnGoalIsRefusedWhereOthersLeaveNoRoomForIt) {
  ::testing::internal::CaptureStderr();
  start_daemon(mps(50));
  const auto first = start({"compute", "60"}, "0", "", "3 0.9");
  (void)clients(1);
  const auto program = start({"goal", "3", "told"}, "4");
  (void)client(4, [](const Json& c) { return c["launches"].get<int>() > 50; });
  EXPECT_EQ(client(4, [](const Json& c) { return c["state"] == "active"; })["goal"], "");
  EXPECT_EQ(program->finish()["heard"], 1);
  end_daemon();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("the goal 0.9 cannot be met"), std::string::npos) << text;
}

TEST_F(ArbitratedProgramsTest, AProgramSetsItsOwnPriority) {
  start_daemon({});
  const auto program = start({"priority", "7", "told"});
  (void)client(7, [](const Json&) { return true; });
  EXPECT_EQ(program->finish()["heard"], 1);
  end_daemon();
  EXPECT_EQ(start({"priority", "7", "1"})->result()["heard"], 0);
}

// A program that computes all the time, beside 200 others of both kinds that are killed.
class LongArbitratedProgramsTest : public ArbitratedProgramsTest {};

TEST_F(LongArbitratedProgramsTest, TwoHundredKilledProgramsLeaveNothingBehind) {
  start_daemon(mps(75));
  const auto survivor = start({"shared", "told"});
  (void)clients(1);
  for (int i = 0; i < 200; ++i) {
    const auto killed = start({i % 3 == 0 ? "compute" : "latency", "60"}, i % 2 == 0 ? "5" : "0");
    std::this_thread::sleep_for(std::chrono::milliseconds(i * 37 % 150));
    killed->kill();
  }
  EXPECT_EQ(clients(1).size(), 1U);
  EXPECT_EQ(client(0, [](const Json& c) { return c["mechanism"] == "none"; })["state"], "active");
  EXPECT_EQ(survivor->finish()["shared_bytes"], 16);
}

TEST_F(ArbitratedProgramsTest, TheSystemsOwnCallsAreUnchanged) {
  const Json found = start({"ioctl"}, "0", "1")->result();
  EXPECT_EQ(found, Json::parse(R"({"pipe": 0, "waiting": 3, "bad": -1, "errno": 1, "none": -1, "none_errno": 1})"));
}

TEST_F(ArbitratedProgramsTest, OtherClientsAreRefused) {
  start_daemon({});
  auto socket = connect_to(socket_);
  ASSERT_TRUE(socket);
  Hello hello;
  send_packet(*socket, {reinterpret_cast<const std::byte*>(&hello), sizeof hello});
  const auto packet = receive_packet(*socket, 1000);
  ASSERT_TRUE(packet && packet->bytes.size() == sizeof(Welcome));
  const auto answer = request_control(socket_, R"({"op": "policy"})");
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->find("error"), std::string::npos);
}

}  // namespace
}  // namespace wm::runtime
