// Control flow: divergent and uniform branches, loops larger than the instruction caches, and address translation.
#include <fmt/format.h>

#include "probes/probe.h"

namespace wm::validation {
namespace {

const char* const kKeepResult = "setp.ne.u32 %p2, %r40, 77777777;\n@%p2 bra K;\nst.global.u32 [%rd1], %r40;\nK:\n";

// `ways` groups of lanes take different paths of four multiply-adds each, one after the other if they are of one warp.
Probe branch(const std::string& name, const std::string& group, std::uint32_t ways, std::uint32_t threads) {
  std::string before = "mov.u32 %r40, %r4;\nld.global.u32 %r41, [%rd1];\n" + group;
  std::string body;
  for (std::uint32_t w = 0; w < ways; ++w) {
    body += fmt::format("setp.eq.u32 %p3, %r42, {};\n@!%p3 bra N{};\n", w, w);
    for (std::uint32_t i = 0; i < 4; ++i) body += fmt::format("mad.lo.s32 %r40, %r40, %r40, {};\n", 7 * w + i + 3);
    body += fmt::format("st.volatile.shared.u32 [s+{}], %r40;\nN{}:\n", 4 * w, w);
  }
  Probe p = make_probe(name, "cycles", probe_module(before, body, kKeepResult, 64), 1, threads,
                       std::vector<std::uint64_t>(16), 64);
  p.work = 2.0 * 64 * ways;
  return p;
}

// Cycles of one round of a loop of one warp.
Probe loop(const std::string& name, const std::string& body) {
  const std::string before =
      "mov.u32 %r40, %r4;\nld.global.u32 %r41, [%rd1];\nld.global.u32 %r42, [%rd1+4];\n"
      "and.b32 %r43, %r4, 1;\nsetp.eq.u32 %p3, %r43, %r41;\nshl.b32 %r44, %r4, 2;\nmov.u32 %r45, s;\n"
      "add.s32 %r44, %r45, %r44;\n";
  Probe p = make_probe("loop." + name, "cycles",
                       probe_module(before, ".pragma \"nounroll\";\n" + body, "X:\n" + std::string(kKeepResult), 128),
                       1, 32, std::vector<std::uint64_t>(16), 64);
  p.work = 2.0 * 64;
  return p;
}

std::string multiply_adds(std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += "mad.lo.s32 %r40, %r40, %r41, %r42;\n";
  return text;
}

void add_loops(std::vector<Probe>& to) {
  for (const std::uint32_t count : {1U, 2U, 4U, 8U, 16U})
    to.push_back(loop(fmt::format("mad.{}", count), multiply_adds(count)));
  const std::string leave = "setp.eq.s32 %p2, %r40, 77777777;\n@%p2 bra X;\n";
  to.push_back(loop("break.1", multiply_adds(1) + leave));
  to.push_back(loop("break.4", multiply_adds(4) + leave));
  const std::string store = "st.volatile.shared.u32 [%r44], %r40;\n";
  to.push_back(loop("half", multiply_adds(1) + "@%p3 bra N;\n" + store + multiply_adds(4) + store + multiply_adds(3) +
                                store + "N:\n" + multiply_adds(1)));
}

// The loop has so many kilobytes of instructions, independent of each other in eights; the value is cycles an
// instruction.
Probe icache(std::uint32_t kilobytes, std::uint32_t threads) {
  const std::uint32_t count = kilobytes * 64;  // instructions of 16 bytes
  std::string before = "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\n";
  for (int i = 10; i < 18; ++i) before += fmt::format("cvt.rn.f32.u32 %f{}, %r4;\n", i);
  std::string body;
  for (std::uint32_t i = 0; i < count; ++i) body += fmt::format("fma.rn.f32 %f{0}, %f{0}, %f1, %f2;\n", 10 + i % 8);
  std::string after;
  for (int i = 10; i < 18; ++i) after += fmt::format("cvt.rzi.u32.f32 %r41, %f{};\nxor.b32 %r40, %r40, %r41;\n", i);
  Probe p = make_probe(fmt::format("icache.{}k.{}", kilobytes, threads), "cycles",
                       probe_module("mov.u32 %r40, 0;\n" + before, body, after + kKeepResult), 1, threads,
                       std::vector<std::uint64_t>(16), 8);
  p.work = 2.0 * 8 * count;
  p.in_tests = false;
  return p;
}

// One thread goes round so many pages of 2 MB, a line of each: the lines stay in L2, the translations do not have to.
Probe tlb(std::uint32_t pages) {
  // %r10: page number; the address depends on the word loaded before, which is 0.
  const std::string before = "mov.u32 %r10, 0;\nmov.u64 %rd10, %rd1;\n";
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += fmt::format(
        "ld.global.cg.u32 %r11, [%rd10];\nadd.s32 %r10, %r10, 1;\nadd.s32 %r10, %r10, %r11;\nand.b32 %r10, %r10, {};\n"
        "mul.wide.u32 %rd11, %r10, {};\nadd.s64 %rd10, %rd1, %rd11;\n",
        pages - 1, 2097152 + 384);
  Probe p{.name = fmt::format("tlb.{}", pages), .unit = "cycles", .ptx = {}, .application = {}, .clocks = {}};
  p.ptx = probe_module(before, body, "st.global.u32 [%rd2+24], %r10;\n");
  const std::uint32_t n = pages < 64 ? 16 : pages / 4;
  const gpu::BufferId buffer = p.application.add_uninitialized("data", std::size_t{pages} * (2097152 + 384));
  p.clocks = p.application.add("clocks", std::vector<std::uint64_t>(4));
  p.application.upload(p.clocks);
  std::uint32_t clock_index = 0;
  for (const std::uint32_t count : {n, n, 3 * n})
    p.application.launch(
        {.kernel = "k",
         .grid = {1},
         .block = {1},
         .arguments = {gpu::buffer(buffer), gpu::buffer(p.clocks), gpu::scalar(clock_index++), gpu::scalar(count)},
         .dynamic_shared_bytes = 0});
  p.work = 2.0 * n * 8;
  p.in_tests = false;
  return p;
}

}  // namespace

void add_control_probes(std::vector<Probe>& to) {
  for (const std::uint32_t threads : {32U, 512U}) {
    to.push_back(branch(fmt::format("branch.uniform.{}", threads), "mov.u32 %r42, %r41;\n", 1, threads));
    to.push_back(branch(fmt::format("branch.2.{}", threads), "and.b32 %r42, %r4, 1;\n", 2, threads));
    to.push_back(branch(fmt::format("branch.4.{}", threads), "and.b32 %r42, %r4, 3;\n", 4, threads));
    to.push_back(branch(fmt::format("branch.8.{}", threads), "and.b32 %r42, %r4, 7;\n", 8, threads));
  }
  add_loops(to);
  for (const std::uint32_t kilobytes : {16U, 64U, 96U, 128U, 192U})
    for (const std::uint32_t threads : {32U, 512U}) to.push_back(icache(kilobytes, threads));
  for (const std::uint32_t pages : {16U, 64U, 256U, 1024U, 2048U, 4096U}) to.push_back(tlb(pages));
}

}  // namespace wm::validation
