// Rows of older code in a figure: stale, or current where a sample of them confirmed them.
#include "lab/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/claims.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Four cells of the code "m3-p" with rows of "m1-p", "m2-p", "m3-p" and "m0-p".
struct Older {
  Older() {
    experiment.id = "p/f";
    experiment.paper = "p";
    experiment.claims.resize(1);
    experiment.claims[0].measured = *Expression::parse("count(cycles)", {}, {});
    for (const char* version : {"m1-p", "m2-p", "m3-p", "m0-p"}) {
      Cell cell;
      cell.key = "k" + std::to_string(matrix.cells.size());
      cell.code_version = "m3-p";
      matrix.cells.push_back(cell);
      Row row = cell.row();
      row.code_version = version;
      row.result = R"({"cycles":1})";
      results.rows.push_back(row);
    }
  }
  Figure figure(const std::vector<Confirmation>& records) const {
    return make_figure(experiment, protocol, matrix, index(results), Confirmations(records));
  }
  Experiment experiment;
  Protocol protocol;
  Matrix matrix;
  Results results;
};

const std::vector<Confirmation> kChain{{"m1-p", "m2-p", 3, 40, "2026-01-30"}, {"m2-p", "m3-p", 4, 50, "2026-01-31"}};

TEST(OlderRows, AreStaleWithoutConfirmation) {
  const Figure f = Older().figure({});
  EXPECT_EQ(f.stale, 3U);
  EXPECT_TRUE(f.confirmed.empty());
}

TEST(OlderRows, AreCurrentWhereConfirmedAndKeepTheirVersion) {
  const Figure f = Older().figure(kChain);
  EXPECT_EQ(f.stale, 1U);
  EXPECT_THAT(f.confirmed, ::testing::ElementsAre("k0", "k1"));
  EXPECT_EQ(sampled_text(f.confirmations), "7 of 90 rows");
  EXPECT_EQ(f.versions.at("m1"), 1U);
  const auto json = json_of(Older().figure({kChain[1]}));
  EXPECT_EQ(json["stale"], 2);
  EXPECT_EQ(json["confirmed"], 1);
}

TEST(OlderRows, ThePageOfClaimsSaysHowManyWereConfirmed) {
  const Older older;
  std::vector<Figure> figures;
  figures.push_back(older.figure(kChain));
  figures.push_back(older.figure(kChain));  // shares its cells
  const std::string page = claims_markdown(figures, "wm lab report");
  EXPECT_THAT(page, HasSubstr("(`wm lab confirm`): 2 cells here, by 7 of 90 rows that were run again.\n"));
  EXPECT_THAT(page, HasSubstr("4 cells, 1 stale | m3, m2, m1, m0 |"));
  figures.clear();
  figures.push_back(older.figure({}));
  EXPECT_THAT(claims_markdown(figures, "wm lab report"), Not(HasSubstr("wm lab confirm")));
}

}  // namespace
}  // namespace wm::lab
