#include "base/result.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace wm {
namespace {

using Text = Result<std::string>;

TEST(Result, HoldsAValueOrAnError) {
  const Text value = std::string("text");
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, "text");
  EXPECT_EQ(value->size(), 4u);
  const Text failed = Error{"no text", {}};
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "no text");
}

TEST(Result, AssignmentChangesTheSide) {
  Text result = std::string(100, 'v');
  const Text failed = Error{std::string(100, 'e'), {}};
  result = failed;
  EXPECT_EQ(result.error().what, failed.error().what);
  result = std::string(200, 'w');
  EXPECT_EQ(result->size(), 200u);
  Text& same = result;
  result = same;
  EXPECT_EQ(result->size(), 200u);
}

TEST(Result, CopiesWhenItsValueDoes) {
  const Text first = std::string(100, 'v');
  const Text second = first;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(*second, *first);
  using Owner = Result<std::unique_ptr<int>>;
  static_assert(!std::is_copy_constructible_v<Owner>);
  Owner owner = std::make_unique<int>(7);
  const Owner moved = std::move(owner);
  EXPECT_EQ(**moved, 7);
}

TEST(Result, DestroysItsValueOnce) {
  const auto counted = std::make_shared<int>(1);
  {
    Result<std::shared_ptr<int>> result = counted;
    const auto moved = std::move(result);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(ResultDeathTest, EndsTheProgramWhenTheWrongSideIsAskedFor) {
  const Text failed = Error{"no text", {}};
  EXPECT_DEATH((void)*failed, "the value of a failed result");
  const Text value = std::string("text");
  EXPECT_DEATH((void)value.error(), "a result has no error");
}

}  // namespace
}  // namespace wm
