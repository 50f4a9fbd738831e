// The daemon's report, its metrics and its answers to `wm set`, `wm policy` and `wm end`, over a device that computes
// nothing. Every number that a client has differs from the others, so that none is shown in place of another.
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "base/json.h"
#include "policy/registry.h"
#include "runtime/device/null_opencl.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/server/access.h"
#include "runtime/server/control.h"
#include "runtime/server/metrics.h"

namespace wm::runtime::test {
namespace {

ServeOptions plain_options() {
  ServeOptions options;
  options.rewrite = false;
  options.sandbox_seconds = 0;
  options.cache = testing::TempDir();
  return options;
}

struct DaemonTest : testing::Test {
  explicit DaemonTest(const ServeOptions& options = plain_options())
      : daemon(options, null_backend(true), policy_of("accelos"), "accelos"),
        control(daemon, clients, {{"alice", 3}}) {}
  ~DaemonTest() override { clients.shut_down(); }

  static std::unique_ptr<policy::Policy> policy_of(const std::string& name) {
    return std::move(*policy::make(*policy::choose(name), DeviceMachine::capabilities(), "device"));
  }
  Session& add(const std::string& name, int pid, const Hello& hello = {}) {
    Descriptor file;
    auto session = Session::make(daemon.context(), {{pid, ::getuid()}, name, clients.next_number(), 1.5}, hello, file);
    EXPECT_TRUE(session.ok());
    (*session)->start();
    clients.connections().push_back({Descriptor(), *session});
    return **session;
  }
  Session& busy_client() {
    Session& session = add("busy", 77);
    ClientStatistics& s = session.state.statistics;
    s.commands = 11;
    s.launches = 12;
    s.outstanding = 13;
    s.device_nanoseconds = 14'000'000'000;
    s.waited_nanoseconds = 15'000'000'000;
    s.turnaround_nanoseconds = 48e9;
    s.isolated_nanoseconds = 16e9;
    s.estimated_launches = 5;
    s.as_workers = 18;
    s.unmodified_capped = 23;
    s.queued_workers = 19;
    s.repeated_workers = 20;
    s.workers = 21;
    s.kernel = "matmul";
    s.priority = 22;
    s.share = 2.5;
    s.goal_nanoseconds = 25e6;
    s.goal_part = 0.75;
    return session;
  }
  nlohmann::json status() { return nlohmann::json::parse(status_document({"/tmp/socket", 12.5, daemon, clients})); }
  std::string metrics(const TotalsByUser& gone = {}) {
    return metrics_page({"/tmp/socket", 12.5, daemon, clients}, gone);
  }
  std::string answer(const std::string& request) { return control.answer(request); }

  ClientList clients;
  Daemon daemon;
  Control control;
};

// The first policy is the server's to wrap; `wm policy` makes the next.
TEST(Decisions, TheDecisionsOfAPolicyThatIsChosenLaterAreAppendedToTheFile) {
  ServeOptions options = plain_options();
  options.decisions_file = testing::TempDir() + "daemon_decisions.txt";
  std::remove(options.decisions_file.c_str());
  {
    Daemon daemon(options, null_backend(true), DaemonTest::policy_of("accelos"), "accelos");
    ASSERT_TRUE(daemon.set_policy("moving_shares").ok());
  }
  std::ostringstream text;
  text << std::ifstream(options.decisions_file).rdbuf();
  EXPECT_NE(text.str().find(" > started\n"), std::string::npos) << text.str();
}

TEST_F(DaemonTest, TheStatusShowsEveryNumberOfAClient) {
  busy_client();
  const nlohmann::json all = status(), c = all["clients"][0];
  const nlohmann::json expected{{"client", 1},
                                {"name", "busy"},
                                {"pid", 77},
                                {"priority", 22},
                                {"share", 2.5},
                                {"goal_seconds", 0.025},
                                {"goal_part", 0.75},
                                {"kernel", "matmul"},
                                {"workers", 21},
                                {"running_seconds", 0.0},
                                {"queued", 13},
                                {"commands", 11},
                                {"launches", 12},
                                {"as_workers", 18},
                                {"unmodified_capped", 23},
                                {"queued_workers", 19},
                                {"repeated_workers", 20},
                                {"device_seconds", 14.0},
                                {"waited_seconds", 15.0},
                                {"turnaround_seconds", 48.0},
                                {"isolated_seconds", 16.0},
                                {"slowdown", 3.0},
                                {"slowdown_basis", "mostly measured"},
                                {"launches_estimated", 5},
                                {"memory_bytes", 0},
                                {"memories", 0},
                                {"programs", 0},
                                {"kernels", 0},
                                {"queues", 1}};
  for (const auto& [key, value] : expected.items()) {
    if (value.is_number_float()) {
      EXPECT_NEAR(c[key].get<double>(), value.get<double>(), 1e-9) << key;
    } else {
      EXPECT_EQ(c[key], value) << key;
    }
  }
  EXPECT_EQ(c["uid"], ::getuid());
  EXPECT_EQ(c["user"], user_name(::getuid()));
  EXPECT_GE(c["seconds"].get<double>(), 0.0);
  EXPECT_LT(c["seconds"].get<double>(), 600.0);
}

TEST_F(DaemonTest, TheStatusDescribesTheDaemon) {
  add("first", 5);
  const nlohmann::json all = status();
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["pid"], ::getpid());
  EXPECT_EQ(all["socket"], "/tmp/socket");
  EXPECT_EQ(all["seconds"], 12.5);
  EXPECT_EQ(all["platform"], "null");
  EXPECT_EQ(all["policy"], "accelos");
  EXPECT_EQ(all["kernel_faults"], daemon.backend().kernel_fault_count());
  EXPECT_EQ(all["clients_seen"], 1);
  EXPECT_EQ(all["clients_cut_off"], 0);
  EXPECT_EQ(all["alive"]["queues"], 1);
  for (const char* zero : {"programs_tried", "programs_known", "programs_refused", "launches_refused",
                           "launches_precompiled", "clients_leaving"}) {
    EXPECT_EQ(all[zero], 0) << zero;
  }
  EXPECT_TRUE(all["cut_off"].empty() && all["orphaned_kernels"].empty());
  EXPECT_FALSE(all["admission_rules"].empty());
}

TEST_F(DaemonTest, AClientWithoutLaunchesHasNoSlowdownAndNoGoal) {
  add("quiet", 6);
  const nlohmann::json c = status()["clients"][0];
  EXPECT_TRUE(c["slowdown"].is_null());
  EXPECT_TRUE(c["goal_seconds"].is_null());
  EXPECT_TRUE(c["goal_part"].is_null());
  EXPECT_EQ(c["slowdown_basis"], "measured");
  EXPECT_EQ(c["share"], 1.5) << "the default of its user";
}

TEST_F(DaemonTest, TheBasisOfASlowdownIsEstimatedFromHalfOfTheLaunchesOn) {
  Session& session = busy_client();
  struct Case {
    std::uint64_t launches, estimated;
    const char* basis;
  };
  for (const Case& c : {Case{10, 0, "measured"}, Case{10, 1, "mostly measured"}, Case{10, 4, "mostly measured"},
                        Case{10, 5, "estimated"}, Case{10, 10, "estimated"}}) {
    session.state.statistics.launches = c.launches;
    session.state.statistics.estimated_launches = c.estimated;
    EXPECT_EQ(status()["clients"][0]["slowdown_basis"], c.basis) << c.estimated;
  }
}

TEST_F(DaemonTest, WhatAClientAskedForIsItsWeight) {
  Hello hello;
  hello.priority = 4;
  hello.share = 2500;
  hello.goal_microseconds = 300;
  hello.goal_part = 1500;
  const ClientStatistics s = daemon.scheduler().statistics(add("asks", 7, hello));
  EXPECT_EQ(s.priority, 4);
  EXPECT_DOUBLE_EQ(s.share, 2.5);
  EXPECT_DOUBLE_EQ(s.goal_nanoseconds, 300'000);
  EXPECT_DOUBLE_EQ(s.goal_part, 1) << "at most its isolated rate";
}

TEST_F(DaemonTest, TheMetricsAreThoseOfTheClientAndOfItsUser) {
  busy_client();
  const std::string user = user_name(::getuid()), labels = "{client=\"1\",program=\"busy\",user=\"" + user + "\"}";
  const std::string page = metrics({{user, {100, 3, 1'000'000'000, 5, 2e9, 4e9}}, {"gone\"\\\n", {7, 1, 0, 0, 0, 0}}});
  const std::string faults = " " + std::to_string(daemon.backend().kernel_fault_count());
  const std::pair<std::string, std::string> rows[] = {{"uptime_seconds", " 12.5"},
                                                      {"clients", " 1"},
                                                      {"clients_total", " 1"},
                                                      {"clients_cut_off_total", " 0"},
                                                      {"launches_total", " 119"},
                                                      {"launches_as_workers_total", " 22"},
                                                      {"device_seconds_total", " 15"},
                                                      {"kernel_faults_total", faults},
                                                      {"programs_refused_total", " 0"},
                                                      {"launches_refused_total", " 0"},
                                                      {"memory_objects", " 0"},
                                                      {"commands_open", " 0"},
                                                      {"user_launches_total", "{user=\"" + user + "\"} 112"},
                                                      {"user_launches_total", "{user=\"gone\\\"\\\\\"} 7"},
                                                      {"user_device_seconds_total", "{user=\"" + user + "\"} 15"},
                                                      {"user_turnaround_seconds_total", "{user=\"" + user + "\"} 50"},
                                                      {"user_isolated_seconds_total", "{user=\"" + user + "\"} 20"},
                                                      {"client_launches_total", labels + " 12"},
                                                      {"client_device_seconds_total", labels + " 14"},
                                                      {"client_waited_seconds_total", labels + " 15"},
                                                      {"client_queued", labels + " 13"},
                                                      {"client_memory_bytes", labels + " 0"},
                                                      {"client_workers", labels + " 21"},
                                                      {"client_share", labels + " 2.5"},
                                                      {"client_priority", labels + " 22"},
                                                      {"client_slowdown", labels + " 3"}};
  for (const auto& [name, rest] : rows) {
    const std::size_t at = page.find("\nwarpmux_" + name + rest);
    EXPECT_NE(at, std::string::npos) << name << rest << "\n" << page;
    EXPECT_NE(page.find("# TYPE warpmux_" + name + " "), std::string::npos) << name;
  }
}

TEST_F(DaemonTest, AClientIsNamedByNumberPidOrUniqueName) {
  add("same", 50);
  add("same", 51);
  Session& other = add("1", 52);
  EXPECT_EQ(answer(R"({"op":"set","client":"51","share":4})"),
            R"({"done":"client 2 (same, pid 51): share 4, priority 0"})");
  EXPECT_EQ(answer(R"({"op":"set","client":"3","priority":9})"),
            R"({"done":"client 3 (1, pid 52): share 1.5, priority 9"})");
  EXPECT_EQ(answer(R"({"op":"set","client":"same","share":4})"),
            R"({"error":"'same' names 2 clients: give a number of wm status"})");
  EXPECT_EQ(answer(R"({"op":"set","client":"nobody","share":4})"),
            R"({"error":"no client 'nobody'; wm status lists them"})");
  EXPECT_EQ(answer(R"({"op":"end","client":"3"})"), R"({"done":"client 3 (1, pid 52) is ended"})");
  EXPECT_EQ(other.cut_off(), "was ended with wm end");
}

TEST_F(DaemonTest, RequestsOutOfTheirRangeAreRefused) {
  add("c", 60);
  const std::pair<const char*, const char*> requests[] = {
      {R"({"op":"set","client":"1","share":1000})", "done"},
      {R"({"op":"set","client":"1","share":1000.5})", "error"},
      {R"({"op":"set","client":"1","share":0.001})", "done"},
      {R"({"op":"set","client":"1","share":0})", "error"},
      {R"({"op":"set","client":"1","share":-1})", "error"},
      {R"({"op":"set","client":"1","priority":0})", "done"},
      {R"({"op":"set","client":"1","priority":100})", "done"},
      {R"({"op":"set","client":"1","priority":101})", "error"},
      {R"({"op":"set","client":"1","priority":-1})", "error"},
      {R"({"op":"set","client":"1"})", "error"},
      {R"({"op":"set","client":"1","share":"x"})", "error"},
      {R"({"op":"set","client":"user:","share":1})", "error"},
      {R"({"op":"set","client":"user:no such user","share":1})", "error"},
      {R"({"op":"set","client":"user:0","share":1,"priority":2})", "error"},
      {R"({"op":"end","client":"9"})", "error"},
      {R"({"op":"policy","policy":"moving_shares"})", "done"},
      {R"({"op":"policy","policy":"fifo"})", "error"},
      {R"({"op":"policy","policy":"nosuch"})", "error"},
      {R"({"op":"policy","policy":"spatial"})", "error"},
      {R"({"op":"other"})", "error"},
      {"[1]", "error"},
      {"{", "error"},
  };
  for (const auto& [request, outcome] : requests) {
    EXPECT_TRUE(nlohmann::json::parse(answer(request)).contains(outcome)) << request << " " << answer(request);
  }
  EXPECT_TRUE(daemon.policy_name().starts_with("moving_shares")) << daemon.policy_name();
}

TEST_F(DaemonTest, AUsersShareIsThatOfItsClientsNowAndLater) {
  add("a", 61);
  add("b", 62);
  const std::string user = user_name(::getuid());
  EXPECT_EQ(control.default_share(::getuid()), 1.0);
  EXPECT_EQ(answer(R"({"op":"set","client":"user:)" + user + R"(","share":6})"),
            R"({"done":"share 6 for user )" + user + R"(: 2 clients now, and later ones"})");
  EXPECT_EQ(control.default_share(::getuid()), 6.0);
  for (const auto& c : status()["clients"]) EXPECT_EQ(c["share"], 6);
  EXPECT_EQ(answer(R"({"op":"set","client":"user:54321","share":2})"),
            R"({"done":"share 2 for user 54321: 0 clients now, and later ones"})");
}

TEST_F(DaemonTest, ClientsThatWereCutOffAreListedTheLatestSixteen) {
  for (int i = 0; i < 18; ++i) {
    add("c" + std::to_string(i), 100 + i).cut("reason " + std::to_string(i));
  }
  add("stays", 99);
  auto& connections = clients.connections();
  while (connections.size() > 1) {
    clients.close(connections.front());
    connections.pop_front();
  }
  const nlohmann::json all = status();
  EXPECT_EQ(all["clients_cut_off"], 18);
  ASSERT_EQ(all["cut_off"].size(), 16U);
  EXPECT_EQ(all["cut_off"][0], (nlohmann::json{{"client", 3}, {"name", "c2"}, {"pid", 102}, {"reason", "reason 2"}}));
  EXPECT_EQ(all["clients"].size(), 1U);
  clients.close_all();
  EXPECT_EQ(clients.cut_off_count(), 18U) << "a client that disconnects was not cut off";
  EXPECT_TRUE(clients.connections().empty());
  clients.shut_down();
  EXPECT_EQ(clients.closing(), 0U);
}

TEST_F(DaemonTest, AllClientsHaveLeftOnceTheLastOneIsClosed) {
  EXPECT_FALSE(clients.all_have_left()) << "none has come";
  add("first", 1);
  const Session& second = add("second", 2);
  const auto kept = clients.sessions();
  clients.close(clients.connections().front());
  clients.connections().pop_front();
  while (clients.closing() != 0) std::this_thread::yield();
  EXPECT_FALSE(clients.all_have_left()) << "one is connected";
  clients.close_all();
  while (clients.closing() != 0) std::this_thread::yield();
  EXPECT_TRUE(second.closed());
  EXPECT_TRUE(clients.all_have_left());
  EXPECT_FALSE(clients.all_have_left()) << "since then none has left";
  clients.connections().push_back({Descriptor(), nullptr});
  clients.close_all();
  EXPECT_FALSE(clients.all_have_left()) << "it never was a client";
}

TEST(Access, TheOwnerAndRootMayDoEverything) {
  struct Row {
    uid_t user, own;
    unsigned mode;
    bool connects, controls;
  };
  for (const Row& row : {Row{7, 7, 0600, true, true}, Row{0, 7, 0600, true, true}, Row{1, 7, 0600, false, false},
                         Row{8, 7, 0600, false, false}, Row{8, 7, 0711, false, false}, Row{8, 7, 0660, true, false},
                         Row{8, 7, 0606, true, false}, Row{8, 7, 0620, true, false}, Row{8, 7, 0604, true, false},
                         Row{8, 0, 0600, false, false}, Row{7, 7, 0666, true, true}}) {
    EXPECT_EQ(may_connect(row.user, row.own, row.mode), row.connects) << row.user << " " << std::oct << row.mode;
    EXPECT_EQ(may_control(row.user, row.own), row.controls) << row.user;
  }
}

// The memory that a client is told the device has.
std::uint64_t told_memory(const ServeOptions& options) {
  Daemon daemon(options, null_backend(true), DaemonTest::policy_of("accelos"), "accelos");
  return daemon.context().limits.per_client();
}

TEST(DaemonLimits, AClientsMemoryIsItsOwnLimitOrThatOfAllOrTheDevices) {
  ServeOptions options = plain_options();
  options.memory = 5000;
  EXPECT_EQ(told_memory(options), 5000U);
  options.client_memory = 4000;
  EXPECT_EQ(told_memory(options), 4000U);
  options.memory = 0;
  EXPECT_EQ(told_memory(options), 4000U);
}

TEST(DaemonLimits, ABufferLargerThanTheDeviceIsNotCountedWhereNobodySetALimit) {
  struct Row {
    std::uint64_t memory, client_memory;
    bool counted;
  };
  for (const Row& row : {Row{0, 0, false}, Row{5000, 0, true}, Row{0, 4000, true}, Row{5000, 4000, true}}) {
    ServeOptions options = plain_options();
    options.memory = row.memory;
    options.client_memory = row.client_memory;
    Daemon daemon(options, null_backend(true), DaemonTest::policy_of("accelos"), "accelos");
    EXPECT_EQ(daemon.context().limits.exceeds_device(~std::uint64_t{0}), !row.counted) << row.memory;
  }
}

TEST(DaemonSandbox, HasTheDeviceItsDriverAndAFolderOfTheCache) {
  ServeOptions options = plain_options();
  options.device = "some device";
  options.cache = "/no/such/cache";
  Daemon without(options, null_backend(true), DaemonTest::policy_of("accelos"), "accelos");
  EXPECT_FALSE(without.sandbox().possible()) << "it takes no time, and so there is none";
  const sandbox::SandboxOptions& o = without.sandbox().options();
  EXPECT_EQ(o.device, "some device");
  EXPECT_EQ(o.driver, without.backend().driver_version());
  EXPECT_EQ(o.folder, "/no/such/cache/tried");
  EXPECT_EQ(o.limit, std::chrono::seconds(0));
}

// The admission rule for short launches, as `wm serve` prints it.
std::string short_rule(const ServeOptions& options, const std::string& policy) {
  Daemon daemon(options, null_backend(true), DaemonTest::policy_of(policy == "fifo" ? "left_over" : policy), policy);
  for (const std::string& rule : daemon.scheduler().admission_rules()) {
    if (rule.starts_with("short_launches")) return rule;
  }
  return "";
}

TEST(DaemonLimits, ShortLaunchesAreThoseOfTheOptionOrOfThePolicy) {
  ServeOptions options = plain_options();
  EXPECT_EQ(short_rule(options, "accelos"), "");
  EXPECT_NE(short_rule(options, "moving_shares").find(" 300 "), std::string::npos);
  options.short_launch = 20;
  EXPECT_NE(short_rule(options, "accelos").find("60 "), std::string::npos) << short_rule(options, "accelos");
  options.short_launch = 0;
  EXPECT_EQ(short_rule(options, "accelos"), "");
}

}  // namespace
}  // namespace wm::runtime::test
