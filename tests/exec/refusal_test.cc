// The executor refuses wrong instructions when it decodes a kernel, says why, and accepts the nearest correct form.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

struct Refused {
  const char* wrong;    // instructions of a kernel
  const char* message;  // without the place
  const char* right;    // a form that is accepted
  const char* before = "";
};

std::string refusal(const std::string& body, const std::string& before) {
  auto module = ptx::parse(kernel(body, before), "k.ptx");
  if (!module) return "does not parse: " + module.error().to_string();
  const auto program = decode(*module, "k", "k.ptx");
  return program.ok() ? "" : program.error().what;
}

constexpr const char* kFunctions = R"(
.func (.param .b32 r) one(.param .b32 x) { st.param.b32 [r], 1; ret; }
.func taking(.param .b64 x) { ret; }
.func (.reg .pred %q) flag(.reg .pred %p) { mov.pred %q, %p; ret; }
.func missing();
)";

class Refusals : public testing::TestWithParam<Refused> {};

TEST_P(Refusals, SayWhyAndTheNearestCorrectFormIsAccepted) {
  const Refused& c = GetParam();
  EXPECT_EQ(refusal(std::string(c.wrong) + "\nret;", c.before), c.message);
  EXPECT_EQ(refusal(std::string(c.right) + "\nret;", c.before), "");
}

INSTANTIATE_TEST_SUITE_P(
    Memory, Refusals,
    testing::Values(
        Refused{"st.u32 [c], 1;", "'st.u32' stores to constant memory", "ld.const.u32 %r0, [c];", ".const .b32 c = 1;"},
        Refused{"ld.global.v2.u16 {%h0, %r0}, [%out];", "'ld.global.v2.u16' mixes registers of different widths",
                "ld.global.v2.u16 {%h0, %h1}, [%out];"},
        Refused{"ld.shared.u32 %r0, [c];", "'ld.shared.u32' accesses 'c', which is in another state space",
                "ld.global.u32 %r0, [c];", ".const .b32 c = 1;"},
        Refused{"atom.add.u32 %r0, [c], 1;", "'atom.add.u32' works on global and shared memory only",
                "atom.add.u32 %r0, [g], 1;", ".const .b32 c = 1;\n.global .b32 g;"},
        Refused{"cp.async.ca.shared.global [%d0], [%out], 12;", "'cp.async.ca.shared.global' copies 4, 8 or 16 bytes",
                "cp.async.ca.shared.global [%d0], [%out], 8;"},
        Refused{"cp.async.cg.shared.global [%d0], [%out], 8;", "'cp.async.cg.shared.global' copies 16 bytes",
                "cp.async.cg.shared.global [%d0], [%out], 16;"},
        Refused{"cvta.global.u32 %r0, %r1;", "'cvta.global.u32' takes 64-bit addresses only",
                "cvta.global.u64 %d0, %d1;"},
        Refused{"alloca.u64 %d0, 8, 3;", "'alloca.u64' has an alignment that is no power of two",
                "alloca.u64 %d0, 8, 4096;"},
        Refused{"alloca.u64 %d0, 8, 8192;", "'alloca.u64' has an alignment that is no power of two",
                "alloca.u64 %d0, 8, 1;"}));

INSTANTIATE_TEST_SUITE_P(Textures, Refusals,
                         testing::Values(Refused{"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4}];",
                                                 "'tex.2d.v4.f32.f32' takes 2 coordinates",
                                                 "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4, %f5}];"},
                                         Refused{"suld.b.1d.v2.b16.trap {%h0, %r0}, [%d0, {%r1}];",
                                                 "'suld.b.1d.v2.trap.b16' mixes registers of different widths",
                                                 "suld.b.1d.v2.b16.trap {%h0, %h1}, [%d0, {%r1}];"}));

INSTANTIATE_TEST_SUITE_P(
    Calls, Refusals,
    testing::Values(
        Refused{".param .b32 q;\ncall (q), one, (out);", "'call' hands over 'out', which is no .param of the caller",
                ".param .b32 p; .param .b32 q;\ncall (q), one, (p);", kFunctions},
        Refused{".param .b32 p;\ncall taking, (p);", "'call' hands over 4 bytes where 'x' takes 8",
                ".param .b64 p;\ncall taking, (p);", kFunctions},
        Refused{".param .b16 q; .param .b32 p;\ncall (q), one, (p);", "'call' hands over 2 bytes where 'r' takes 4",
                ".param .b64 q; .param .b32 p;\ncall (q), one, (p);", kFunctions},
        Refused{"call (%r0), flag, (%p0);", "'call' hands over 4 bytes where '%q' takes 0", "call (%p1), flag, (%p0);",
                kFunctions},
        Refused{"call (%p0), flag, (%r0);", "'call' hands over 4 bytes where '%p' takes 0", "call (%p1), flag, (1);",
                kFunctions},
        Refused{"call missing;", "'missing' is called and has no body in this module", "ret;", kFunctions}));

TEST(ParameterLimits, OfKernelsAndFunctionsAreKept) {
  const auto with_parameter = [](int bytes) {
    auto module = ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .b32 a, .param .b8 p[" +
                             std::to_string(bytes) + "]) { ret; }\n");
    const auto program = decode(*module, "k");
    return program.ok() ? "" : program.error().what;
  };
  EXPECT_EQ(with_parameter(32764), "");
  EXPECT_EQ(with_parameter(32765), "the parameters of 'k' take more than 32768 bytes");
  EXPECT_EQ(with_parameter(70000), "the parameters of 'k' take more than 32768 bytes");
  EXPECT_EQ(refusal(".param .b8 p[65536];\nret;", ""), "");
  EXPECT_EQ(refusal(".param .b8 a; .param .b8 p[65536];\nret;", ""), "'p' is too large for a parameter");
  EXPECT_EQ(refusal(".local .b8 a[8];\n.local .b8 l[524280];\nret;", ""), "");
  EXPECT_EQ(refusal(".local .b8 a[8];\n.local .b8 l[524281];\nret;", ""),
            "'l' takes the local memory of a thread past 524288 bytes");
}

}  // namespace
}  // namespace wm::exec
