// Memory: pointer chases through each level, the bandwidth of each level, and atomics.
#include <fmt/format.h>

#include "base/random.h"
#include "probes/probe.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kSteps = 16;  // loads in the chase's loop

// A ring of `nodes`, `stride` bytes apart, in an order that jumps about: every node once.
std::vector<std::uint64_t> ring(std::uint32_t nodes, std::uint64_t stride) {
  std::vector<std::uint32_t> order(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) order[i] = i;
  Random random(7);
  for (std::uint32_t i = nodes - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  std::vector<std::uint64_t> data(nodes * stride / 8);
  for (std::uint32_t i = 0; i < nodes; ++i) data[order[i] * stride / 8] = order[(i + 1) % nodes] * stride;
  return data;
}

// One thread goes round. A launch begins where the one before it ended, so that a ring longer than a launch is cold.
Probe chase(const std::string& name, std::uint32_t nodes, std::uint64_t stride, std::uint32_t n) {
  // %rd10: offset of the first node, kept in clocks[3] between launches.
  const std::string before = "ld.global.u64 %rd10, [%rd2+24];\n";
  std::string body;
  for (std::uint32_t i = 0; i < kSteps; ++i) body += "add.s64 %rd11, %rd1, %rd10;\nld.global.u64 %rd10, [%rd11];\n";
  Probe p = make_probe(name, "cycles", probe_module(before, body, "st.global.u64 [%rd2+24], %rd10;\n"), 1, 1,
                       ring(nodes, stride), n);
  p.work = 2.0 * n * kSteps;
  return p;
}

// All SMs read (or write) `pieces` of 512 bytes a warp and turn; `address` leaves the thread's address in %rd11.
std::string stream_body(const std::string& address, bool read, bool write) {
  std::string body = address;
  if (read)
    for (int i = 0; i < 4; ++i)
      body += fmt::format("ld.global.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%rd11+{}];\n", 20 + 4 * i, 21 + 4 * i,
                          22 + 4 * i, 23 + 4 * i, i * 512);
  if (read && !write)
    for (int i = 20; i < 36; ++i) body += fmt::format("xor.b32 %r40, %r40, %r{};\n", i);
  if (write)
    for (int i = 0; i < 4; ++i)
      body += fmt::format("st.global.v4.u32 [%rd11+{}], {{%r{}, %r{}, %r{}, %r{}}};\n", i * 512, 20 + 4 * i, 21 + 4 * i,
                          22 + 4 * i, 23 + 4 * i);
  return body;
}

const char* const kWarpStart =  // %r10: warp of the grid, %r11: lane times 16
    "shr.u32 %r10, %r1, 5;\nand.b32 %r11, %r1, 31;\nshl.b32 %r11, %r11, 4;\ncvt.u64.u32 %rd12, %r11;\n"
    "mov.u32 %r40, 0;\n";
const char* const kKeep = "setp.ne.u32 %p2, %r40, 77777777;\n@%p2 bra K;\nst.global.u32 [%rd1], %r40;\nK:\n";

std::string zero_registers() {
  std::string text;
  for (int i = 20; i < 36; ++i) text += fmt::format("add.s32 %r{}, %r1, {};\n", i, i);
  return text;
}

// Uses memory that was not touched before: every launch continues where the previous one ended.
Probe dram(const std::string& name, std::uint32_t sms, bool read, bool write, std::uint32_t n) {
  const std::uint32_t blocks = sms * 4;
  const std::uint32_t threads = 512;
  const std::uint64_t turn = std::uint64_t{blocks} * threads * 64;  // bytes of all warps together
  const std::string before =
      std::string(kWarpStart) + zero_registers() +
      "mul.wide.u32 %rd13, %r10, 2048;\nadd.s64 %rd13, %rd13, %rd12;\nadd.s64 %rd13, %rd13, %rd1;\n";
  const std::string address = fmt::format("mov.u64 %rd11, %rd13;\nadd.s64 %rd13, %rd13, {};\n", turn);
  Probe p{.name = name, .unit = "bytes/cycle", .ptx = {}, .application = {}, .clocks = {}};
  p.ptx = probe_module(before, stream_body(address, read, write), read && !write ? kKeep : "");
  const std::uint32_t turns = n / 4 + 1 + n + 3 * n;
  const gpu::BufferId buffer = p.application.add_uninitialized("data", turn * (turns + 1));
  p.clocks = p.application.add("clocks", std::vector<std::uint64_t>(4));
  std::uint64_t begin = 0;
  std::uint32_t clock_index = 0;
  p.application.upload(p.clocks);
  for (const std::uint32_t count : {n / 4 + 1, n, 3 * n}) {
    p.application.launch({.kernel = "k",
                          .grid = {blocks},
                          .block = {threads},
                          .arguments = {gpu::buffer(buffer, begin * turn), gpu::buffer(p.clocks),
                                        gpu::scalar(clock_index++), gpu::scalar(count)},
                          .dynamic_shared_bytes = 0});
    begin += count;
  }
  p.work = 2.0 * n * static_cast<double>(turn) * (read && write ? 2 : 1);
  p.rate = true;
  p.times_launch = true;
  return p;
}

// Over `bytes` that L2 holds; a block's part moves on from turn to turn, so that its L1 has not seen it lately.
Probe l2(const std::string& name, std::uint32_t sms, std::uint32_t n) {
  const std::uint32_t blocks = sms * 2;
  const std::uint32_t threads = 1024;
  const std::uint64_t part = std::uint64_t{threads} * 64;
  const std::string before = std::string(kWarpStart) +
                             "shr.u32 %r12, %r4, 5;\nmul.wide.u32 %rd13, %r12, 2048;\nadd.s64 %rd13, %rd13, %rd12;\n"
                             "add.s64 %rd13, %rd13, %rd1;\nmov.u32 %r13, %r2;\n";
  const std::string address = fmt::format(
      "mul.wide.u32 %rd14, %r13, {};\nadd.s64 %rd11, %rd13, %rd14;\nadd.s32 %r13, %r13, 37;\n"
      "setp.ge.u32 %p2, %r13, {};\nsub.s32 %r14, %r13, {};\nselp.b32 %r13, %r14, %r13, %p2;\n",
      part, blocks, blocks);
  Probe p = make_probe(name, "bytes/cycle", probe_module(before, stream_body(address, true, false), kKeep), blocks,
                       threads, std::vector<std::uint64_t>(blocks * part / 8), n);
  p.work = 2.0 * n * static_cast<double>(blocks * part);
  p.rate = true;
  p.times_launch = true;
  return p;
}

// One SM, 64 KB that its L1 holds; `vector` words a lane.
Probe l1(const std::string& name, std::uint32_t vector, std::uint32_t n) {
  std::string body;
  const std::uint32_t bytes = 4 * vector;
  for (int i = 0; i < 4; ++i)
    body += vector == 1 ? fmt::format("ld.global.u32 %r{}, [%rd11+{}];\n", 20 + 4 * i, i * 1024 * 4)
                        : fmt::format("ld.global.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%rd11+{}];\n", 20 + 4 * i,
                                      21 + 4 * i, 22 + 4 * i, 23 + 4 * i, i * 1024 * 16);
  for (int i = 20; i < 36; ++i)
    if (vector == 4 || i % 4 == 0) body += fmt::format("xor.b32 %r40, %r40, %r{};\n", i);
  body += "add.s64 %rd11, %rd11, %rd15;\n";
  const std::string before =
      std::string(kWarpStart) +
      fmt::format("mul.wide.u32 %rd11, %r4, {};\nadd.s64 %rd11, %rd11, %rd1;\nld.global.u64 %rd15, [%rd1+8];\n", bytes);
  Probe p = make_probe(name, "bytes/cycle/SM", probe_module(before, body, kKeep), 1, 1024,
                       std::vector<std::uint64_t>(4 * 1024 * 16 / 8), n);
  p.work = 2.0 * n * 4 * 1024 * bytes;
  p.rate = true;
  return p;
}

// Atomics at L2: of one warp in a chain, of all SMs on one word, and each thread on its own word.
void add_atomics(std::vector<Probe>& to, std::uint32_t sms) {
  std::string chain;
  for (std::uint32_t i = 0; i < kSteps; ++i)
    chain += "atom.global.add.u32 %r20, [%rd10], 0;\ncvt.u64.u32 %rd11, %r20;\nadd.s64 %rd10, %rd10, %rd11;\n";
  Probe latency = make_probe("latency.atom.global.add", "cycles",
                             probe_module("mov.u64 %rd10, %rd1;\n", chain, "st.global.u64 [%rd1+8], %rd10;\n"), 1, 1,
                             {0, 0, 0}, 16);
  latency.work = 2.0 * 16 * kSteps;
  to.push_back(latency);
  struct Shape {
    const char* name;
    const char* address;
  };
  for (const Shape& s : {Shape{"atomics.same", "mov.u64 %rd10, %rd1;\n"},
                         Shape{"atomics.own", "mul.wide.u32 %rd10, %r1, 4;\nadd.s64 %rd10, %rd10, %rd1;\n"},
                         Shape{"atomics.lines", "mul.wide.u32 %rd10, %r1, 64;\nadd.s64 %rd10, %rd10, %rd1;\n"}}) {
    std::string body;
    for (int i = 0; i < 4; ++i) body += "atom.global.add.u32 %r20, [%rd10], 1;\nxor.b32 %r40, %r40, %r20;\n";
    Probe p = make_probe(s.name, "operations/cycle", probe_module(std::string(kWarpStart) + s.address, body, kKeep),
                         sms, 256, std::vector<std::uint64_t>(std::uint64_t{sms} * 256 * 8), 4);
    p.work = 2.0 * 4 * 4 * sms * 256;
    p.rate = true;
    p.times_launch = true;
    to.push_back(p);
  }
}

}  // namespace

void add_memory_probes(std::vector<Probe>& to, std::uint32_t sms) {
  to.push_back(chase("chase.l1", 128, 128, 256));
  to.push_back(chase("chase.l2", 8192, 256, 2048));
  to.push_back(chase("chase.dram", 16384, 4096, 128));
  to.push_back(l1("l1.read", 1, 64));
  to.push_back(l1("l1.read.v4", 4, 64));
  to.push_back(l2("l2.read", sms, 24));
  to.push_back(dram("dram.read", sms, true, false, 3));
  to.push_back(dram("dram.write", sms, false, true, 3));
  to.push_back(dram("dram.update", sms, true, true, 3));
  Probe longer = dram("dram.read.long", sms, true, false, 60);
  longer.in_tests = false;
  to.push_back(std::move(longer));
  add_atomics(to, sms);
}

}  // namespace wm::validation
