// The compile sandbox, with scripts in place of wm-sandbox.
#include "runtime/sandbox/sandbox.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

#include "base/file.h"

namespace wm::runtime::sandbox {
namespace {

namespace fs = std::filesystem;

class SandboxScripts : public testing::Test {
 protected:
  ~SandboxScripts() override { fs::remove_all(folder_); }
  // A script that appends a byte to a file when it starts, and then runs `what`.
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
  // Answers every request with four zeros: success.
  static constexpr const char* kSucceeds =
      "while dd bs=65536 count=1 2>/dev/null | grep -q .; do printf "
      "'\\004\\000\\000\\000\\000\\000\\000\\000'; done";

 private:
  std::string folder_ = [] {
    std::string pattern = testing::TempDir() + "wm-sandbox-XXXXXX";
    return std::string(::mkdtemp(pattern.data()));
  }();
};

TEST_F(SandboxScripts, ARequestThatSucceededIsNotTriedAgain) {
  const SandboxOptions options = script(kSucceeds);
  {
    Sandbox sandbox(options);
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("kernel void f() {}", "-DA")));
    EXPECT_FALSE(sandbox.refusal(build_of("#include <f.h>", "")));
    EXPECT_FALSE(sandbox.refusal(build_of("#include <f.h>", "")));
    EXPECT_EQ(sandbox.counts().tried, 4U) << "a program that includes files is tried every time";
    EXPECT_EQ(sandbox.counts().known, 1U);
    EXPECT_EQ(started(), 1U) << "one process serves all requests";
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

TEST_F(SandboxScripts, ProcessesOfRequestsAtTheSameTimeServeLaterOnes) {
  // An answer takes a while, so that the requests of a round overlap.
  Sandbox sandbox(
      script("while dd bs=65536 count=1 2>/dev/null | grep -q .; do sleep 0.05; printf "
             "'\\004\\000\\000\\000\\000\\000\\000\\000'; done"));
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back(
          [&, i] { EXPECT_FALSE(sandbox.refusal(build_of("f", "-DN=" + std::to_string(3 * round + i)))); });
    }
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(sandbox.counts().tried, 9U);
  EXPECT_LE(started(), 3U);
}

TEST_F(SandboxScripts, ACrashIsARefusalThatIsKept) {
  Sandbox sandbox(script("kill -SEGV $$"));
  for (int i = 0; i < 2; ++i) {
    const auto reason = sandbox.refusal(build_of("kernel void f() {}", ""));
    ASSERT_TRUE(reason);
    EXPECT_NE(reason->find("crashed: signal 11"), std::string::npos) << *reason;
  }
  EXPECT_EQ(started(), 1U);
  EXPECT_EQ(sandbox.counts().refused, 2U);
}

TEST_F(SandboxScripts, LaunchesAreCountedSeparately) {
  Sandbox sandbox(script(kSucceeds));
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

TEST_F(SandboxScripts, AnExitIsARefusal) {
  Sandbox sandbox(script("exit 1"));
  const auto reason = sandbox.refusal(build_of("kernel void f() {}", ""));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("ended its process"), std::string::npos) << *reason;
}

TEST_F(SandboxScripts, ATimeoutIsARefusal) {
  Sandbox sandbox(script("exec sleep 100", std::chrono::milliseconds(200)));
  const auto reason = sandbox.refusal(build_of("kernel void f() {}", ""));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("did not end within 0.2 s"), std::string::npos) << *reason;
}

TEST_F(SandboxScripts, WithoutAProcessNothingIsRefused) {
  SandboxOptions options = script("");
  options.program += ".not-there";
  Sandbox missing(options), none(SandboxOptions{});
  EXPECT_FALSE(missing.refusal(build_of("kernel void f() {}", "")));
  EXPECT_FALSE(none.refusal(build_of("kernel void f() {}", "")));
  EXPECT_EQ(missing.native_results()[NonstandardCall::large_buffer], -61);
}

TEST_F(SandboxScripts, NativeResultsAreDeterminedOnce) {
  const SandboxOptions options = script(kSucceeds);
  Sandbox sandbox(options);
  const NativeResults results = sandbox.native_results();
  for (std::size_t i = 0; i < kNonstandardCalls; ++i) EXPECT_EQ(results.status[i], 0);
  const std::size_t before = started();
  Sandbox later(options);
  EXPECT_EQ(later.native_results()[NonstandardCall::unaligned_fill_size], 0);
  EXPECT_EQ(started(), before);
}

TEST_F(SandboxScripts, ACallThatCrashesTheDriverHasTheResultOfTheStandard) {
  Sandbox sandbox(script("kill -SEGV $$"));
  const NativeResults results = sandbox.native_results();
  EXPECT_EQ(results[NonstandardCall::large_buffer], -61);
  EXPECT_EQ(results[NonstandardCall::overlapping_copy_rect], -8);
  EXPECT_EQ(results[NonstandardCall::launch_offset_beyond], -56);
  EXPECT_EQ(started(), kNonstandardCalls);
}

TEST(SandboxRequest, IsDecodedAsItWasEncodedAndNotWhenIncomplete) {
  Request request;
  request.kind = Request::Kind::link;
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

TEST(SandboxRequest, OfAnotherVersionOrKindIsRefused) {
  std::string bytes = encode(build_of("kernel void f() {}", ""));
  ASSERT_TRUE(decode(bytes).ok());
  std::string other_version = bytes, other_kind = bytes;
  other_version[0] = static_cast<char>(other_version[0] + 1);
  other_kind[4] = 100;
  EXPECT_FALSE(decode(other_version).ok());
  EXPECT_FALSE(decode(other_kind).ok());
}

TEST(SandboxRequest, ANonstandardCallCarriesItsNumber) {
  Request request;
  request.kind = Request::Kind::nonstandard_call;
  request.call = 17;
  const auto read = decode(encode(request));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->kind, Request::Kind::nonstandard_call);
  EXPECT_EQ(read->call, 17U);
}

}  // namespace
}  // namespace wm::runtime::sandbox
