// Applications and systems as files: kernels by name, and mistakes with their places.
#include "sim/block/load_app.h"

#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "sim/block/system_config.h"
#include "tree.h"

namespace wm::sim {
namespace {

TEST(LoadApp, AKernelOfAnApplicationIsOneLaunch) {
  const auto one = load_app("histo/main", source_path("configs/apps"));
  ASSERT_TRUE(one.ok()) << one.error().to_string();
  ASSERT_EQ(one->steps.size(), 2U);
  EXPECT_EQ(one->kernels[one->steps[0].amount].name, "main");
  const auto none = load_app("histo/mian", source_path("configs/apps"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().what, "application 'histo' has no kernel 'mian' (did you mean 'main'?)");
}

// ComputePhiMag has 4 blocks and takes 4.7 us; ComputeQ takes longer than a millisecond as it is.
TEST(LoadApp, AShortKernelIsLengthenedByMoreBlocks) {
  const auto lengthened = load_app("mri-q/ComputePhiMag@1ms", source_path("configs/apps"));
  ASSERT_TRUE(lengthened.ok()) << lengthened.error().to_string();
  EXPECT_EQ(lengthened->kernels[0].blocks, 851U);
  EXPECT_EQ(lengthened->kernels[0].kernel_time, Picoseconds{1'000'000'000});
  EXPECT_EQ(load_app("mri-q/ComputeQ@1ms", source_path("configs/apps"))->kernels[0].blocks, 1024U);
  EXPECT_EQ(load_app("mri-q/ComputeQ@1", source_path("configs/apps")).error().what,
            "a time such as 1ms expected after '@', not '1'");
}

// Sizes that do not fit the machine's 64-bit counters are refused, not taken modulo 2^64.
TEST(LoadApp, SizesBeyondTheMachinesCountersAreRefused) {
  gpu::SmLimits limits;
  limits.total = {2048, 65536, 49152, 16};
  const auto error = [&](const std::string& kernel, const std::string& step = "launch: k") {
    const auto parsed = parse_app("name: a\nkernels:\n  k: {" + kernel + "}\ntrace:\n- " + step + "\n", "a.yaml");
    if (!parsed) return parsed.error().to_string();
    const auto bound = bind_app(*parsed, limits, {1'000'000'000}, {});
    return bound ? "accepted" : bound.error().to_string();
  };
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1000 s"), "accepted");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1000000 s"),
            "application 'a': kernel 'k': a block takes 1e+15 cycles, at most 1e+13 can be simulated");
  EXPECT_EQ(error("blocks: 1, threads: 1024, block_time: 1 us"), "accepted");
  EXPECT_EQ(error("blocks: 1, threads: 1025, block_time: 1 us"),
            "a.yaml:3: kernel 'k': a block has at most 1024 threads");
  EXPECT_EQ(error("blocks: 1, threads: 4294967295, block_time: 1 us"),
            "a.yaml:3: kernel 'k': a block has at most 1024 threads");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1 us, instructions: 18446744073709551615"),
            "application 'a': kernel 'k': a block has 18446744073709551615 instructions, at most 1000000000000000 can "
            "be simulated");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1 us", "copy_to_device: 18446744073709551615 B"),
            "a.yaml:5: a copy has at most 1125899906842624 bytes, not 18446744073709551615");
}

// The time of a large launch is found without a simulation of all its blocks.
TEST(LoadApp, ALargeGridIsPlacedAtOnce) {
  const DurationShape shape = DurationShape::uniform(0.3);
  EXPECT_NEAR(makespan(4'000'000'000U, 208, shape, 1), 4e9 / 208, 4e9 / 208 * 1e-3);
  EXPECT_EQ(makespan(4'294'967'295U, 208, DurationShape(), 1), 20'648'882);
}

TEST(LoadApp, MistakesNameTheirPlace) {
  const auto error = [](const std::string& text) {
    const auto parsed = parse_app(text, "a.yaml");
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  const std::string head = "name: a\nkernels:\n  scan: {blocks: 4, threads: 32, block_time: 1 us}\ntrace:\n";
  EXPECT_EQ(error(head + "- launch: scam\n"), "a.yaml:5: unknown kernel 'scam' (did you mean 'scan'?)");
  EXPECT_NE(error(head + "- cpu: 5\n").find("a.yaml:5"), std::string::npos);
  EXPECT_NE(error(head + "- {cpu: 5 us, copy_to_host: 4 KB}\n").find("a step is one of"), std::string::npos);
  EXPECT_NE(error("name: a\nkernels:\n  k: {blocks: 4, treads: 32, block_time: 1 us}\ntrace: []\n")
                .find("did you mean 'threads'"),
            std::string::npos);
  EXPECT_NE(error("name: a\nkernels:\n  k: {blocks: 4, threads: 32}\ntrace: []\n")
                .find("needs either 'time' or 'block_time'"),
            std::string::npos);
}

TEST(LoadApp, StepsThatWouldIgnoreAWordAreRefused) {
  const auto error = [](const std::string& step, const std::string& kernel = "") {
    const auto parsed = parse_app(
        "name: a\nkernels:\n  k: {blocks: 4, threads: 32, block_time: 1 us" + kernel + "}\ntrace:\n- {" + step + "}\n",
        "a.yaml");
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  EXPECT_EQ(error("sync: all"), "");
  EXPECT_EQ(error("sync: 1"), "a.yaml:5: 'sync' waits for all streams: 'all' expected, not '1'");
  EXPECT_EQ(error("cpu: 1 us, async: true"), "a.yaml:5: 'async' belongs to copies and launches");
  EXPECT_EQ(error("cpu: 1 us, stream: 3"), "a.yaml:5: 'stream' belongs to copies and launches");
  EXPECT_EQ(error("sync: all, stream: 0"), "a.yaml:5: 'stream' belongs to copies and launches");
  EXPECT_EQ(error("launch: k", ", variation: 0.1, durations: [1, 2]"),
            "a.yaml:3: kernel 'k': of 'variation', 'lognormal_variation', 'durations' and 'recorded' only one");
}

TEST(LoadApp, ClassesAreNamesByGrouping) {
  const auto error = [](const std::string& classes) {
    const auto parsed =
        parse_app("name: a\nclasses: " + classes +
                      "\nkernels:\n  k: {blocks: 4, threads: 32, block_time: 1 us}\ntrace: [{launch: k}]\n",
                  "a.yaml");
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  EXPECT_EQ(error("{class1: SHORT}"), "");
  EXPECT_EQ(error("[SHORT]"), "a.yaml:2: 'classes' must be a map such as {class1: SHORT}, not a list");
  EXPECT_EQ(error("{class1: [SHORT]}"), "a.yaml:2: 'class1' in classes must be text, not a list");
}

// A few lines could otherwise describe more steps than the host's memory holds, or repeat nothing for minutes.
TEST(LoadApp, RepetitionsHaveALimitAllTogether) {
  const auto error = [](const std::string& steps) {
    const auto parsed =
        parse_app("name: a\nkernels:\n  k: {blocks: 4, threads: 32, block_time: 1 us}\ntrace:\n" + steps, "a.yaml");
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  const std::string many = "- {repeat: 6000000, steps: [{launch: k}]}\n";
  EXPECT_EQ(error("- {repeat: 1000, steps: [{launch: k}]}\n"), "");
  EXPECT_EQ(error(many + many), "a.yaml:6: an application has at most 10000000 steps, repetitions written out");
  EXPECT_EQ(error("- {repeat: 0, steps: [{launch: k}]}\n"), "a.yaml:5: 'repeat' must be at least 1");
  EXPECT_EQ(error("- {repeat: 5, steps: []}\n"), "a.yaml:5: 'repeat' needs at least one step");
}

// 2^28 SMs with 16 blocks each would be 2^32 block slots, which 32 bits count as none.
TEST(LoadApp, KernelTimesAreOfAPossibleNumberOfSms) {
  const auto parsed = parse_app(
      "name: a\nmeasured_sms: 268435456\nkernels:\n"
      "  k: {blocks: 4, threads: 32, time: 1 us, variation: 0.1}\ntrace: [{launch: k}]\n",
      "a.yaml");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().to_string(), "a.yaml:1: 'measured_sms' must be at most 100000, not 268435456");
}

// Three blocks of 10923 bytes need one byte more than 32 KB.
TEST(LoadApp, ASharedMemoryConfigurationHoldsNoPartOfABlock) {
  gpu::SmLimits limits;
  limits.total = {2048, 65536, 48 * 1024, 16};
  const std::vector<std::uint32_t> configurations{32 * 1024, 48 * 1024};
  const auto resident = [&](std::uint32_t bytes) {
    KernelDescription k;
    k.shared_bytes = bytes;
    k.block_time = {1'000'000};
    return place_kernel(k, limits, {1'000'000'000}, configurations)->max_blocks_per_sm;
  };
  EXPECT_EQ(resident(10'922), 3U);
  EXPECT_EQ(resident(10'923), 2U);
  EXPECT_EQ(resident(16 * 1024), 2U);
  EXPECT_EQ(resident(0), 16U);
}

TEST(LoadApp, TimesAreRoundedToTheNearestCycle) {
  EXPECT_EQ(to_cycles({499}, {1'000'000'000}), 0U);
  EXPECT_EQ(to_cycles({999}, {1'000'000'000}), 1U);
  EXPECT_EQ(to_cycles({1'999}, {2'000'000'000}), 4U);
  EXPECT_EQ(to_cycles({999'999'999'999}, {10'000'000'000}), 10'000'000'000U);
}

TEST(LoadApp, NumbersThatAreNotFiniteAreRefused) {
  const auto error = [](const std::string& setting) {
    const auto parsed = parse_app(
        "name: a\nkernels:\n  k: {blocks: 4, threads: 32, block_time: 1 us, " + setting + "}\ntrace:\n- launch: k\n",
        "a.yaml");
    return parsed.ok() ? "accepted" : parsed.error().to_string();
  };
  EXPECT_EQ(error("variation: nan"), "a.yaml:3: 'variation' in kernel 'k' must be a number, not 'nan'");
  EXPECT_EQ(error("saturation: inf"), "a.yaml:3: 'saturation' in kernel 'k' must be a number, not 'inf'");
  EXPECT_EQ(error("durations: [1, nan]"), "a.yaml:3: item 2 of 'durations' in kernel 'k' must be a number, not 'nan'");
  EXPECT_EQ(error("lognormal_variation: 1e200"), "a.yaml:3: kernel 'k': 'lognormal_variation' must be from 0 to 100");
  EXPECT_EQ(error("lognormal_variation: 100"), "accepted");
  EXPECT_EQ(error("saturation: 0.009"), "a.yaml:3: kernel 'k': 'saturation' must be from 0.01 to 1");
  EXPECT_EQ(error("saturation: 0.01"), "accepted");
}

TEST(LoadSystem, AGpusFileIsASystemWithDefaults) {
  const std::string path = source_path("configs/gpus/qos16.yaml");
  const auto system = load_system(path, source_path("configs/systems"), source_path("configs/gpus"));
  ASSERT_TRUE(system.ok()) << system.error().to_string();
  EXPECT_EQ(system->name, "qos16");
  EXPECT_EQ(system->machine.sms, 16U);
  EXPECT_EQ(parse_system("name: g\nsm: {count: 0}\n", "g.yaml", "").error().to_string(),
            gpu::parse_gpu("name: g\nsm: {count: 0}\n", "g.yaml").error().to_string());
}

TEST(LoadSystem, ValuesBeyondTheMachinesCountersAreRefused) {
  const auto error = [](const std::string& part) {
    const auto parsed = parse_system("name: s\ngpu: k20c\n" + part + "\n", "s.yaml", source_path("configs/gpus"));
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  EXPECT_EQ(error("cpu: {cores: 4}"), "");
  EXPECT_EQ(error("cpu: {cores: 0}"), "s.yaml:3: 'cores' in cpu must be from 1 to 100000, not '0'");
  EXPECT_EQ(error("cpu: {threads_per_core: 2}"), "s.yaml:3: missing key 'cores' in cpu");
  EXPECT_EQ(error("cpu: {cores: 65536, threads_per_core: 65536}"),
            "s.yaml:3: 'threads_per_core' in cpu must be from 1 to 1024, not '65536'");
  EXPECT_EQ(error("pcie: {clock: 500 MHz, lanes: 16, pageable_to_device: 1 B}"),
            "s.yaml:3: 'pageable_to_device' in pcie must be at least 1 MB, not '1 B'");
  EXPECT_EQ(error("pcie: {clock: 500 MHz, lanes: 0}"), "s.yaml:3: 'lanes' in pcie must be from 1 to 65536, not '0'");
  EXPECT_EQ(error("pcie: {clock: 18446744073 GHz, lanes: 16}"),
            "s.yaml:3: 'clock' in pcie must be from 1 MHz to 1000 GHz, not '18446744073 GHz'");
  EXPECT_EQ(error("pcie: {clock: 1 GHz, lanes: 16, order: fifo}"),
            "s.yaml:3: 'order' in pcie is fcfs or priority, not 'fifo'");
  EXPECT_EQ(error("execution: {hardware_queues: 4294967295}"),
            "s.yaml:3: 'hardware_queues' in execution must be from 1 to 1000000, not '4294967295'");
  EXPECT_EQ(error("execution: {setup_cycles: 18446744073709551615}"),
            "s.yaml:3: 'setup_cycles' in execution must be at most 1000000000, not '18446744073709551615'");
  EXPECT_EQ(error("execution: {shared_memory: [48 KB, 16 KB]}"), "s.yaml:3: 'shared_memory' in execution must rise");
  EXPECT_EQ(error("execution: {shared_memory: [8 GB]}"),
            "s.yaml:3: 'shared_memory' in execution: 8589934592 bytes are not from 1 to the SM's 49152");
}

}  // namespace
}  // namespace wm::sim
