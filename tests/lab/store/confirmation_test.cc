// Records that rows of older code count as current: they form chains, and a bad one is refused with the name of its
// key.
#include "lab/store/confirmation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace wm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Confirmation record(const char* from, const char* to) { return {from, to, 3, 40, "2026-01-31"}; }

TEST(Confirmations, OneRecordContinuesAnother) {
  const Confirmations all({record("b", "c"), record("a", "b"), record("b", "x"), record("x", "c")});
  EXPECT_TRUE(all.covers("a", "c"));
  EXPECT_THAT(all.path("a", "c"), ElementsAre(record("a", "b"), record("b", "c")));
  EXPECT_FALSE(all.covers("c", "a")) << "older code does not count as newer code in reverse";
  EXPECT_FALSE(all.covers("a", "d"));
}

TEST(Confirmations, AVersionCoversItselfWithoutRecords) {
  EXPECT_TRUE(Confirmations().covers("a", "a"));
  EXPECT_FALSE(Confirmations().covers("a", "b"));
  EXPECT_THAT(Confirmations({record("a", "b"), record("b", "a")}).path("a", "a"), IsEmpty());
}

TEST(Confirmations, JsonHoldsEverything) {
  const auto again = confirmation_from_json(json_from(record("a", "b")));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(*again, record("a", "b"));
}

TEST(Confirmations, ABadValueIsNamed) {
  const auto mistake = [](const char* key, const nlohmann::ordered_json& value) {
    auto json = json_from(record("a", "b"));
    json[key] = value;
    const auto read = confirmation_from_json(json);
    return read ? "accepted" : read.error().to_string();
  };
  EXPECT_EQ(mistake("cells", -3), "'cells' in confirmed must be a number from 1 to that of 'of', not -3");
  EXPECT_EQ(mistake("cells", 41), "'cells' in confirmed must be a number from 1 to that of 'of', not 41");
  EXPECT_EQ(mistake("of", "40"), "'of' in confirmed must be a number from 1, not \"40\"");
  EXPECT_EQ(mistake("to", "a"), "'to' in confirmed must be a code version other than that of 'from', not \"a\"");
  EXPECT_EQ(mistake("from", nullptr), "'from' in confirmed must be a code version, not null");
  EXPECT_EQ(mistake("date", "31.1.2026"), "'date' in confirmed must be a date such as 2026-01-31, not \"31.1.2026\"");
  EXPECT_THAT(confirmation_from_json(nlohmann::ordered_json::object()).error().to_string(),
              HasSubstr("'from' in confirmed must be a code version, and is missing"));
  EXPECT_THAT(confirmations_from_json({{"from", "a"}}).error().to_string(), HasSubstr("'confirmed' must be a list"));
  EXPECT_THAT(confirmations_from_json({1}).error().to_string(), HasSubstr("'confirmed' must have objects, not 1"));
}

}  // namespace
}  // namespace wm::lab
