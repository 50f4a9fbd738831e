// The memory of a daemon that many clients have used.
#include <fstream>

#include "runtime/conformance/children.h"

namespace wm::runtime::test {
namespace {

// The resident memory of a process, in megabytes.
double resident_megabytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// PoCL keeps the code of about a hundred kernels loaded, 12 KB each for these, so the first clients are not counted.
TEST(LongMemoryGrowth, ThreeHundredClientsLeaveNoMemoryInTheDaemon) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no native device";
  const Daemon daemon("growth");
  ASSERT_TRUE(daemon.started());
  double before = 0;
  for (int i = 0; i < 300; ++i) {
    Child client(daemon, {"work", "2", "-DSALT=" + std::to_string(i % 20)});
    ASSERT_EQ(client.wait(120), 0) << "client " << i;
    if (i == 60) before = resident_megabytes(daemon.pid());
  }
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive));
  const double after = resident_megabytes(daemon.pid());
  RecordProperty("megabytes_before", static_cast<int>(before));
  RecordProperty("megabytes_after", static_cast<int>(after));
  EXPECT_GT(before, 10);
  EXPECT_LT(after, before + 15) << before << " MB after 61 clients";
}

}  // namespace
}  // namespace wm::runtime::test
