// The account of a process's device memory.
#include "runtime/client/forward/memory_account.h"

#include <gtest/gtest.h>

namespace wm::forward {
namespace {

using Kind = MemoryAccount::Kind;

TEST(MemoryAccount, ReservationsCountUntilTheyAreCancelled) {
  MemoryAccount account;
  EXPECT_TRUE(account.reserve(60, 100));
  EXPECT_FALSE(account.reserve(41, 100));
  EXPECT_TRUE(account.reserve(40, 100));
  account.cancel(40);
  EXPECT_EQ(account.used(), 60U);
  EXPECT_FALSE(account.reserve(~std::uint64_t{0}, 100));
  EXPECT_TRUE(account.reserve(1000, 0)) << "there is no limit";
}

TEST(MemoryAccount, FreedAllocationsAreForgotten) {
  MemoryAccount account;
  account.reserve(10, 0);
  account.add(Kind::address, 7, 10, nullptr);
  account.remove(Kind::array, 7);  // another kind of name
  EXPECT_EQ(account.used(), 10U);
  account.remove(Kind::address, 7);
  account.remove(Kind::address, 7);
  EXPECT_EQ(account.used(), 0U);
}

TEST(MemoryAccount, AnAddressThatComesAgainReplacesWhatWasThere) {
  MemoryAccount account;
  account.reserve(10, 0);
  account.add(Kind::address, 7, 10, nullptr);
  account.reserve(4, 0);
  account.add(Kind::address, 7, 4, nullptr);
  EXPECT_EQ(account.used(), 4U);
}

TEST(MemoryAccount, AContextTakesItsMemoryWithIt) {
  MemoryAccount account;
  const int first = 0, second = 0;
  account.reserve(30, 0);
  account.add(Kind::address, 1, 10, &first);
  account.add(Kind::array, 2, 10, &first);
  account.add(Kind::address, 3, 10, &second);
  account.remove_context(&first);
  EXPECT_EQ(account.used(), 10U);
}

TEST(MemoryAccount, AHandleIsInUseUntilItIsReleasedAndUnmapped) {
  MemoryAccount account;
  account.reserve(10, 0);
  account.add(Kind::handle, 5, 10, nullptr);
  account.mapped(0x1000, 5);
  account.mapped(0x2000, 5);
  account.retained(5);
  account.remove(Kind::handle, 5);
  account.remove(Kind::handle, 5);
  account.unmapped(0x1000, 0x1000);
  EXPECT_EQ(account.used(), 10U);
  account.unmapped(0x2000, 0x1000);
  EXPECT_EQ(account.used(), 0U);
}

}  // namespace
}  // namespace wm::forward
