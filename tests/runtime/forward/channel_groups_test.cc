// Channel groups as they are seen in the driver's calls to the kernel, and the calls that set their time slices.
#include "runtime/client/forward/channel_groups.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/client/forward/kernel_interface.h"

namespace wm::forward {
namespace {

using ::testing::ElementsAre;

// A kernel module that keeps the slices of groups, and refuses what the test says.
class ChannelGroupsTest : public ::testing::Test {
 protected:
  struct Call {
    std::uint32_t object, command;
    std::uint64_t slice;
    friend bool operator==(const Call&, const Call&) = default;
  };
  ChannelGroupsTest() : file_(::open("/dev/null", O_RDWR)) {}
  ~ChannelGroupsTest() override { ::close(file_); }

  int answer(int file, unsigned long request, void* argument) {
    EXPECT_EQ(file, file_);
    EXPECT_EQ(request, _IOWR('F', 0x2a, kernel::Control));
    auto& control = *static_cast<kernel::Control*>(argument);
    // The module gets addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto& slice = *reinterpret_cast<kernel::Slice*>(control.parameters);
    if (control.command == kernel::kGetSlice) slice.microseconds = 2048;
    if (control.command == kernel::kSetSlice) calls_.push_back({control.object, control.command, slice.microseconds});
    control.status = refuses_ ? 0x1f : 0;
    return 0;
  }
  bool allocate(std::uint32_t object, std::uint32_t object_class = kernel::kChannelGroupClass,
                std::uint32_t status = 0) {
    kernel::AllocateWithRights call{};
    call.client = 0xc1;
    call.object = object;
    call.object_class = object_class;
    call.status = status;
    return groups_.observe(file_, _IOWR('F', 0x2b, kernel::AllocateWithRights), &call);
  }
  bool free(std::uint32_t client, std::uint32_t object) {
    const kernel::Free call{client, 0, object, 0};
    return groups_.observe(file_, _IOWR('F', 0x29, kernel::Free), &call);
  }
  bool apply(std::uint32_t slice) {
    page_.words.slice_microseconds = slice;
    return groups_.apply(page_);
  }

  const int file_;
  bool refuses_ = false;
  std::vector<Call> calls_;
  runtime::ControlPage page_;
  ChannelGroups groups_{
      [this](int file, unsigned long request, void* argument) { return answer(file, request, argument); }};
};

TEST_F(ChannelGroupsTest, AllocatedGroupsGetTheSliceAndLaterTheirOwnAgain) {
  EXPECT_TRUE(allocate(7));
  EXPECT_TRUE(allocate(8));
  apply(200);
  apply(200);  // nothing has changed
  EXPECT_EQ(page_.counters.sliced_groups, 2U);
  EXPECT_EQ(page_.counters.applied_slice, 200U);
  apply(0);
  EXPECT_THAT(calls_, ElementsAre(Call{7, kernel::kSetSlice, 200}, Call{8, kernel::kSetSlice, 200},
                                  Call{7, kernel::kSetSlice, 2048}, Call{8, kernel::kSetSlice, 2048}));
  EXPECT_EQ(page_.counters.applied_slice, 0U);
}

TEST_F(ChannelGroupsTest, WithoutASliceNothingIsSent) {
  allocate(7);
  apply(0);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(page_.counters.channel_groups, 1U);
}

TEST_F(ChannelGroupsTest, TheShorterFormOfAllocationAndTransfersAreRead) {
  kernel::Allocate call{};
  call.client = 0xc1;
  call.object = 9;
  call.object_class = kernel::kChannelGroupClass;
  EXPECT_TRUE(groups_.observe(file_, _IOWR('F', 0x2b, kernel::Allocate), &call));
  call.object = 10;
  const kernel::Transfer transfer{kernel::kAllocate, sizeof call, reinterpret_cast<std::uint64_t>(&call)};
  EXPECT_TRUE(groups_.observe(file_, _IOWR('F', kernel::kTransfer, kernel::Transfer), &transfer));
  EXPECT_EQ(groups_.size(), 2U);
}

TEST_F(ChannelGroupsTest, OtherCallsAreIgnored) {
  EXPECT_FALSE(allocate(7, 0xc86f));
  EXPECT_FALSE(allocate(7, kernel::kChannelGroupClass, 0x31));  // the module has refused it
  const char other[24] = {};
  EXPECT_FALSE(groups_.observe(file_, _IOWR('F', 0x2b, char[24]), other));  // no layout that we know
  EXPECT_FALSE(groups_.observe(file_, _IOWR('G', 0x2b, kernel::Allocate), other));
  EXPECT_EQ(groups_.size(), 0U);
}

TEST_F(ChannelGroupsTest, FreedGroupsAndThoseOfAFreedClientAreForgotten) {
  allocate(7);
  allocate(8);
  EXPECT_FALSE(free(0xc2, 7));  // the handle of another client
  EXPECT_TRUE(free(0xc1, 7));
  EXPECT_EQ(groups_.size(), 1U);
  EXPECT_TRUE(free(0xc1, 0xc1));
  EXPECT_EQ(groups_.size(), 0U);
}

TEST_F(ChannelGroupsTest, AGroupThatRefusesIsTriedThreeTimes) {
  allocate(7);
  refuses_ = true;
  EXPECT_TRUE(apply(200));
  EXPECT_TRUE(apply(200));
  EXPECT_FALSE(apply(200));
  EXPECT_FALSE(apply(200));
  EXPECT_EQ(page_.counters.slice_failures, 3U);
  EXPECT_EQ(page_.counters.sliced_groups, 0U);
}

TEST_F(ChannelGroupsTest, NothingIsSentToAFileThatTookTheNumberOfTheDriver) {
  allocate(7);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int kept = ::dup(file_);
  ::dup2(ends[0], file_);
  apply(200);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(page_.counters.slice_failures, 1U);
  ::dup2(kept, file_);
  for (const int open : {ends[0], ends[1], kept}) ::close(open);
}

}  // namespace
}  // namespace wm::forward
