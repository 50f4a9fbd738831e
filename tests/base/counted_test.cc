#include "base/counted.h"

#include <gtest/gtest.h>

namespace wm {
namespace {

TEST(Counted, OnlyOneIsSingular) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "memory object"), "1 memory object");
  EXPECT_EQ(counted(21, "client"), "21 clients");
}

}  // namespace
}  // namespace wm
