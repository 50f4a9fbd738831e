// The PTX of loaded modules, and kernels of it with gates or the reason why not.
#include "runtime/client/gates/loaded_code.h"

#include <gtest/gtest.h>
#include <memory>

#include "runtime/simulated/container.h"

extern "C" wm::gates::LoadedCode* wm_read_code(const void* image);

namespace wm::gates {
namespace {

std::string ptx_for(int architecture) {
  return ".version 7.8\n.target sm_" + std::to_string(architecture) +
         "\n.address_size 64\n.visible .global .u32 total;\n"
         ".entry loop(.param .u32 n) {\n.reg .b32 %r<3>; .reg .pred %p<2>;\nld.param.u32 %r1, [n];\n"
         "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 999; @%p1 bra L; st.global.u32 [total], %r1; ret;\n}\n"
         ".entry straight() { ret; }\n";
}

// The text is "gates" if the kernel, compiled for sm_90, has them, and else the reason.
std::string gated(const void* image, const std::string& kernel = "loop") {
  const std::unique_ptr<LoadedCode> code(wm_read_code(image));
  constexpr std::uint64_t kWord = 0x7f0000001000;
  const RewrittenKernel made =
      code->gate(kernel, 90, kWord, [](const std::string&) { return std::optional<std::uint64_t>(0x7f0000002000); });
  if (!made.reason.empty()) return made.reason;
  const bool has_word = made.ptx.find(std::to_string(kWord)) != std::string::npos;
  return has_word && made.ptx.find("total") == std::string::npos ? "gates" : made.ptx;
}

std::string gated_entries(const std::vector<runtime::Entry>& entries) {
  return gated(runtime::container(entries).data());
}

TEST(LoadedCode, PtxAsTextIsKept) {
  EXPECT_EQ(gated(ptx_for(90).c_str()), "gates");
  EXPECT_EQ(gated(ptx_for(90).c_str(), "straight"), "it has no loops");
  EXPECT_EQ(gated(ptx_for(90).c_str(), "other"), "its PTX is not in the program");
  EXPECT_EQ(gated(ptx_for(80).c_str()), "it was compiled for sm_90, its PTX is for sm_80");
}

TEST(LoadedCode, OfAFatBinaryThePtxOfTheRunningCodesArchitectureCounts) {
  EXPECT_EQ(gated_entries({{.architecture = 80, .payload = ptx_for(80)}, {.payload = ptx_for(90)}}), "gates");
  EXPECT_EQ(gated_entries({{.architecture = 80, .payload = ptx_for(80)}}),
            "its machine code was compiled for sm_90, and its module has PTX for another architecture only");
  EXPECT_EQ(gated_entries({{.kind = 2, .payload = "machine code"}}), "its module has machine code only");
}

TEST(LoadedCode, NvccsStructureAroundAFatBinaryIsRead) {
  struct {
    std::uint32_t magic = runtime::kFatBinaryWrapperMagic, version = 1;
    const void* data = nullptr;
    const void* const* parts = nullptr;
  } wrapper;
  const auto bytes = runtime::container({{.payload = ptx_for(90)}});
  wrapper.data = bytes.data();
  EXPECT_EQ(gated(&wrapper), "gates");
  const void* const parts[] = {bytes.data(), nullptr};
  wrapper.version = 2;
  wrapper.parts = parts;
  EXPECT_EQ(gated(&wrapper), "its module is linked from several");
}

TEST(LoadedCode, ModulesWithVeryMuchPtxAreLeftAsTheyAre) {
  const std::string comment = "//" + std::string(16 << 20, ' ') + "\n";
  EXPECT_EQ(gated((comment + ptx_for(90)).c_str()), "its module has more than 16 MB of PTX");
}

TEST(LoadedCode, WorkersHaveTheirParametersBehindTheKernels) {
  const std::string text =
      ".version 7.8\n.target sm_90\n.address_size 64\n"
      ".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12]) { ret; }\n"
      ".entry ends(.param .u32 n) {\n.reg .b32 %r<2>; .reg .pred %p<2>;\nmov.u32 %r1, %tid.x;\n"
      "setp.eq.u32 %p1, %r1, 0; @%p1 ret; bar.sync 0; ret;\n}\n";
  const std::unique_ptr<LoadedCode> code(wm_read_code(text.c_str()));
  const auto no_address = [](const std::string&) { return std::optional<std::uint64_t>(); };
  const RewrittenKernel made = code->make_workers("k", 90, no_address);
  EXPECT_EQ(made.reason, "");
  EXPECT_NE(made.ptx.find("wm_grid"), std::string::npos) << made.ptx;
  ASSERT_EQ(made.parameters.size(), 3U);
  for (const auto& [i, offset, bytes] : {std::tuple{0, 0U, 1U}, {1, 8U, 8U}, {2, 16U, 12U}}) {
    EXPECT_EQ(made.parameters[i].offset, offset);
    EXPECT_EQ(made.parameters[i].bytes, bytes);
  }
  EXPECT_EQ(code->make_workers("ends", 90, no_address).reason,
            "some threads of a block may end before a barrier that others reach");
}

TEST(LoadedCode, MachineCodeAndDamagedPtxHaveReasons) {
  EXPECT_EQ(gated("\177ELF"), "its module has machine code only");
  EXPECT_NE(gated("no PTX").find("expected"), std::string::npos) << gated("no PTX");
}

}  // namespace
}  // namespace wm::gates
