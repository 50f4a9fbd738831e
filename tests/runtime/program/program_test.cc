// The states of a program, the launches that are known to be precompiled, and the limit on compilations.
#include "runtime/program/program.h"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "runtime/program/compilers.h"
#include "runtime/program/sandbox_program.h"
#include "runtime/program/worker_program.h"

namespace wm::runtime {
namespace {

TEST(Program, ABuildSucceedsFailsOrIsRefused) {
  Program program;
  EXPECT_EQ(program.state(), Program::State::created);
  program.begin_build("-DA");
  EXPECT_EQ(program.state(), Program::State::building);
  EXPECT_EQ(program.options, "-DA");
  program.end_build(true, nullptr);
  EXPECT_EQ(program.state(), Program::State::built);
  program.begin_build("");
  program.end_build(false, nullptr);
  EXPECT_EQ(program.state(), Program::State::failed);
  program.begin_build("");
  program.refuse("log");
  EXPECT_EQ(program.state(), Program::State::refused);
  EXPECT_EQ(program.refusal(), "log");
}

TEST(Program, ABuildThatReachesTheDeviceEndsAnEarlierRefusal) {
  Program program;
  program.begin_build("");
  program.refuse("log");
  program.begin_build("");
  program.end_build(false, nullptr);
  EXPECT_EQ(program.refusal(), "");
}

TEST(Program, ANewBuildForgetsTheResultsOfTheLast) {
  Program program;
  program.begin_build("");
  program.end_build(true, std::make_shared<const std::string>("object"));
  program.precompiled.add("launch", "");
  ASSERT_NE(program.object(), nullptr);
  program.begin_build("");
  EXPECT_EQ(program.object(), nullptr);
  EXPECT_FALSE(program.precompiled.find("launch").has_value());
  EXPECT_FALSE(program.form.valid());
}

TEST(PrecompiledLaunches, AreFoundWithTheirRefusal) {
  PrecompiledLaunches launches;
  EXPECT_FALSE(launches.find("a").has_value());
  launches.add("a", "");
  launches.add("b", "it crashes");
  EXPECT_EQ(launches.find("a"), "");
  EXPECT_EQ(launches.find("b"), "it crashes");
}

TEST(PrecompiledLaunches, AfterSixtyFourFurtherLaunchesCountAsPrecompiled) {
  PrecompiledLaunches launches;
  for (int i = 0; i < 63; ++i) launches.add(std::to_string(i), "");
  EXPECT_FALSE(launches.find("new").has_value());
  launches.add("63", "");
  EXPECT_EQ(launches.find("new"), "");
}

TEST(SandboxProgram, ACompiledProgramIsGivenAsItsObject) {
  const auto program = std::make_shared<Program>();
  program->source = "source";
  program->begin_build("-DA");
  program->end_build(true, std::make_shared<const std::string>("object"));
  const SandboxProgram compiled(program, "-DA");
  EXPECT_TRUE(compiled.text().binary);
  EXPECT_EQ(compiled.text().text, "object");
  program->begin_build("-DB");
  EXPECT_EQ(compiled.text().text, "object") << "it stays as it was when it was made";
  EXPECT_EQ(SandboxProgram(program, "-DB").text().text, "source");
}

TEST(SandboxProgram, HeadersThatExistAreIncluded) {
  const auto program = std::make_shared<Program>(), header = std::make_shared<Program>();
  header->source = "#define A 1";
  program->source = "#include \"a.h\"";
  program->headers.emplace_back("a.h", header);
  program->headers.emplace_back("gone.h", std::weak_ptr<Program>());
  const auto text = SandboxProgram(program, "").text();
  ASSERT_EQ(text.headers.size(), 1U);
  EXPECT_EQ(text.headers[0].name, "a.h");
  EXPECT_EQ(text.headers[0].text, "#define A 1");
}

TEST(SandboxProgram, TheKindOfBuildFollowsFromItsOrigin) {
  Program source, binary, linked;
  binary.binary = "binary";
  linked.inputs = std::make_shared<const std::vector<SandboxProgram>>();
  EXPECT_EQ(build_kind(source), sandbox::Request::Kind::build);
  EXPECT_EQ(build_kind(binary), sandbox::Request::Kind::load);
  EXPECT_EQ(build_kind(linked), sandbox::Request::Kind::link);
}

TEST(Compilers, ACancelledCompilationIsNotStarted) {
  Compilers compilers;
  bool started = false;
  const auto compile = [&] {
    started = true;
    return status::kSuccess;
  };
  EXPECT_FALSE(compilers.run({nullptr, [] { return true; }}, compile).has_value());
  EXPECT_FALSE(started);
  EXPECT_EQ(compilers.run({nullptr, [] { return false; }}, compile), status::kSuccess);
}

TEST(Compilers, NoMoreRunAtOnceThanThereAreProcessors) {
  Compilers compilers;
  std::atomic<unsigned> running{0}, highest{0};
  std::vector<std::thread> threads;
  const unsigned limit = std::max(std::thread::hardware_concurrency(), 2U);
  for (unsigned i = 0; i < limit + 3; ++i) {
    threads.emplace_back([&] {
      compilers.run({nullptr, [] { return false; }}, [&] {
        const unsigned now = ++running;
        for (unsigned seen = highest; seen < now && !highest.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --running;
        return status::kSuccess;
      });
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(highest, limit);
}

// One client has queued many compilations when another asks for one.
TEST(Compilers, AtLeastTwoRunAtOnce) {
  for (const auto& [processors, at_once] : {std::pair{0U, 2U}, {1U, 2U}, {2U, 2U}, {3U, 3U}, {64U, 64U}}) {
    EXPECT_EQ(Compilers::at_once(processors), at_once);
  }
}

// A client whose compilations have all ended is forgotten: it is no later than one that never compiled.
TEST(Compilers, AClientWithoutCompilationsIsForgotten) {
  Compilers compilers(1);
  const int first = 1, blocking = 2, other = 3;
  const auto client = [](const int& id) { return CompilingClient{&id, [] { return false; }}; };
  const auto done = [] { return status::kSuccess; };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(compilers.run(client(first), done), status::kSuccess);
  std::latch begun(1), go_on(1);
  std::vector<int> order;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    compilers.run(client(blocking), [&] {
      begun.count_down();
      go_on.wait();
      return status::kSuccess;
    });
  });
  begun.wait();
  for (const int* id : {&first, &other}) {
    const std::size_t waiting = compilers.waiting();
    threads.emplace_back([&, id] {
      compilers.run(client(*id), [&] {
        order.push_back(*id);  // one at a time
        return status::kSuccess;
      });
    });
    while (compilers.waiting() == waiting) std::this_thread::yield();
  }
  go_on.count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{first, other})) << "in the order in which they came";
}

TEST(Compilers, AClientThatQueuesManyDoesNotDelayAnother) {
  Compilers compilers(1);
  std::mutex mutex;
  std::condition_variable changed;
  bool go = false;
  std::string order;
  const int many = 0, one = 0;
  std::atomic<bool> first_runs{false};
  const auto compile = [&](const int& client, char name) {
    return std::thread([&, name] {
      compilers.run({&client, [] { return false; }}, [&] {
        first_runs = true;
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return go; });
        order += name;
        return status::kSuccess;
      });
    });
  };
  std::vector<std::thread> threads;
  for (const char name : {'a', 'b', 'c', 'x'}) {
    threads.push_back(compile(name == 'x' ? one : many, name));
    // The first one runs; the others wait in this order.
    while (!first_runs || compilers.waiting() + 1 < threads.size()) std::this_thread::yield();
  }
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  changed.notify_all();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(order, "axbc");
}

TEST(WorkerProgram, RegistersAreReadFromTheLogOfNvidiasCompiler) {
  const auto registers = registers_in_log(
      "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
      "ptxas info    : Used 24 registers, 368 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'b_2' for 'sm_90'\n"
      "ptxas info    : Used 7 registers\n");
  EXPECT_EQ(registers, (std::map<std::string, std::uint32_t>{{"a", 24}, {"b_2", 7}}));
  EXPECT_TRUE(registers_in_log("entry function 'f' for 'sm_90'\nUsed 5 barriers\n").empty()) << "another number";
  EXPECT_TRUE(registers_in_log("Used 5 registers\n").empty()) << "of no kernel";
  EXPECT_TRUE(registers_in_log("").empty());
}

}  // namespace
}  // namespace wm::runtime
