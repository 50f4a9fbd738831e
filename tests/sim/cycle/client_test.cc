// A client without a machine: its launches one after the other, and what it executes between them.
#include "sim/cycle/client.h"

#include "exec/run.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

// `where` stores the address of its buffer, `add` adds the variable `step` to every word of its buffer, `twice` doubles
// them, `say` prints "hi".
constexpr const char* kModule = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 step = 1;
.global .align 1 .b8 text[3] = {104, 105, 0};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry where(.param .u64 p) {
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; st.global.u64 [%rd1], %rd1;
  ret;
}
.visible .entry add(.param .u64 p) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [step]; add.s32 %r4, %r2, %r3; st.global.u32 [%rd3], %r4;
  mov.u32 %r5, 9; st.global.u32 [step], %r5;
  ret;
}
.visible .entry twice(.param .u64 p) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; add.s32 %r4, %r2, %r2; st.global.u32 [%rd3], %r4;
  ret;
}
.visible .entry say(.param .u64 p) {
  .reg .b64 %rd<4>;
  .param .b64 f; .param .b64 a; .param .b32 r;
  mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0;
  st.param.b64 [f], %rd2; st.param.b64 [a], %rd3;
  call.uni (r), vprintf, (f, a);
  ret;
}
)";

gpu::Launch launch(const std::string& kernel, gpu::BufferId buffer, std::uint32_t threads) {
  return {kernel, {1}, {threads}, {gpu::buffer(buffer)}, 0};
}

class AClient {
 public:
  explicit AClient(const std::string& gpu = "qos16") : config_(test_gpu(gpu)) {
    auto module = ptx::parse(kModule, "k.ptx");
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    spec.name = "c";
    spec.module = std::make_shared<ptx::Module>(*std::move(module));
    spec.application = application;
  }

  Client& operator*() { return *client(); }
  Client* operator->() { return client(); }
  // Executes the current launch without time.
  void execute() { EXPECT_FALSE(exec::run_launch(client()->current().grid).fault); }
  bool next() {
    const auto more = client()->next_launch();
    EXPECT_TRUE(more.ok()) << more.error().to_string();
    return more.ok() && *more;
  }
  std::vector<std::uint32_t> words(std::size_t buffer = 0) {
    const auto bytes = (*client()->buffers())[buffer];
    std::vector<std::uint32_t> list(bytes.size() / 4);
    std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
  }

  ClientSpec spec;
  std::shared_ptr<gpu::Application> application = std::make_shared<gpu::Application>();

 private:
  Client* client() {
    if (client_ == nullptr) {
      auto made = Client::make(spec, config_);
      EXPECT_TRUE(made.ok()) << made.error().to_string();
      client_ = *std::move(made);
    }
    return client_.get();
  }

  gpu::GpuConfig config_;
  std::unique_ptr<Client> client_;
};

using Words = std::vector<std::uint32_t>;

TEST(Client, ATransferWritesItsPartOfTheInitialContent) {
  AClient c;
  const auto data = c.application->add("data", Words{1, 2, 3, 4});
  c.application->fill(data, std::byte{0});
  c.application->steps.emplace_back(gpu::Transfer{gpu::Transfer::Direction::to_device, data, 4, 8});
  c.application->launch(launch("twice", data, 4));
  ASSERT_TRUE(c.next());
  EXPECT_EQ(c.words(), (Words{0, 2, 3, 0}));
  c.execute();
  EXPECT_EQ(c.words(), (Words{0, 4, 6, 0}));
  EXPECT_FALSE(c.next());
}

TEST(Client, ATransferEndsWithTheInitialContent) {
  AClient c;
  const auto data = c.application->add("data", Words{1, 2, 3, 4});
  c.application->buffers[0].initial.resize(8);  // the last two words have no initial content
  c.application->fill(data, std::byte{0});
  for (const std::size_t offset : {4U, 8U})
    c.application->steps.emplace_back(gpu::Transfer{gpu::Transfer::Direction::to_device, data, offset, 8});
  c.application->launch(launch("twice", data, 4));
  ASSERT_TRUE(c.next());
  EXPECT_EQ(c.words(), (Words{0, 2, 0, 0}));
}

TEST(Client, EveryRunBeginsWithTheContentOfItsVariables) {
  AClient c;
  c.spec.launches = 2;
  const auto data = c.application->add("data", Words{5});
  const std::uint32_t step = 3;
  c.application->variables.push_back({"step", std::vector<std::byte>(4)});
  std::memcpy(c.application->variables[0].bytes.data(), &step, 4);
  c.application->upload(data);
  c.application->launch(launch("add", data, 1));
  c.application->launch(launch("add", data, 1));
  for (std::uint32_t run = 0; run < 2; ++run) {
    EXPECT_TRUE(c.next());
    EXPECT_EQ(c->runs(), run);
    c.execute();
    EXPECT_EQ(c.words(), (Words{8})) << "the variable's content, also in a second run";
    EXPECT_TRUE(c.next());
    c.execute();
    EXPECT_EQ(c.words(), (Words{17})) << "as the first launch left the variable";
  }
  EXPECT_FALSE(c.next());
  EXPECT_EQ(c->runs(), 2U);
}

TEST(Client, OnlyLaunchesOfItsEntryTakeTime) {
  AClient c;
  c.spec.entry = "add";
  const auto data = c.application->add("data", Words{5});
  c.application->upload(data);
  c.application->launch(launch("twice", data, 1));
  c.application->launch(launch("add", data, 1));
  c.application->launch(launch("twice", data, 1));
  ASSERT_TRUE(c.next());
  EXPECT_EQ(c.words(), (Words{10}));
  c.execute();
  ASSERT_TRUE(c->finish_functionally().ok());
  EXPECT_EQ(c.words(), (Words{22}));
}

TEST(Client, TheFirstRunIsReportedOnceBeforeTheNextWritesItsInputs) {
  AClient c;
  c.spec.launches = 3;
  const auto data = c.application->add("data", Words{5});
  c.application->upload(data);
  c.application->launch(launch("twice", data, 1));
  std::vector<std::uint32_t> seen;
  c.spec.first_run_done = [&](const Client& done) {
    std::uint32_t word = 0;
    std::memcpy(&word, (*done.buffers())[0].data(), 4);
    seen.push_back(word);
    EXPECT_EQ(done.runs(), 1U);
  };
  while (c.next()) c.execute();
  EXPECT_EQ(seen, (Words{10}));
}

TEST(Client, PrintsInItsFirstRunOnly) {
  AClient c;
  c.spec.launches = 2;
  const auto data = c.application->add("data", Words{5});
  c.application->launch(launch("say", data, 1));
  std::string printed;
  c.spec.print = [&](std::string_view text) { printed += text; };
  ASSERT_TRUE(c.next());
  c.execute();
  EXPECT_EQ(printed, "hi");
  ASSERT_TRUE(c.next());
  c.execute();
  EXPECT_EQ(printed, "hi");
}

TEST(Client, LaunchesOfOneShapeHaveOneFunctionNumber) {
  AClient c;
  const auto data = c.application->add("data", Words{1, 2});
  for (const auto& [kernel, threads] : {std::pair{"add", 1U}, {"twice", 1U}, {"add", 2U}, {"twice", 1U}, {"add", 1U}})
    c.application->launch(launch(kernel, data, threads));
  Words numbers, ids;
  while (c.next()) {
    numbers.push_back(c->current().function);
    ids.push_back(static_cast<std::uint32_t>(c->current().grid.id));
  }
  EXPECT_EQ(numbers, (Words{0, 1, 2, 1, 0}));
  EXPECT_EQ(ids, (Words{1, 2, 3, 4, 5})) << "every launch has a number of its own";
}

// Buffers whose addresses are no multiple of 1024.
int odd_addresses(const std::string& gpu) {
  AClient c(gpu);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto buffer = c.application->add("b" + std::to_string(i), std::vector<std::uint64_t>(1 + 40 * i));
    c.application->launch(launch("where", buffer, 1));
  }
  while (c.next()) c.execute();
  int odd = 0;
  for (std::size_t i = 0; i < 8; ++i) odd += c.words(i)[0] % 1024 != 0 ? 1 : 0;
  return odd;
}

TEST(Client, BuffersBeginWithAKilobyteWhereTwoSlicesShareOne) {
  EXPECT_EQ(odd_addresses("h200"), 0);
  EXPECT_GT(odd_addresses("qos16"), 0);
}

TEST(Client, AFaultBetweenItsLaunchesIsAnError) {
  AClient c;
  c.spec.entry = "add";
  const auto data = c.application->add("data", Words{5});
  c.application->launch(launch("twice", data, 64));  // behind the buffer
  c.application->launch(launch("add", data, 1));
  const auto more = c->next_launch();
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().to_string().find("out of bounds"), std::string::npos) << more.error().to_string();
}

class TwoLaunches final : public LaunchSource {
 public:
  Result<std::optional<TimedLaunch>> next() override {
    if (left_ == 0) return std::optional<TimedLaunch>{};
    TimedLaunch launch;
    launch.function = 10 + --left_;
    return std::optional(std::move(launch));
  }

 private:
  std::uint32_t left_ = 2;
};

TEST(Client, WithASourceTakesItsLaunches) {
  AClient c;
  c.spec.source = std::make_shared<TwoLaunches>();
  EXPECT_TRUE(c->waits_for_launches());
  ASSERT_TRUE(c.next());
  EXPECT_EQ(c->current().function, 11U);
  ASSERT_TRUE(c.next());
  EXPECT_EQ(c->current().function, 10U);
  EXPECT_FALSE(c.next());
}

TEST(Client, ThatNeverLaunchesItsEntryIsRefused) {
  AClient c;
  c.spec.entry = "add";
  const auto data = c.application->add("data", Words{5});
  c.application->launch(launch("twice", data, 1));
  const auto made = Client::make(c.spec, test_gpu("qos16"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().to_string(), "'c' never launches 'add'");
}

}  // namespace
}  // namespace wm::sim
