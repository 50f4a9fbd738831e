// Mistakes on the command line: one line in our own words, a suggestion, exit code 2, before anything runs.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using ::testing::HasSubstr;

void expect_mistake(const std::string& arguments, const std::string& message) {
  const Ran ran = run_wm(arguments);
  EXPECT_EQ(ran.code, 2) << arguments;
  EXPECT_THAT(ran.err, HasSubstr(message)) << arguments;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

TEST(Mistakes, NumbersThatAreNegativeOrTooLargeAreRefused) {
  const std::string sim = "sim --kernel vecadd --size small ";
  expect_mistake(sim + "--cycles -5", "--cycles: must be a whole number from 0 to 1000000000000000, not '-5'");
  expect_mistake(sim + "--cycles 100000000000000000000000", "not '100000000000000000000000'");
  expect_mistake(sim + "--seed -1", "--seed: must be a whole number");
  expect_mistake(sim + "--threads 0", "--threads: must be a whole number from 1 to 64, not '0'");
  expect_mistake(sim + "--interval 1e3", "--interval: must be a whole number from 1 to");
  expect_mistake("lab run --first -1", "--first: must be a whole number");
}

TEST(Mistakes, UnwritableOutputsAreRefusedBeforeTheRun) {
  const Scratch scratch;
  const std::string sim = "sim --kernel no-such-kernel ";  // would be the message if the path were not checked first
  expect_mistake(sim + "--json /nowhere/x.json", "cannot write '/nowhere/x.json': there is no folder '/nowhere'");
  expect_mistake(sim + "--trace " + scratch.path(), "it is a folder");
  expect_mistake("compare --kernel no-such-kernel --html /nowhere/x.html", "there is no folder '/nowhere'");
  expect_mistake("lab report --html /nowhere/x.html", "there is no folder '/nowhere'");
  expect_mistake(sim + "--json /proc/x.json", "cannot write '/proc/x.json'");  // the permissions of /proc allow it
  run_wm(sim + "--json " + scratch.path("x.json"));
  EXPECT_EQ(shell("ls " + scratch.path()).out, "") << "the check leaves no file";
}

TEST(Mistakes, TextThatCannotBeWrittenToStdoutIsOneLineAndExitCode2) {
  const std::string wm = binary_path("bin/wm ");
  for (const char* command : {"policies > /dev/full", "--help > /dev/full", "gpus --json - > /dev/full", "policies >&-",
                              "gpus --json - >&-"}) {
    const Ran ran = shell(wm + command);
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << command << ran.err;
  }
  EXPECT_THAT(shell(wm + "policies > /dev/full").err, HasSubstr("stdout cannot be written: No space left on device"));
}

// A file that is opened must not become the stdout that the caller closed.
TEST(Mistakes, AClosedStdoutDoesNotSpoilFiles) {
  const Scratch scratch;
  EXPECT_EQ(shell(binary_path("bin/wm gpus --json ") + scratch.path("x.json") + " >&-").code, 2);
  EXPECT_TRUE(nlohmann::json::accept(scratch.read("x.json")));
}

TEST(Mistakes, OutputsThatWouldOverwriteFilesAreRefused) {
  const Scratch scratch;
  const std::string file = scratch.path("g.yaml");
  shell("echo 'name: g' > " + file);
  expect_mistake("sim --kernel vecadd --gpu " + file + " --json " + file,
                 "--json would overwrite '" + file + "', which --gpu");
  const std::string out = scratch.path("out");
  expect_mistake("sim --kernel vecadd --html " + out + " --json " + scratch.path("./out"), "name one file");
  expect_mistake("lab run mine.yaml --store " + out + " --json " + out, "which --store names");
  expect_mistake("sim --kernel vecadd --html -", "--html writes a file; it cannot be '-'");
  expect_mistake("lab export --json - --csv -", "cannot both be '-'");
  expect_mistake("sim --kernel vecadd --cache " + file, "'" + file + "' is a file, not a folder");
  EXPECT_EQ(shell("cat " + file).out, "name: g\n");
}

TEST(Mistakes, AnOptionWithOneValueIsGivenOnce) {
  expect_mistake("sim --kernel vecadd --cycles 5 --cycles 6", "--cycles is given 2 times; it takes one value");
  expect_mistake("kernels check vecadd --fmad maybe", "--fmad takes on or off, not 'maybe'");
  expect_mistake("lab run qos-isca17/fig6a --only policy=Rolover --dry-run", "(did you mean 'Rollover'?)");
}

TEST(Mistakes, OptionsWithoutAValueSayWhatTheyNeed) {
  expect_mistake("sim --kernel vecadd --json", "--json needs a value: wm sim … --json FILE");
  expect_mistake("sim --kernel --cycles 5", "--kernel needs a value");
  expect_mistake("sim vecadd lbm", "wm sim takes no argument 'vecadd' (did you mean '--kernel vecadd'?)");
  expect_mistake("bench sim vecad",
                 "no benchmark 'vecad' (did you mean 'vecadd'?); there are vecadd, sgemm, fma, gather");
  expect_mistake("sim --kernel vecadd:launches=-1", "'launches' must be a whole number from 0 to 4294967295, not '-1'");
  expect_mistake("sim --kernel vecadd:size=small:size=large", "kernel 'vecadd': 'size' is given twice");
  expect_mistake("sim --kernel vecadd:priority=99999999999", "'priority' must be a whole number from -2147483648 to");
}

TEST(Mistakes, MisspeltOptionsAndParametersGetASuggestion) {
  expect_mistake("sim --kernel vecadd --polcy even", "wm sim has no option '--polcy' (did you mean '--policy'?)");
  expect_mistake("lab run --protocl quick", "wm lab run has no option '--protocl' (did you mean '--protocol'?)");
  expect_mistake("sim --kernel vecadd --policy quota:epok", "(did you mean 'epoch'?)");
  expect_mistake("sim --kernel vecadd --policy quota:epok=5", "(did you mean 'epoch'?)");
#ifdef WM_RUNTIME
  expect_mistake("run clinfo -l", "wm run has no option '-l'; options of the application stand after --");
#endif
}

TEST(Mistakes, AFlagTakesNoValue) {
  expect_mistake("sim --kernel vecadd --stats=5", "--stats takes no value");
  expect_mistake("lab run --dry-run=false", "--dry-run takes no value");
}

TEST(Mistakes, AMissingArgumentIsNamed) {
  expect_mistake("lab", "wm lab needs a command: list, run, show, report");
  expect_mistake("compare", "wm compare needs --kernel; 'wm compare --help'");
  expect_mistake("compare --kernl vecadd", "wm compare has no option '--kernl' (did you mean '--kernel'?)");
  expect_mistake("--versio", "wm has no option '--versio' (did you mean '--version'?)");
  expect_mistake("version", "no command 'version' (did you mean '--version'?)");
#ifdef WM_RUNTIME
  expect_mistake("set", "wm set needs CLIENT; 'wm set --help'");
  expect_mistake("set 1 share=nan", "'share=nan': 'nan' is no number");
  expect_mistake("set 1 share=", "'share=': a number is missing");
  expect_mistake("set 1 priority=1.5", "'priority=1.5': a priority is a whole number");
  expect_mistake("run --goal p98=2ms -- true", "p99 is the only percentile");
  expect_mistake("run --goal 1.5 -- true", "a part of the isolated rate lies above 0 and at most at 1");
  expect_mistake("run --goal rate=0 -- true", "launches per second are missing");
  expect_mistake("serve --memory -5GB", "--memory: '-5GB'");
  expect_mistake("serve --policy fifoo", "unknown policy 'fifoo' (did you mean 'fifo'?)");
#endif
}

TEST(Mistakes, OptionsThatTheMachineWouldIgnoreAreRefused) {
  expect_mistake("sim --kernel vecadd --runs 3", "--runs needs --machine block");
#ifdef WM_RUNTIME
  expect_mistake("serve --clients 3", "--clients needs --simulate");
  expect_mistake("serve --user-share nosuchuser=2", "there is no user 'nosuchuser'");
  expect_mistake("serve --slice 5000", "--slice needs --cuda");
  expect_mistake("serve --workers", "--workers needs --cuda");
  expect_mistake("serve --cuda --sharing mps --policy spatial --workers --sm-group 4",
                 "--sm-group has no meaning with --workers, which gives pairs of SMs");
  expect_mistake("serve --cuda --sharing mps --slice 200", "--slice has no meaning with --sharing mps");
  expect_mistake("serve --cuda --headroom 20", "--headroom has no meaning with --sharing isolated");
  expect_mistake("serve --cuda --sharing mps --sm-group 4", "--sm-group needs --policy");
  expect_mistake("serve --cuda --sharing mps --decisions log", "--decisions needs --policy");
  expect_mistake("serve --cuda --sharing mps --policy dss --max-loss 0.1", "--max-loss has no meaning with --policy");
  expect_mistake("run --policy even -- true", "--policy needs --simulate");
  expect_mistake("run --timing cycle -- true", "--timing needs --simulate");
  expect_mistake("serve --cuda --metrics-port 9464", "--metrics-port has no meaning with --cuda");
  expect_mistake("serve --cuda --awake 5", "--awake has no meaning with --cuda");
  expect_mistake("serve --cuda --user-share root=2", "--user-share has no meaning with --cuda");
  expect_mistake("serve --cuda --simulate h200", "--cuda has no meaning with --simulate");
  expect_mistake("serve --simulate h200 --decisions x.txt", "--decisions has no meaning with --simulate");
  expect_mistake("serve --policy fifo --decisions x.txt",
                 "--decisions has no meaning with fifo, which decides nothing");
  expect_mistake("serve --simulate h200 --headroom 20", "--headroom has no meaning with --simulate");
  expect_mistake("serve --simulate h200 --client-memory '1 GB'", "--client-memory has no meaning with --simulate");
  expect_mistake("serve --simulate h200 --timeline", "--timeline puts a timeline into the JSON: it needs --json");
  expect_mistake("run --share 0 -- true", "--share");
  expect_mistake("run --goal '' -- true", "--goal is empty");
  expect_mistake("run --goal p99=-5ms -- true", "--goal 'p99=-5ms': ");
#endif
  expect_mistake("sim --kernel vecadd --seconds 1", "--seconds, --placement and --limit need --gpus");
  const std::string cluster = "sim --machine block --gpu k20c --gpus 2 --seconds 1 --app spmv:poisson=10 ";
  for (const char* length : {"--runs 3", "--cycles 1000", "--once"})
    expect_mistake(cluster + length, "--gpus takes no --runs, --cycles or --once: a cluster runs for --seconds");
  for (const char* output : {"--trace x.json", "--html x.html", "--decisions x.txt", "--stats", "--timeline"})
    expect_mistake(cluster + output,
                   "--gpus shows requests, not kernels: of a run's outputs it has the table and --json");
  for (const char* setting : {":priority=1", ":share=2", ":launches=3", ":process=1", ":goal=0.5"})
    expect_mistake("sim --machine block --gpu k20c --gpus 2 --seconds 1 --app spmv:poisson=10" + std::string(setting),
                   "'spmv': with --gpus an application has poisson, bursts or requests, class and deadline only");
  const std::string once = "sim --machine block --gpu k20c --once --app spmv";
  expect_mistake(once + ":size=large", "application 'spmv' has one size: 'size' is a setting of kernels");
  for (const char* setting : {":time=1ms", ":rate=5", ":blocks=1"})
    expect_mistake(once + setting, "'spmv': time, rate and blocks need the cycle machine");
  expect_mistake(once + ":saturation=0.5", "application 'spmv': its file states the saturation of each kernel");
  expect_mistake("sim --kernel vecadd:saturation=0.5", "kernel 'vecadd': saturation needs the block machine");
  expect_mistake("sim --machine block --kernel vecadd:saturation=0",
                 "kernel 'vecadd': 'saturation' must be a number from 0.01 to 1, not '0'");
  expect_mistake(once + " --match-instructions", "--match-instructions needs the cycle machine");
  const std::string rates = "sim --machine block --gpu k20c --gpus 2 --seconds 86400 --app spmv:";
  expect_mistake(rates + "poisson=1e6", "about 8.6e+10 requests would arrive; a cluster takes 1e+10");
  expect_mistake(rates + "bursts=1e9x1000000", "more than one arrival in each of the GPU's 706000000 cycles a second");
}

TEST(Help, OfAnUnknownCommandIsAMistake) {
  expect_mistake("help nope", "nope");
  expect_mistake("help sim extra", "wm sim has no command 'extra'");
}

TEST(Help, IsACommandToo) {
  EXPECT_EQ(run_wm("help sim").out, run_wm("sim --help").out);
  EXPECT_EQ(run_wm("help lab run").out, run_wm("lab run --help").out);
  EXPECT_EQ(run_wm("help").out, run_wm("--help").out);
  EXPECT_EQ(run_wm("help").code, 0);
}

TEST(Policies, NameTheMachinesOnWhichTheyRun) {
  const Ran ran = run_wm("policies --json -");
  for (const auto& item : nlohmann::ordered_json::parse(ran.out)["items"]) {
    const auto machines = item["machines"].get<std::vector<std::string>>();
    EXPECT_THAT(machines, ::testing::Contains("cycle")) << item["name"];
    EXPECT_TRUE(item["name"] != "quota" || std::find(machines.begin(), machines.end(), "block") == machines.end());
    EXPECT_TRUE(item["name"] != "spatial" || std::find(machines.begin(), machines.end(), "block") != machines.end());
  }
  EXPECT_THAT(run_wm("policies").out, HasSubstr("machines"));
}

}  // namespace
}  // namespace wm::cli
