// Experiments as data: reading, expansion into cells, and one line for every mistake.
#include "lab/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "lab/experiment/matrix.h"
#include "lab/report/claims.h"
#include "lab/report/figure.h"
#include "lab/scratch.h"

namespace wm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Names test_names() {
  Names names;
  names.gpu = [](const std::string& name) -> Result<std::string> {
    if (name != "g") return Error{"unknown GPU '" + name + "'"};
    return std::string("text of g");
  };
  names.kernel = [](const std::string& name) -> Result<void> {
    if (name.size() != 1) return Error{"unknown kernel '" + name + "'"};
    return {};
  };
  names.splits = [](const std::string&, const std::vector<std::string>&,
                    bool full) -> Result<std::vector<std::string>> {
    return full ? std::vector<std::string>{"1/2"} : std::vector<std::string>{"1/1", "1/2"};
  };
  names.sms = [](const std::string&) -> Result<std::uint32_t> { return 4; };
  return names;
}

const std::string kPaper =
    "title: T\ncite: Us, 2026\nclasses: {C: [a, b], M: [c]}\n"
    "workloads: {pairs: {product: [all, all]}, few: [[a, c]]}\nprotocols: {quick: {cycles: 1000}, paper: {cycles: "
    "9000}}\n";
const std::string kFigure =
    "title: F\n"
    "gpus: [g]\n"
    "policies: {One: left_over, Two: \"quota:scheme=elastic\"}\n"
    "workloads: pairs\n"
    "goals: {kernels: [1], values: [0.5, 0.9]}\n"
    "protocols: {quick: {workloads: few, size: small}, paper: }\n"
    "plot: {x: goal, series: policy, y: mean(reached)}\n"
    "claims:\n"
    "- {id: c, says: it holds, paper: 0.8, measure: \"mean(reached, policy=One)\", within: 0.1, neutral: 0.5}\n";

Result<Experiment> load(const Scratch& folder, const std::string& figure, const std::string& paper = kPaper) {
  folder.write("p/f.yaml", figure);
  folder.write("p/paper.yaml", paper);
  return load_experiment("p/f", folder.path(), test_names());
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  EXPECT_NE(text.find(what), std::string::npos) << what;
  return text.replace(text.find(what), what.size(), by);
}

std::string mistake(const std::string& what, const std::string& by) {
  const Scratch folder;
  const auto e = load(folder, replaced(kFigure, what, by));
  if (e.ok()) return "";
  const std::string line = e.error().to_string();
  EXPECT_THAT(line, HasSubstr("/p/f.yaml:"));
  return line.substr(line.find("f.yaml"));
}

TEST(Experiment, IsReadWithWhatItsPaperShares) {
  const Scratch folder;
  const auto e = load(folder, kFigure);
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  EXPECT_EQ(e->id, "p/f");
  EXPECT_EQ(e->cite, "Us, 2026");
  const Protocol& quick = *e->protocol("quick");
  EXPECT_EQ(quick.cycles, 1000U);
  EXPECT_EQ(quick.size, "small");
  ASSERT_EQ(quick.workloads.size(), 1U);
  EXPECT_EQ(quick.workloads[0].name, "a_c");
  EXPECT_EQ(quick.workloads[0].group, "C+M");
  const Protocol& paper = *e->protocol("paper");
  EXPECT_EQ(paper.cycles, 9000U);
  EXPECT_EQ(paper.workloads.size(), 6U);
  EXPECT_EQ(paper.workloads[5].name, "c_b");
  EXPECT_EQ(paper.workloads[5].group, "C+M");
  EXPECT_EQ(experiment_names(folder.path()), std::vector<std::string>{"p/f"});
}

TEST(Experiment, AreListedInTheOrderOfTheirPaper) {
  const Scratch folder;
  for (const char* name :
       {"p/fig10.yaml", "p/fig9.yaml", "p/fig6b.yaml", "p/fig6a.yaml", "p/energy.yaml", "o/table2.yaml"})
    folder.write(name, "");
  EXPECT_EQ(experiment_names(folder.path()),
            (std::vector<std::string>{"o/table2", "p/energy", "p/fig6a", "p/fig6b", "p/fig9", "p/fig10"}));
}

TEST(Experiment, UnfoldsIntoCells) {
  const Scratch folder;
  const auto e = load(folder, kFigure);
  const auto matrix = expand(*e, *e->protocol("quick"), test_names());
  ASSERT_TRUE(matrix.ok());
  ASSERT_EQ(matrix->cells.size(), 4U);
  EXPECT_EQ(*count_cells(*e->protocol("quick"), test_names()), 4U);
  const Cell& c = matrix->cells[3];
  EXPECT_EQ(c.command(),
            "wm sim --gpu g --kernel a:launches=0:goal=0.9 --kernel c:launches=0 --policy quota:scheme=elastic "
            "--cycles 1000 --size small --seed 1");
  EXPECT_EQ(c.labels.at("policy"), "Two");
  EXPECT_EQ(c.labels.at("goal"), "0.9");
  EXPECT_EQ(c.labels.at("beside"), "c");
  ASSERT_EQ(c.isolated.size(), 2U);
  EXPECT_EQ(command_of(c.isolated[0]),
            "wm sim --gpu g --kernel a:launches=0 --policy left_over --cycles 1000 --size small --seed 1");
  EXPECT_EQ(c.isolated[1].kernels[0].name, "c");
  std::set<std::string> keys;
  for (const Cell& cell : matrix->cells) keys.insert(cell.key);
  EXPECT_EQ(keys.size(), 4U);
}

TEST(Experiment, ACellIsNamedByWhatIsRunNotByHowItWasWritten) {
  const Scratch folder;
  const auto e = load(folder, kFigure);
  const auto written_out = load(folder, replaced(kFigure, "quota:scheme=elastic", "quota:epoch=10000:scheme=elastic"));
  const auto other = load(folder, replaced(kFigure, "quota:scheme=elastic", "quota:scheme=history"));
  const auto key = [&](const Result<Experiment>& x) {
    return expand(*x, *x->protocol("quick"), test_names())->cells[3].key;
  };
  EXPECT_EQ(key(e), key(written_out));
  EXPECT_NE(key(e), key(other));
  Names changed = test_names();
  changed.gpu = [](const std::string&) -> Result<std::string> { return std::string("another text"); };
  EXPECT_NE(expand(*e, *e->protocol("quick"), changed)->cells[3].key, key(e));
}

TEST(Experiment, ParametersAreSweptForPoliciesThatHaveThem) {
  const Scratch folder;
  const auto e = load(folder, kFigure + "parameters: {epoch: [5000, 20000]}\n");
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const auto matrix = expand(*e, *e->protocol("quick"), test_names());
  EXPECT_EQ(matrix->cells.size(), 6U);  // left_over has no epoch
  EXPECT_EQ(matrix->cells[5].labels.at("epoch"), "20000");
  EXPECT_THAT(matrix->cells[5].command(), HasSubstr("--policy quota:scheme=elastic:epoch=20000"));
}

TEST(Experiment, BlocksAnSmCanBeSwept) {
  const Scratch folder;
  const auto e = load(folder, replaced(kFigure, "goals: {kernels: [1], values: [0.5, 0.9]}", "blocks: [1, 2, 3]"));
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const auto matrix = expand(*e, *e->protocol("quick"), test_names());
  ASSERT_EQ(matrix->cells.size(), 6U);
  EXPECT_EQ(matrix->cells[2].labels.at("blocks"), "3");
  EXPECT_THAT(matrix->cells[2].command(), HasSubstr("--kernel a:launches=0:blocks=3 --kernel c:launches=0:blocks=3 "));
  EXPECT_EQ(matrix->cells[2].isolated[0].kernels[0].blocks_per_sm, 0U);
}

TEST(Experiment, EveryUnknownNameIsAnErrorWithItsLine) {
  EXPECT_EQ(mistake("left_over", "leftover"), "f.yaml:3: unknown policy 'leftover' (did you mean 'left_over'?)");
  EXPECT_THAT(mistake("quota:scheme=elastic", "quota:schem=elastic"), HasSubstr("f.yaml:3:"));
  EXPECT_EQ(mistake("gpus: [g]", "gpus: [h]"), "f.yaml:2: unknown GPU 'h'");
  EXPECT_EQ(mistake("workloads: few", "workloads: [[a, zz]]"), "f.yaml:6: unknown kernel 'zz'");
  EXPECT_EQ(mistake("workloads: pairs", "workloads: pair"),
            "f.yaml:4: unknown set of workloads 'pair' (did you mean 'pairs'?)");
  EXPECT_THAT(mistake("title: F", "titel: F"), HasSubstr("unknown key 'titel' (did you mean 'title'?)"));
  EXPECT_THAT(mistake("size: small", "size: tiny"), HasSubstr("unknown size 'tiny'"));
  EXPECT_THAT(mistake("paper: }", "papre: }"), HasSubstr("unknown protocol 'papre'"));
  EXPECT_THAT(mistake("x: goal", "x: gaol"), HasSubstr("unknown label 'gaol' (did you mean 'goal'?)"));
  EXPECT_THAT(mistake("mean(reached)", "mean(reachd)"), HasSubstr("unknown measure 'reachd'"));
  EXPECT_THAT(mistake("policy=One", "policy=on"), EndsWith("no policy here is called 'on'"));
  EXPECT_THAT(mistake("kernels: [1]", "kernels: [3]"), HasSubstr("workload 'a_c' has no kernel 3 to have a goal"));
  EXPECT_THAT(mistake("within: 0.1, ", ""), HasSubstr("'within'"));
  EXPECT_THAT(mistake("plot: {x: goal, series: policy, y: mean(reached)}\n", "parameters: {warp: [1]}\n"),
              HasSubstr("no policy here has a parameter 'warp'"));
  EXPECT_THAT(mistake("plot: {x: goal, series: policy, y: mean(reached)}\n", "parameters: {epok: [1000]}\n"),
              HasSubstr("no policy here has a parameter 'epok' (did you mean 'epoch'?)"));
}

TEST(Experiment, AnUnknownKeyIsReportedBeforeMistakesThatFollowFromIt) {
  EXPECT_THAT(mistake("policies:", "polices:"), HasSubstr("unknown key 'polices' (did you mean 'policies'?)"));
  EXPECT_THAT(mistake("gpus: [g]", "gpu: [g]"), HasSubstr("unknown key 'gpu' (did you mean 'gpus'?)"));
}

TEST(Experiment, AnUnknownFigureIsNamed) {
  const Scratch folder;
  ASSERT_TRUE(load(folder, kFigure).ok());
  EXPECT_THAT(load_experiment("p/g", folder.path(), test_names()).error().to_string(),
              HasSubstr("unknown figure 'p/g' (did you mean 'p/f'?)"));
}

Claim claim(double paper, double within, std::optional<double> neutral) {
  Claim c;
  c.paper = paper;
  c.within = within;
  c.neutral = neutral;
  return c;
}

TEST(Verdict, ReproducedWithinTheBoundDirectionFromAQuarterOfTheEffect) {
  const Claim c = claim(1.23, 0.06, 1);
  EXPECT_EQ(judge(c, 1.20), Verdict::reproduced);
  EXPECT_EQ(judge(c, 1.29), Verdict::reproduced);
  EXPECT_EQ(judge(c, 1.30), Verdict::direction);
  EXPECT_EQ(judge(c, 1.06), Verdict::direction);
  EXPECT_EQ(judge(c, 1.05), Verdict::no) << "less than a quarter of the effect";
  EXPECT_EQ(judge(c, 1.0), Verdict::no);
  EXPECT_EQ(judge(c, 0.9), Verdict::no);
  EXPECT_EQ(judge(c, std::nullopt), Verdict::unknown);
  EXPECT_EQ(judge(claim(0.2, 0.05, 0.5), 0.4), Verdict::direction);
  EXPECT_EQ(judge(claim(1, 0, std::nullopt), 0), Verdict::no);
}

// A row for every goal and policy, from results that are there; the rest is counted as missing.
TEST(Figure, PutsMeasuredBesideReportedAndJudges) {
  const Scratch folder;
  const auto e = load(folder, kFigure + "reported:\n- {goal: 0.5, policy: One, value: 0.7}\n");
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const Protocol& p = *e->protocol("quick");
  const auto matrix = expand(*e, p, test_names());
  Results results;
  for (int i = 0; i < 3; ++i) {
    Row row = matrix->cells[static_cast<std::size_t>(i)].row();
    row.result = std::string(R"({"cycles":1,"kernels":[{"ipc":1,"goal":1,"normalized":1,"reached":)") +
                 (i == 1 ? "false" : "true") + "}]}";
    results.rows.push_back(row);
  }
  results.rows[2].state = Row::State::failed;
  const Figure f = make_figure(*e, p, *matrix, index(results));
  EXPECT_EQ(f.cells, 4U);
  EXPECT_EQ(f.done, 2U);
  EXPECT_EQ(f.failed, 1U);
  ASSERT_EQ(f.rows.size(), 3U);
  EXPECT_EQ(f.rows[0].labels.at("goal"), "0.5");
  EXPECT_EQ(f.rows[0].value, 1);
  EXPECT_EQ(f.rows[1].value, 0);
  EXPECT_TRUE(f.rows[2].from_paper);
  ASSERT_EQ(f.claims.size(), 1U);
  EXPECT_EQ(*f.claims[0].measured, 0.5);
  EXPECT_EQ(f.claims[0].verdict, Verdict::no);
  const auto json = json_of(f);
  EXPECT_EQ(json["figure"], "p/f");
  EXPECT_EQ(json["claims"][0]["verdict"], "no");
  EXPECT_EQ(json["claims"][0]["paper"], 0.8);
}

// Runs of one seed differ in the policy only; seeds differ in when kernels arrive.
TEST(Experiment, SeedsAreCellsWithArrivalsOfTheirOwn) {
  const Scratch folder;
  const auto e = load(folder, kFigure + "seeds: 3\narrivals: 500\n");
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const auto matrix = expand(*e, *e->protocol("quick"), test_names());
  ASSERT_EQ(matrix->cells.size(), 12U);
  std::map<std::string, std::set<std::uint64_t>> arrivals;  // cycles at which the second kernel arrives, by seed
  for (const Cell& cell : matrix->cells) {
    EXPECT_EQ(cell.labels.at("seed"), std::to_string(cell.spec.seed));
    arrivals[cell.labels.at("seed")].insert(cell.spec.kernels[1].arrive.count);
    EXPECT_LT(cell.spec.kernels[1].arrive.count, 500U);
    EXPECT_EQ(cell.isolated[1].kernels[0].arrive.count, 0U);
  }
  ASSERT_EQ(arrivals.size(), 3U);
  std::set<std::uint64_t> distinct;
  for (const auto& [seed, cycles] : arrivals) {
    EXPECT_EQ(cycles.size(), 1U);
    distinct.insert(*cycles.begin());
  }
  EXPECT_EQ(distinct.size(), 3U);
  const auto one = load(folder, kFigure + "seed: 7\n");
  const Cell cell = expand(*one, *one->protocol("quick"), test_names())->cells[0];
  EXPECT_EQ(cell.spec.seed, 7U);
  EXPECT_EQ(cell.labels.at("seed"), "");
}

TEST(Experiment, SeedsThatSayNothingAreRefused) {
  EXPECT_THAT(mistake("gpus: [g]", "gpus: [g]\nseeds: 0"), HasSubstr("'seeds' must be a list, or a number from 1"));
  EXPECT_THAT(mistake("gpus: [g]", "gpus: [g]\nseeds: [2, 2]"), HasSubstr("none twice"));
  EXPECT_THAT(mistake("gpus: [g]", "gpus: [g]\nseed: many"), HasSubstr("'seed' must be a whole number"));
}

TEST(Figure, SeveralSeedsGiveMeansWithIntervals) {
  const Scratch folder;
  const auto e = load(folder, kFigure + "seeds: [1, 2]\n");
  const Protocol& p = *e->protocol("quick");
  const auto matrix = expand(*e, p, test_names());
  Results results;
  for (const Cell& cell : matrix->cells) {
    Row row = cell.row();
    row.result = std::string(R"({"cycles":1,"kernels":[{"ipc":1,"goal":1,"normalized":1,"reached":)") +
                 (cell.spec.seed == 1 ? "false" : "true") + "}]}";
    results.rows.push_back(row);
  }
  const Figure f = make_figure(*e, p, *matrix, index(results));
  ASSERT_EQ(f.rows.size(), 4U);
  EXPECT_EQ(f.rows[0].value, 0.5);
  EXPECT_EQ(f.rows[0].seeds, 2U);
  const auto json = json_of(f);
  EXPECT_NEAR(json["rows"][0]["high"].get<double>(), 0.5 + 12.7062 * 0.5, 1e-3);
  EXPECT_NEAR(json["rows"][0]["low"].get<double>(), 0.5 - 12.7062 * 0.5, 1e-3);
  EXPECT_GT(json["claims"][0]["half_width"].get<double>(), 0);
}

// Each kernel first once and second once in every turn around the ring.
TEST(Experiment, ARingGivesPairsInABalancedOrder) {
  const Scratch folder;
  const auto e = load(folder, kFigure, replaced(kPaper, "{product: [all, all]}", "{ring: [a, c, b], steps: [1, 2]}"));
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  std::vector<std::string> names;
  for (const Workload& w : e->protocol("paper")->workloads) names.push_back(w.name);
  EXPECT_THAT(names, ElementsAre("a_c", "c_b", "b_a", "a_b", "c_a", "b_c"));
  const auto far = load(folder, kFigure, replaced(kPaper, "{product: [all, all]}", "{ring: [a, c, b], steps: [3]}"));
  ASSERT_FALSE(far.ok());
  EXPECT_THAT(far.error().to_string(), EndsWith("steps around this ring are 1 to 2"));
}

// The six pairs have the order ab, ac, ba, bc, ca and cb.
TEST(Experiment, TheBeginningOfASampleIsSpreadOverTheProduct) {
  const Scratch folder;
  const auto names = [&](const char* sample) {
    const auto e =
        load(folder, kFigure, replaced(kPaper, "[all, all]}", std::string("[all, all], sample: ") + sample + "}"));
    std::vector<std::string> all;
    if (!e) return all;
    for (const Workload& w : e->protocol("paper")->workloads) all.push_back(w.name);
    return all;
  };
  EXPECT_THAT(names("3"), ElementsAre("a_c", "c_b", "b_c"));
  EXPECT_THAT(names("5"), ElementsAre("a_b", "c_a", "a_c", "c_b", "b_c"));
  EXPECT_THAT(names("1"), ElementsAre("b_c"));
  EXPECT_THAT(names("0"), testing::SizeIs(6));
}

// The oracle: every split of an SM is a cell, and the figure shows the best run of each case.
TEST(Figure, TheOracleIsTheBestOfAllSplitsAndPolicies) {
  const Scratch folder;
  const auto e = load(folder, replaced(replaced(kFigure, "\"quota:scheme=elastic\"", "\"oracle:blocks=*\""),
                                       "y: mean(reached)", "y: mean(ipc)"));
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const Protocol& p = *e->protocol("quick");
  const auto matrix = expand(*e, p, test_names());
  ASSERT_TRUE(matrix.ok());
  ASSERT_EQ(matrix->cells.size(), 6U) << "two goals, left_over and two splits";
  EXPECT_THAT(matrix->cells[2].command(), HasSubstr("--policy oracle:blocks=1/1 "));
  Results results;
  const std::map<std::string, double> ipc{{"0.5", 7}, {"0.5 1/1", 8}, {"0.5 1/2", 9},
                                          {"0.9", 5}, {"0.9 1/1", 4}, {"0.9 1/2", 3}};
  for (const Cell& c : matrix->cells) {
    const std::string split = c.labels.at("split");
    const double rate = ipc.at(c.labels.at("goal") + (split.empty() ? "" : " " + split));
    Row row = c.row();
    row.result = R"({"kernels":[{"goal":1,"reached":true}],"metrics":{"ipc":)" + std::to_string(rate) + "}}";
    results.rows.push_back(row);
  }
  const Figure f = make_figure(*e, p, *matrix, index(results));
  ASSERT_EQ(f.rows.size(), 4U);
  EXPECT_EQ(f.rows[2].labels.at("policy"), "Two");
  EXPECT_EQ(f.rows[2].value, 9) << "its own best";
  EXPECT_EQ(f.rows[3].value, 5) << "another policy's";
}

// The offline optimum of SMQoS: every number of SMs is a cell, and the figure shows the fewest that meet the goal.
TEST(Figure, TheOfflineOptimumIsTheFewestSmsThatMeetTheGoal) {
  const Scratch folder;
  const auto e = load(folder, replaced(replaced(kFigure, "\"quota:scheme=elastic\"", "\"smqos_offline:sms=*\""),
                                       "y: mean(reached)", "y: mean(ipc)"));
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  const Protocol& p = *e->protocol("quick");
  const auto matrix = expand(*e, p, test_names());
  ASSERT_TRUE(matrix.ok());
  ASSERT_EQ(matrix->cells.size(), 8U) << "two goals, left_over and 1 to 3 of 4 SMs";
  EXPECT_THAT(matrix->cells[2].command(), HasSubstr("--policy smqos_offline:sms=1 "));
  Results results;
  for (const Cell& c : matrix->cells) {
    const std::string split = c.labels.at("split");
    // The goal of 0.5 is met with two SMs, that of 0.9 with none; the figure's value is the number of SMs.
    const bool met = c.labels.at("goal") == "0.5" && split >= "2";
    Row row = c.row();
    row.result = std::string(R"({"kernels":[{"ipc":)") + (split.empty() ? "9" : split) +
                 R"(,"goal":4,"normalized":1,"reached":)" + (met ? "true" : "false") + R"(}],"metrics":{"ipc":)" +
                 (split.empty() ? "9" : split) + "}}";
    results.rows.push_back(row);
  }
  const Figure f = make_figure(*e, p, *matrix, index(results));
  ASSERT_EQ(f.rows.size(), 4U);
  EXPECT_EQ(f.rows[2].value, 2);
  EXPECT_EQ(f.rows[3].value, 3) << "the nearest to the goal";
}

TEST(Claims, ATolerancePerCentIsAPartOfThePapersValue) {
  const Scratch folder;
  const auto e = load(folder, replaced(kFigure, "within: 0.1", "within: 5%"));
  ASSERT_TRUE(e.ok()) << e.error().to_string();
  EXPECT_DOUBLE_EQ(e->claims[0].within, 0.04);
  EXPECT_EQ(tolerance_text(e->claims[0]), "5%");
  EXPECT_EQ(tolerance_text(claim(1, 0, std::nullopt)), "exact");
  EXPECT_EQ(tolerance_text(claim(1, 0.06, std::nullopt)), "0.06");
  EXPECT_THAT(load(folder, replaced(kFigure, "within: 0.1", "within: wide")).error().to_string(),
              HasSubstr("'within' in claims must be a number or a percentage, not 'wide'"));
}

// A figure under two protocols; the second one is longer.
struct TwoProtocols {
  explicit TwoProtocols(std::size_t longer_done) {
    for (const double paper : {1.0, 2.0}) experiment.claims.push_back(claim(paper, 0.1, std::nullopt));
    experiment.id = "p/f";
    experiment.paper = "p";
    experiment.claims[0].id = "a";
    experiment.claims[1].id = "b";
    experiment.protocols.resize(2);
    experiment.protocols[0].name = "quick";
    experiment.protocols[0].cycles = 10;
    experiment.protocols[1].name = "paper";
    experiment.protocols[1].cycles = 100;
    figures.resize(2);
    figures[0].cells = figures[0].done = 4;
    figures[1].cells = 8;
    figures[1].done = longer_done;
    for (std::size_t i = 0; i < 2; ++i) {
      figures[i].experiment = &experiment;
      figures[i].protocol = experiment.protocols[i].name;
      for (const Claim& c : experiment.claims) figures[i].claims.push_back({&c, 1.0 + static_cast<double>(i)});
    }
  }
  Experiment experiment;
  std::vector<Figure> figures;
};

TEST(Claims, TheLongestProtocolThatWasRunAnswers) {
  TwoProtocols two(5);
  two.figures[1].claims[1].measured = std::nullopt;  // no cell of the second claim was run
  keep_longest(two.figures);
  ASSERT_EQ(two.figures[0].claims.size(), 1U);
  EXPECT_EQ(two.figures[0].claims[0].claim->id, "b");
  ASSERT_EQ(two.figures[1].claims.size(), 1U);
  EXPECT_EQ(two.figures[1].claims[0].claim->id, "a");
}

TEST(Claims, AHandfulOfLongRunsAnswersNothing) {
  TwoProtocols two(3);
  keep_longest(two.figures);
  EXPECT_EQ(two.figures[0].claims.size(), 2U);
  EXPECT_TRUE(two.figures[1].claims.empty());
}

TEST(Claims, ARepeatedClaimIsNotCounted) {
  TwoProtocols two(8);
  two.experiment.claims[1].same_as = "f/a";
  keep_longest(two.figures);
  for (Figure& f : two.figures)
    for (JudgedClaim& c : f.claims) c.verdict = judge(*c.claim, c.measured);
  const ClaimCounts n = count_claims(two.figures);
  EXPECT_EQ(n.no, 1U);
  EXPECT_EQ(n.reproduced, 0U);
  EXPECT_EQ(n.repeated, 1U);
  two.figures[1].stale = 8;
  two.figures[1].versions["0123456789abcdef"] = 8;
  EXPECT_THAT(claims_markdown(two.figures, "wm lab report"), HasSubstr("| no | paper, 8 cells, stale | 01234567 |"));
}

}  // namespace
}  // namespace wm::lab
