// wm lab as a user runs it: kills and resumes, errors in one line, results that travel.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::string kSweep =
    "title: small kernels\n"
    "gpus: [qos16]\n"
    "policies: {Even: even, Spatial: spatial, Left-Over: left_over}\n"
    "workloads: [[vecadd, fma], [vecadd, gather], [fma, gather]]\n"
    "protocols: {quick: {cycles: 3000, size: small}}\n"
    "plot: {x: workload, series: policy, y: mean(stp)}\n"
    "claims:\n"
    "- {id: even, says: it is there, paper: 1, measure: \"gain(ipc, policy=Even, against=Left-Over)\", within: 5}\n";

class Lab {
 public:
  Lab() { folder.write("sweep.yaml", kSweep); }
  [[nodiscard]] Ran lab(const std::string& words, const std::string& before = "") const {
    return shell("cd " + folder.path() + " && XDG_CACHE_HOME=" + folder.path("cache") + " " + before + " " +
                 binary_path("bin/wm lab ") + words);
  }
  // The content of a store, without times.
  [[nodiscard]] std::map<std::string, Json> rows(const std::string& store, bool times) const {
    const Ran ran = lab("export --store " + store + " --json -");
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::map<std::string, Json> all;
    const Json document = Json::parse(ran.out);
    for (Json cell : document["cells"]) {
      if (!times) {
        cell.erase("host_seconds");
        cell["result"].erase("host");
      }
      all[cell["key"]] = cell;
    }
    return all;
  }
  Scratch folder;
};

TEST(LabCommand, TheHintForAFigureThatWasNotRunNamesItsFile) {
  const Lab lab;
  const Ran ran = lab.lab("show sweep.yaml");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not run: wm lab run sweep.yaml --protocol quick\n"));
}

// The zoo has no benchmark of this name.
TEST(LabCommand, RunsApplicationsThatTheZooLacks) {
  const Lab lab;
  const auto sweep = [](const std::string& app) {
    return "title: applications\ngpus: [k20c]\npolicies: {Spatial: spatial}\nworkloads: [[" + app +
           ", cgo16/spmv-spmvjds]]\nprotocols: {quick: {machine: block}}\nplot: {x: workload, y: mean(stp)}\nclaims: "
           "[]\n";
  };
  lab.folder.write("apps.yaml", sweep("cgo16/histo-main"));
  lab.folder.write("unknown.yaml", sweep("cgo17/histo-main"));
  const Ran ran = lab.lab("run apps.yaml --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["ran"], 1);
  EXPECT_EQ(lab.lab("run unknown.yaml").code, 2);
}

TEST(LabCommand, RunsShowsAndExports) {
  const Lab lab;
  const Ran ran = lab.lab("run sweep.yaml --jobs 2 --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["ran"], 9);
  const Ran shown = lab.lab("show sweep.yaml");
  EXPECT_THAT(shown.out, HasSubstr("9 of 9 cells"));
  EXPECT_THAT(shown.out, HasSubstr("vecadd_gather"));
  EXPECT_THAT(shown.out, HasSubstr("reproduced"));
  const Json figure = Json::parse(lab.lab("show sweep.yaml --json -").out);
  EXPECT_EQ(figure["rows"].size(), 9U);
  EXPECT_EQ(figure["claims"][0]["verdict"], "reproduced");
  EXPECT_THAT(lab.lab("export --csv -").out, HasSubstr(",metrics.stp,"));

  // A store that was merged from an export has the same rows; only some cells, and none that is there, are run.
  ASSERT_EQ(lab.lab("export --json all.json").code, 0);
  ASSERT_EQ(lab.lab("merge other.db all.json").code, 0);
  EXPECT_EQ(lab.rows("other.db", true), lab.rows("wm-lab.db", true));
  EXPECT_EQ(lab.lab("run sweep.yaml --only policy=Even --dry-run --again").out.find("spatial"), std::string::npos);
  const std::string two = lab.lab("run sweep.yaml --only policy=Even --only policy=Spatial --dry-run --again").out;
  EXPECT_THAT(two, HasSubstr("--policy even"));
  EXPECT_THAT(two, HasSubstr("--policy spatial"));
  EXPECT_EQ(two.find("left_over"), std::string::npos);
  EXPECT_EQ(Json::parse(lab.lab("run sweep.yaml --resume --store other.db --json -").out)["ran"], 0);
}

// Rows of the present code are turned into rows of older code by a change of the exported text.
TEST(LabCommand, ConfirmedRowsOfOlderCodeCountAsCurrent) {
  const Lab lab;
  EXPECT_THAT(lab.lab("confirm sweep.yaml").err, HasSubstr("nothing to confirm: there is no store 'wm-lab.db'"));
  ASSERT_EQ(lab.lab("run sweep.yaml --jobs 2").code, 0);
  EXPECT_THAT(lab.lab("confirm sweep.yaml").out, HasSubstr("no stale rows of these figures in wm-lab.db"));
  ASSERT_EQ(lab.lab("export --json new.json").code, 0);
  const auto made_older = [&](const std::string& to, const std::string& change) {
    lab.folder.write(to, lab.folder.read("new.json"));
    const std::string version =
        R"sed(s/"code_version":"[0-9a-f]*-\([0-9a-f]*\)","state"/"code_version":"old-\1","state"/)sed";
    EXPECT_EQ(shell("cd " + lab.folder.path() + " && sed -i '" + version + change + "' " + to).code, 0);
  };
  made_older("old.json", "");
  ASSERT_EQ(lab.lab("merge old.db old.json").code, 0);
  EXPECT_THAT(lab.lab("show sweep.yaml --store old.db").out, HasSubstr("9 of 9 cells, 9 stale"));

  const Ran confirmed = lab.lab("confirm sweep.yaml --sample 1 --store old.db --json -");
  ASSERT_EQ(confirmed.code, 0) << confirmed.err << confirmed.out;
  const Json groups = Json::parse(confirmed.out)["items"];
  ASSERT_EQ(groups.size(), 3U) << "one for each policy";
  EXPECT_EQ(groups[0]["detail"], "confirmed: 1 of 3 rows run again, all the same");
  ASSERT_EQ(lab.lab("merge some.db old.json").code, 0);
  lab.folder.write("one.yaml", std::string(kSweep).replace(kSweep.find("[vecadd, fma], "), 15, ""));
  EXPECT_THAT(
      lab.lab("confirm one.yaml --store some.db").out,
      HasSubstr("confirmed: 2 of 2 rows run again, all the same; 1 row of this code that these figures do not"));
  EXPECT_FALSE(std::filesystem::exists(lab.folder.path("old.db.confirm.ndjson")));
  ASSERT_EQ(lab.lab("export --store old.db --json all.json").code, 0);
  ASSERT_EQ(lab.lab("merge other.ndjson all.json").code, 0);
  for (const char* store : {"old.db", "all.json", "other.ndjson"})
    EXPECT_THAT(lab.lab(std::string("show sweep.yaml --store ") + store).out,
                HasSubstr("9 of 9 cells, 6 of older code that count as current: 3 of 9 rows run again had the same"));
  EXPECT_EQ(lab.lab("run sweep.yaml --store other.ndjson --dry-run").out, "");

  made_older("differs.json", R"(;s/"run_hash":"[0-9a-f]*"/"run_hash":"0123"/g)");
  ASSERT_EQ(lab.lab("merge differs.db differs.json").code, 0);
  const Ran refused = lab.lab("confirm sweep.yaml --store differs.db");
  EXPECT_EQ(refused.code, 1) << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("not confirmed: 3 of 3 rows run again differ\n  wm sim --gpu qos16 --kernel"));
  EXPECT_THAT(refused.out, HasSubstr("    run_hash: 0123 before, "));
  EXPECT_THAT(lab.lab("show sweep.yaml --store differs.db").out, HasSubstr("9 stale"));
}

TEST(LabCommand, AMergeThatFailsLeavesStoresAsTheyWere) {
  const Lab lab;
  lab.folder.write("one.ndjson", "");
  lab.folder.write("bad.json", "{}");
  const Ran failed = lab.lab("merge new.db one.ndjson bad.json");
  EXPECT_EQ(failed.code, 2);
  EXPECT_THAT(failed.err, HasSubstr("bad.json: no results of wm lab"));
  EXPECT_THAT(lab.lab("merge new.json one.ndjson").err, HasSubstr("'new.json' cannot take results"));
  EXPECT_THAT(lab.folder.files(), ::testing::UnorderedElementsAre("bad.json", "one.ndjson", "sweep.yaml"));
  EXPECT_EQ(lab.lab("merge two.ndjson one.ndjson").code, 0);
}

TEST(LabCommand, AStoreOfNoBytesIsEmpty) {
  const Lab lab;
  lab.folder.write("wm-lab.db", "");
  const Ran shipped = lab.lab("show warped-slicer-isca16/fig6");
  EXPECT_THAT(shipped.out, HasSubstr("reproduced")) << shipped.err;
  EXPECT_EQ(lab.folder.read("wm-lab.db"), "");
}

// The command in a page or a table, run as printed, makes the same again.
TEST(LabCommand, PrintedCommandsNameTheStore) {
  const Lab lab;
  lab.folder.write("my results.ndjson", "");
  EXPECT_THAT(lab.lab("show sweep.yaml --store 'my results.ndjson'").out,
              HasSubstr("not run: wm lab run sweep.yaml --protocol quick --store 'my results.ndjson'\n"));
  const std::string shipped = source_path("results/quick.json");
  const Ran ran = lab.lab("report warped-slicer-isca16/fig6 --store " + shipped + " --markdown 'a b.md' --html p.html");
  if (ran.err.find("this build writes no pages") != std::string::npos) GTEST_SKIP() << ran.err;
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string command = "wm lab report warped-slicer-isca16/fig6 --protocol longest --store " + shipped +
                              " --html p.html --markdown 'a b.md'";
  EXPECT_THAT(lab.folder.read("a b.md"), HasSubstr(command));
  EXPECT_THAT(lab.folder.read("p.html"), HasSubstr(command));
  EXPECT_EQ(shell("cd " + lab.folder.path() + " && cp 'a b.md' first && PATH=" + binary_path("bin") +
                  ":$PATH sh -c \"" + command + "\" && cmp first 'a b.md'")
                .code,
            0);
}

// Killed again and again, then resumed: the rows of an undisturbed run, and those that were there are untouched.
TEST(LabCommand, KilledAtAnyMomentItResumes) {
  const Lab lab;
  ASSERT_EQ(lab.lab("run sweep.yaml --jobs 2 --store whole.db").code, 0);
  const auto undisturbed = lab.rows("whole.db", false);
  ASSERT_EQ(undisturbed.size(), 9U);
  std::map<std::string, Json> before;
  for (const char* after : {"0.15", "0.3", "0.45", "0.25"}) {
    const Ran killed = lab.lab("run sweep.yaml --jobs 2 --store k.db", std::string("timeout -s KILL ") + after);
    if (killed.code == 0) break;
    const auto now = lab.folder.read("k.db").empty() ? before : lab.rows("k.db", true);
    for (const auto& [key, row] : before) EXPECT_EQ(now.at(key), row);
    before = now;
  }
  const Ran resumed = lab.lab("run sweep.yaml --jobs 2 --store k.db --resume --json -");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto final = lab.rows("k.db", true);
  for (const auto& [key, row] : before) EXPECT_EQ(final.at(key), row);
  EXPECT_EQ(lab.rows("k.db", false), undisturbed);
}

TEST(LabCommand, ACellThatCrashesAffectsNoOther) {
  const Lab lab;
  lab.folder.write("bad.yaml", "name: bad\nptx: bad.ptx\nentry: k\ngrid: 1\nblock: 32\n");
  lab.folder.write("sweep.yaml", std::string(kSweep).replace(kSweep.find("[vecadd, fma]"), 13, "[vecadd, bad.yaml]"));
  const Ran ran = lab.lab("run sweep.yaml --jobs 2 --json -");
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["failed"], 3);
  EXPECT_EQ(Json::parse(ran.out)["ran"], 9);
  const Ran again = lab.lab("run sweep.yaml");
  EXPECT_THAT(again.out,
              HasSubstr("failed: wm sim --gpu qos16 --kernel vecadd:launches=0 --kernel bad.yaml:launches=0"));
}

TEST(LabCommand, BadInputIsOneLine) {
  const Lab lab;
  lab.folder.write("bad.yaml", std::string(kSweep).replace(kSweep.find("spatial"), 7, "spacial"));
  const Ran unknown = lab.lab("run bad.yaml");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "wm: bad.yaml:3: unknown policy 'spacial' (did you mean 'spatial'?)\n");
  EXPECT_THAT(lab.lab("run nothing/fig1").err, HasSubstr("unknown figure 'nothing/fig1'"));
  EXPECT_THAT(lab.lab("run sweep.yaml --resume").err, HasSubstr("nothing to resume: there is no store 'wm-lab.db'"));
  EXPECT_THAT(lab.lab("run sweep.yaml --only polcy=Even").err, HasSubstr("did you mean 'policy'?"));
  EXPECT_THAT(lab.lab("run sweep.yaml --protocol fast").err, HasSubstr("no protocol 'fast'"));
  lab.folder.write("wm-lab.db", std::string(4096, 'x'));
  const Ran damaged = lab.lab("run sweep.yaml");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("store 'wm-lab.db' is damaged"));
  EXPECT_EQ(lab.folder.read("wm-lab.db"), std::string(4096, 'x'));
}

// Files may not grow beyond some tens of KB: the store fills up, the run stops with a line, and goes on when there is
// room.
TEST(LabCommand, AFullDiskStopsTheRunAndLosesNothing) {
  const Lab lab;
  const Ran full = lab.lab("run sweep.yaml --jobs 1", "trap '' XFSZ; ulimit -f 80;");
  EXPECT_EQ(full.code, 2) << full.out;
  EXPECT_THAT(full.err, HasSubstr("wm: cannot"));
  const auto before = lab.rows("wm-lab.db", true);
  const Ran resumed = lab.lab("run sweep.yaml --resume --retry --json -");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto after = lab.rows("wm-lab.db", true);
  EXPECT_EQ(after.size(), 9U);
  for (const auto& [key, row] : before)
    if (row["state"] == "done") {
      EXPECT_EQ(after.at(key), row);
    }
}

// Everything that is shipped can be read and unfolded.
TEST(LabCommand, EveryFigureOfThePapersLoads) {
  const Ran listed = run_wm("lab list --json -");
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_GE(Json::parse(listed.out)["items"].size(), 3U);
}

}  // namespace
}  // namespace wm::cli
