// The clients of a device, as `wm status` shows them.
#include "cli/output/client_table.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace wm::cli {
namespace {

TEST(ClientTable, GoalsStandBesideWhatLaunchesTook) {
  const auto status = nlohmann::ordered_json::parse(R"({"clients":[
      {"client":1,"goal_seconds":null,"launches":4,"turnaround_seconds":1.0},
      {"client":2,"goal_seconds":0.002,"launches":4,"turnaround_seconds":0.012},
      {"client":3,"goal_seconds":0.002,"launches":0,"turnaround_seconds":0.0},
      {"client":4,"goal_seconds":null,"goal_part":0.9,"launches":2,"turnaround_seconds":0.008}]})");
  EXPECT_EQ(goals_of_clients(status),
            "client 2: goal 2 ms a launch; 3 ms on average\n"
            "client 3: goal 2 ms a launch\n"
            "client 4: goal 0.9 of its isolated rate; 4 ms on average\n");
  EXPECT_EQ(goals_of_clients({{"clients", nlohmann::ordered_json::array()}}), "");
}

TEST(ClientTable, LaunchesThatRanUnmodifiedAreCountedWithTheReason) {
  const auto status = nlohmann::ordered_json::parse(R"({"clients":[{"client":1,"launches":4},
      {"client":2,"launches":5,"unmodified_short":0}, {"client":3,"launches":12345,"unmodified_short":1234,"unmodified_capped":17}]})");
  EXPECT_EQ(unmodified_launches_of_clients(status),
            "client 3: 1,234 of 12,345 launches were short and ran unmodified\n"
            "client 3: 17 of 12,345 launches ran unmodified, with caps by shared memory\n");
}

TEST(ClientTable, KernelsWithoutGatesStandBesideTheirReason) {
  const auto status = nlohmann::ordered_json::parse(R"({"clients":[{"client":1},
      {"client":2,"kernels":[{"name":"sum","gates":true,"reason":""},
                             {"name":"copy","gates":false,"reason":"it has no loops"}]}]})");
  EXPECT_EQ(kernels_of_clients(status),
            "client 2: kernel 'sum' has gates\n"
            "client 2: kernel 'copy' has no gates: it has no loops\n");
}

// The daemon of OpenCL programs writes how many kernels a client has.
TEST(ClientTable, ANumberOfKernelsIsNoListOfThem) {
  const auto status = nlohmann::ordered_json::parse(R"({"clients":[{"client":1,"kernels":3}]})");
  EXPECT_EQ(kernels_of_clients(status), "");
}

}  // namespace
}  // namespace wm::cli
