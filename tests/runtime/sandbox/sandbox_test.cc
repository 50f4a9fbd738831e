// The process in which the device's driver is tried, played by scripts.
#include "runtime/sandbox/sandbox.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "runtime/session/objects.h"

namespace wm::runtime::sandbox {
namespace {

namespace fs = std::filesystem;

class Scripts : public testing::Test {
 protected:
  ~Scripts() override { fs::remove_all(folder_); }
  // Every request is one byte more in a file, then the script does `what`.
  SandboxOptions script(const std::string& what, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const std::string program = folder_ + "/sandbox";
    EXPECT_TRUE(write_file(program, "#!/bin/sh\necho >> " + folder_ + "/started\n" + what + "\n").ok());
    ::chmod(program.c_str(), 0700);
    return {program, "", "a driver", folder_ + "/tried", limit};
  }
  [[nodiscard]] std::size_t started() const {
    const auto text = read_file(folder_ + "/started");
    return text ? text->size() : 0;
  }
  // NativeResults every request that has been read in full (they are short) with four zeros.
  static constexpr const char* kWell =
      "while dd bs=65536 count=1 2>/dev/null | grep -q .; do printf "
      "'\\004\\000\\000\\000\\000\\000\\000\\000'; done";

 private:
  std::string folder_ = [] {
    std::string pattern = testing::TempDir() + "wm-sandbox-XXXXXX";
    return std::string(::mkdtemp(pattern.data()));
  }();
};

TEST_F(Scripts, WhatWentWellIsNotTriedAgain) {
  const SandboxOptions options = script(kWell);
  {
    Sandbox sandbox(options);
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "-DA")));
    EXPECT_FALSE(sandbox.refusal(build_of("#include <f.h>", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("#include <f.h>", "")));
    EXPECT_EQ(sandbox.counts().tried, 4U) << "what reads files is tried every time";
    EXPECT_EQ(sandbox.counts().known, 1U);
    EXPECT_EQ(started(), 1U) << "one process serves them all";
  }
  Sandbox later(options);
  EXPECT_FALSE(later.refusal(build_of("kernel void f() {}", "")));
  EXPECT_EQ(later.counts().known, 1U);
  SandboxOptions other = options;
  other.driver = "another driver";
  Sandbox newer(other);
  EXPECT_FALSE(newer.refusal(build_of("kernel void f() {}", "")));
  EXPECT_EQ(newer.counts().tried, 1U);
}

TEST_F(Scripts, OneThatDiesIsARefusalAndRemembered) {
  Sandbox sandbox(script("kill -SEGV $$"));
  for (int i = 0; i < 2; ++i) {
    const auto why = sandbox.refusal(build_of("kernel void f() {}", ""));
    ASSERT_TRUE(why);
    EXPECT_NE(why->find("crashed: signal 11"), std::string::npos) << *why;
  }
  EXPECT_EQ(started(), 1U);
  EXPECT_EQ(sandbox.counts().refused, 2U);
}

TEST_F(Scripts, LaunchesAreCountedApart) {
  Sandbox sandbox(script(kWell));
  Request launch = build_of("kernel void f() {}", "");
  launch.launch = SandboxLaunch{"f", {64, 1, 1}, {16, 1, 1}, 1, false, {}};
  EXPECT_FALSE(sandbox.refusal(launch));
  EXPECT_FALSE(sandbox.refusal(launch));
  launch.launch->local[0] = 32;
  EXPECT_FALSE(sandbox.refusal(launch));
  EXPECT_EQ(sandbox.counts().tried, 0U);
  EXPECT_EQ(sandbox.launch_counts().tried, 2U);
  EXPECT_EQ(sandbox.launch_counts().known, 1U);
}

TEST_F(Scripts, OneThatEndsByItselfIsARefusal) {
  Sandbox sandbox(script("exit 1"));
  const auto why = sandbox.refusal(build_of("kernel void f() {}", ""));
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("ended its process"), std::string::npos) << *why;
}

TEST_F(Scripts, OneThatDoesNotEndIsARefusal) {
  Sandbox sandbox(script("exec sleep 100", std::chrono::milliseconds(200)));
  const auto why = sandbox.refusal(build_of("kernel void f() {}", ""));
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("did not end within 0.2 s"), std::string::npos) << *why;
}

TEST_F(Scripts, WhereNoneCanBeStartedNothingIsRefused) {
  SandboxOptions options = script("");
  options.program += ".not-there";
  Sandbox missing(options), none(SandboxOptions{});
  EXPECT_FALSE(missing.refusal(build_of("kernel void f() {}", "")));
  EXPECT_FALSE(none.refusal(build_of("kernel void f() {}", "")));
  EXPECT_EQ(missing.answers()[NonstandardCall::large_buffer], -61);
}

TEST_F(Scripts, AnswersAreAskedOnce) {
  const SandboxOptions options = script(kWell);
  Sandbox sandbox(options);
  const NativeResults answers = sandbox.answers();
  for (std::size_t i = 0; i < kNonstandardCalls; ++i) EXPECT_EQ(answers.status[i], 0);
  const std::size_t before = started();
  Sandbox later(options);
  EXPECT_EQ(later.answers()[NonstandardCall::unaligned_fill_size], 0);
  EXPECT_EQ(started(), before);
}

// A driver that does not survive a question is taken to refuse it; the others are asked all the same.
TEST_F(Scripts, AQuestionThatKillsIsAnsweredAsTheStandardHasIt) {
  Sandbox sandbox(script("kill -SEGV $$"));
  const NativeResults answers = sandbox.answers();
  EXPECT_EQ(answers[NonstandardCall::large_buffer], -61);
  EXPECT_EQ(answers[NonstandardCall::overlapping_copy_rect], -8);
  EXPECT_EQ(answers[NonstandardCall::launch_offset_beyond], -56);
  EXPECT_EQ(started(), kNonstandardCalls);
}

// Of a buffer that no device could give memory nothing is counted, where nobody has said how much a client may have.
TEST(MemoryLimits, CountNothingForWhatCannotBeThere) {
  const MemoryLimits all(1000, 1000, false, true), some(1000, 1000, false);
  EXPECT_TRUE(all.takes_nothing(1001));
  EXPECT_FALSE(all.takes_nothing(1000));
  EXPECT_FALSE(some.takes_nothing(1001));
}

TEST(TrialRequests, AreReadAsTheyWereWritten) {
  Request request;
  request.what = Request::What::link;
  request.device = "a device";
  request.options = "-create-library";
  request.programs = {{false, "text", "-DA", {{"h.h", "int x;"}, {"", ""}}}, {true, std::string("\0bin", 4), "", {}}};
  request.launch = SandboxLaunch{"f", {1ULL << 40, 2, 3}, {4, 5, 6}, 3, true, {{SandboxLaunch::Argument::bytes, 48}}};
  const std::string bytes = encode(request);
  const auto read = decode(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encode(*read), bytes);
  EXPECT_EQ(read->launch, request.launch);
  EXPECT_EQ(read->programs[0].headers[0].name, "h.h");
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace wm::runtime::sandbox
