// Applications: transfers, fills, launches in order, and launches that do not fit their kernel.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

const std::string kAdd = kernel("ld.global.u32 %r0, [%at];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [%at], %r0;\nret;");

std::string error_of(const gpu::Application& app, const std::string& text = kAdd) {
  auto module = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(module.ok());
  const auto ran = run_application(*module, app, {}, "k.ptx");
  return ran ? "" : ran.error().to_string();
}

gpu::Application one_launch(gpu::Launch launch) {
  gpu::Application app;
  const auto b = app.add("b", std::vector<std::uint32_t>(32, 5));
  app.upload(b);
  app.launch(std::move(launch));
  return app;
}

TEST(Application, StepsHappenInOrder) {
  auto module = ptx::parse(kAdd);
  ASSERT_TRUE(module.ok());
  gpu::Application app;
  const auto b = app.add("b", std::vector<std::uint32_t>(32, 5));
  app.upload(b);
  const gpu::Launch launch{"k", {}, {32, 1, 1}, {gpu::buffer(b)}, 0};
  app.launch(launch);
  app.launch(launch);
  app.steps.push_back(gpu::Fill{b, 4, 8, std::byte{1}});
  app.launch(launch);
  app.steps.push_back(gpu::Transfer{gpu::Transfer::Direction::to_device, b, 0, 4});
  const auto ran = run_application(*module, app);
  ASSERT_TRUE(ran.ok());
  std::vector<std::uint32_t> got(32);
  std::memcpy(got.data(), ran->buffers[0].data(), 128);
  EXPECT_EQ(got, table(32, [](auto i) { return i == 0 ? 5 : i < 3 ? 0x01010102 : 8; }));
  EXPECT_EQ(ran->launches.size(), 3U);
}

TEST(Application, ATransferEndsWithTheInitialContent) {
  auto module = ptx::parse(kAdd);
  ASSERT_TRUE(module.ok());
  gpu::Application app;
  const auto b = app.add("b", std::vector<std::uint32_t>{1, 2, 3, 4});
  app.buffers[0].initial.resize(8);  // the last two words have no initial content
  app.fill(b, std::byte{0});
  for (const std::size_t offset : {4U, 8U})
    app.steps.emplace_back(gpu::Transfer{gpu::Transfer::Direction::to_device, b, offset, 8});
  const auto ran = run_application(*module, app);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  std::vector<std::uint32_t> got(4);
  std::memcpy(got.data(), ran->buffers[0].data(), 16);
  EXPECT_EQ(got, (std::vector<std::uint32_t>{0, 2, 0, 0}));
}

// A structure of a number and a pointer: the address of a buffer stands in its last eight bytes.
TEST(Application, AnAddressInAStructureLiesWithinIt) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .align 8 .b8 s[16])\n{\n.reg .b64 %d;\n"
      ".reg .b32 %r;\nld.param.u64 %d, [s+8];\nld.param.u32 %r, [s];\nst.global.u32 [%d], %r;\nret;\n}\n";
  const auto run_with = [&](std::size_t at, std::uint32_t buffer) {
    gpu::Scalar s{std::vector<std::byte>(16, std::byte{7})};
    s.addresses.push_back({at, {buffer}, 4});
    return one_launch({"k", {}, {1, 1, 1}, {s}, 0});
  };
  const auto module = ptx::parse(text, "k.ptx");
  const auto ran = run_application(*module, run_with(8, 0));
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->buffers[0][4], std::byte{7});
  EXPECT_EQ(ran->buffers[0][0], std::byte{5});
  const std::string outside = "kernel 'k': argument 0 is an address outside of it, parameter 's' takes 16 bytes";
  EXPECT_EQ(error_of(run_with(9, 0), text), outside);
  EXPECT_EQ(error_of(run_with(8, 1), text), outside);
}

TEST(Application, UnwrittenBuffersHoldPoison) {
  auto module = ptx::parse(kAdd);
  ASSERT_TRUE(module.ok());
  gpu::Application app;
  app.add_uninitialized("b", 4);
  const auto ran = run_application(*module, app);
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->buffers[0], std::vector<std::byte>(4, kPoison));
}

TEST(Application, ProgressIsTold) {
  auto module = ptx::parse(kAdd);
  ASSERT_TRUE(module.ok());
  auto app = one_launch({"k", {}, {32, 1, 1}, {gpu::buffer({0})}, 0});
  app.launch({"k", {}, {32, 1, 1}, {gpu::buffer({0})}, 0});
  std::string told;
  RunOptions options;
  options.progress = [&](std::size_t done, std::size_t all) {
    told += std::to_string(done) + "/" + std::to_string(all) + " ";
  };
  ASSERT_TRUE(run_application(*module, app, options).ok());
  EXPECT_EQ(told, "1/2 2/2 ");
}

TEST(Application, LaunchesThatDoNotFitAreRefused) {
  EXPECT_EQ(error_of(one_launch({"x", {}, {32, 1, 1}, {gpu::buffer({0})}, 0})), "k.ptx: no kernel 'x'; there is 'k'");
  EXPECT_EQ(error_of(one_launch({"k", {}, {32, 1, 1}, {}, 0})), "kernel 'k' takes 1 arguments, the launch gives 0");
  EXPECT_EQ(error_of(one_launch({"k", {}, {32, 1, 1}, {gpu::scalar(std::uint32_t{1})}, 0})),
            "kernel 'k': argument 0 is 4 bytes, parameter 'out' takes 8 bytes");
  EXPECT_EQ(error_of(one_launch({"k", {}, {32, 1, 1}, {gpu::buffer({3})}, 0})),
            "kernel 'k': argument 0 is buffer 3 of 1");
  EXPECT_EQ(error_of(one_launch({"k", {}, {1025, 1, 1}, {gpu::buffer({0})}, 0})),
            "kernel 'k': a block of (1025,1,1) threads is larger than 1024");
  EXPECT_EQ(error_of(one_launch({"k", {0, 1, 1}, {32, 1, 1}, {gpu::buffer({0})}, 0})),
            "kernel 'k': a grid of (0,1,1) blocks of (32,1,1) threads is empty");
  EXPECT_EQ(error_of(one_launch({"k", {}, {32, 1, 1}, {gpu::buffer({0})}, 20000000})),
            "kernel 'k': a block needs more than 16777216 bytes of shared memory");
}

TEST(Application, ABlockMustBeWhatTheKernelRequires) {
  const std::string text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() .reqntid 8, 8, 1
{
  ret;
})";
  EXPECT_EQ(error_of(one_launch({"k", {}, {8, 8, 1}, {}, 0}), text), "");
  EXPECT_EQ(error_of(one_launch({"k", {}, {64, 1, 1}, {}, 0}), text),
            "kernel 'k' runs with blocks of (8,8,1) threads only (.reqntid), not (64,1,1)");
}

TEST(Application, TransfersOutsideTheirBufferAreRefused) {
  auto app = one_launch({"k", {}, {32, 1, 1}, {gpu::buffer({0})}, 0});
  app.steps.push_back(gpu::Transfer{gpu::Transfer::Direction::to_host, {0}, 100, 29});
  EXPECT_EQ(error_of(app), "a transfer of 29 bytes at 100 is outside of buffer 'b' of 128 bytes");
  app.steps.back() = gpu::Fill{{1}, 0, 1, std::byte{0}};
  EXPECT_EQ(error_of(app), "a fill names buffer 1 of 1");
}

TEST(Application, AnExternalVariableDoesNotLink) {
  EXPECT_EQ(error_of(one_launch({"k", {}, {32, 1, 1}, {gpu::buffer({0})}, 0}),
                     kernel("ld.global.u32 %r0, [far];\nret;", ".extern .global .b32 far;")),
            "kernel 'k' uses 'far', which this module only declares");
}

}  // namespace
}  // namespace wm::exec
