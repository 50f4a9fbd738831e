// Macros of the device's compiler that differ from those that a program was preprocessed with.
#include "runtime/program/device_macros.h"

#include <gtest/gtest.h>

#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_gpu.h"
#include "runtime/device/recorded_opencl.h"

namespace wm::runtime::test {
namespace {

using rewrite::Assumption;

struct DeviceMacrosTest : testing::Test {
  // The kernels of the next program that is built tell which macros the device's compiler defines: "0" for the first,
  // "0_v" for a number, and "0_3" for its bit 3.
  void device_has(const std::vector<std::string>& kernels) {
    std::string names = "wm__";
    for (const std::string& k : kernels) names += ";wm__" + k;
    record.texts[CL_PROGRAM_KERNEL_NAMES] = names;
  }
  [[nodiscard]] long programs() const {
    const auto& lines = record.lines();
    return std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("CreateProgramWith"); });
  }
  static Assumption assumed(const std::string& name, bool defined, bool valued = false, const std::string& value = "") {
    Assumption a;
    a.name = name;
    a.defined = defined;
    a.valued = valued;
    a.value = value;
    return a;
  }

  OpenClRecord record{0};
  OpenClGpu backend{record.driver(false)};
  DeviceMacros macros{backend.compilation()};
  rewrite::Device device;
};

TEST_F(DeviceMacrosTest, OnlyDifferencesAreAdded) {
  device_has({"0", "2", "4", "4_v", "4_0", "4_3", "5", "5_v", "5_2"});
  const auto corrected =
      macros.correct(device, "-O1",
                     {assumed("BOTH", true), assumed("NEITHER", false), assumed("MISSED", false),
                      assumed("WRONGLY", true), assumed("NINE", true, true, "9"), assumed("FOUR", true, true, "5")});
  EXPECT_EQ(corrected, 3U);
  EXPECT_EQ(device.macros, (std::vector<std::string>{"MISSED=1", "FOUR=4"}));
  EXPECT_EQ(device.undefined, (std::vector<std::string>{"WRONGLY"}));
}

TEST_F(DeviceMacrosTest, AnswersAreKeptForTheSameOptions) {
  device_has({"0"});
  EXPECT_EQ(macros.correct(device, "-O1", {assumed("A", true)}), 0U);
  EXPECT_EQ(programs(), 1);
  EXPECT_EQ(macros.correct(device, "-O1", {assumed("A", true)}), 0U);
  EXPECT_EQ(programs(), 1);
  EXPECT_EQ(macros.correct(device, "-O2", {assumed("A", true)}), 0U);
  EXPECT_EQ(programs(), 2) << "other options";
  device_has({"0", "0_v", "0_62"});
  EXPECT_EQ(macros.correct(device, "-O1", {assumed("A", true, true, "4611686018427387904")}), 0U);
  EXPECT_EQ(programs(), 3) << "its value was not asked for";
  EXPECT_EQ(macros.correct(device, "-O1", {assumed("A", true)}), 0U);
  EXPECT_EQ(programs(), 3);
  EXPECT_EQ(macros.correct(device, "-O1", {}), 0U);
}

TEST_F(DeviceMacrosTest, AMacroThatIsNoNumberCannotBeCorrected) {
  device_has({"0"});
  EXPECT_FALSE(macros.correct(device, "", {assumed("TEXT", true, true, "5")}).has_value());
  device_has({"0", "0_v"});
  EXPECT_EQ(macros.correct(device, "-x", {assumed("ZERO", false, true)}), 1U);
  EXPECT_EQ(device.macros, (std::vector<std::string>{"ZERO=0"}));
  device_has({});
  EXPECT_EQ(macros.correct(device, "-y", {assumed("NONE", true, true, "5")}), 1U);
  EXPECT_EQ(device.undefined, (std::vector<std::string>{"NONE"}));
}

TEST_F(DeviceMacrosTest, KernelsThatWereNotAskedForAreIgnored) {
  device_has({"1", "1_v", "x", "0"});
  EXPECT_EQ(macros.correct(device, "", {assumed("A", true)}), 0U);
}

// The program that tells macros by the names of its kernels.
TEST_F(DeviceMacrosTest, AProgramAsksForAllMacrosAndForTheBitsOfValues) {
  static std::string source;
  auto native = null_opencl(false);
  native->cl.CreateProgramWithSource = [](cl_context, cl_uint, const char** texts, const std::size_t* lengths,
                                          cl_int* status) -> cl_program {
    source = lengths != nullptr ? std::string(texts[0], lengths[0]) : std::string(texts[0]);
    *status = CL_OUT_OF_RESOURCES;
    return nullptr;
  };
  OpenClGpu asked(std::move(native));
  DeviceMacros unknown(asked.compilation());
  EXPECT_FALSE(unknown.correct(device, "", {assumed("B", true, true, "1")}));
  EXPECT_EQ(source, "kernel void wm__() {}\n#ifdef B\nkernel void wm__0() {}\n#endif\n")
      << "the last: without its value";
  EXPECT_FALSE(unknown.correct(device, "", {assumed("B", true), assumed("C", false)}));
  EXPECT_EQ(source, "kernel void wm__() {}\n#ifdef C\nkernel void wm__0() {}\n#endif\n") << "the last: each by itself";
}

TEST_F(DeviceMacrosTest, TheFirstProgramHasAllQuestions) {
  static std::string source;
  auto native = null_opencl(false);
  static decltype(NativeCalls::CreateProgramWithSource) create;
  create = native->cl.CreateProgramWithSource;
  native->cl.CreateProgramWithSource = [](cl_context c, cl_uint n, const char** texts, const std::size_t* lengths,
                                          cl_int* status) {
    source = lengths != nullptr ? std::string(texts[0], lengths[0]) : std::string(texts[0]);
    return create(c, n, texts, lengths, status);
  };
  OpenClGpu asked(std::move(native));
  DeviceMacros built(asked.compilation());
  (void)built.correct(device, "", {assumed("A", true), assumed("B", true, true, "1"), assumed("C", true)});
  std::string bits;
  for (int bit = 0; bit < 63; ++bit) {
    bits += "#if ((B + 0) >> " + std::to_string(bit) + ") & 1\nkernel void wm__1_" + std::to_string(bit) +
            "() {}\n#endif\n";
  }
  EXPECT_EQ(source,
            "kernel void wm__() {}\n#ifdef A\nkernel void wm__0() {}\n#endif\n"
            "#ifdef B\nkernel void wm__1() {}\n#if (B + 0) >= 0\nkernel void wm__1_v() {}\n" +
                bits + "#endif\n#endif\n#ifdef C\nkernel void wm__2() {}\n#endif\n");
}

TEST_F(DeviceMacrosTest, WhereNothingBuildsNothingIsKnown) {
  EXPECT_FALSE(macros.correct(device, "! fails", {assumed("A", true), assumed("B", true, true, "1")}).has_value());
  EXPECT_EQ(programs(), 4) << "both at once, each by itself, and one without its value";
}

}  // namespace
}  // namespace wm::runtime::test
