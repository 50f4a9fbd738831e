// Shared memory: vector loads by the way lanes share words, and atomics by operation and conflict.
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "probes/probe.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kAccesses = 16;
constexpr std::uint32_t kBusy = 512;
constexpr std::uint32_t kSharedBytes = 16384 + 256;

const char* const kStore =
    "mul.wide.u32 %rd10, %r4, 4;\nadd.s64 %rd10, %rd1, %rd10;\nst.global.u32 [%rd10+16], %r21;\n";

// A lane's place, as PTX that leaves the number of its element in %r22 from the lane in %r22.
struct Sharing {
  std::string_view name;
  std::string_view place;
};
constexpr std::array kSharings{
    Sharing{"own", ""},
    Sharing{"uniform", "mov.u32 %r22, 0;\n"},
    Sharing{"halves", "shr.u32 %r22, %r22, 4;\n"},
    Sharing{"quarters", "shr.u32 %r22, %r22, 3;\n"},
    Sharing{"pairs", "shr.u32 %r22, %r22, 1;\n"},
    Sharing{"modulo4", "and.b32 %r22, %r22, 3;\n"},
    Sharing{"modulo16", "and.b32 %r22, %r22, 15;\n"},
    Sharing{"stride2", "shl.b32 %r22, %r22, 1;\n"},
};

// Cycles a warp's load of `words` words a lane takes.
Probe vector_load(const Sharing& sharing, std::uint32_t words) {
  const std::string before = fmt::format(
      "ld.global.u32 %r23, [%rd1];\nmov.u32 %r20, s;\nmov.u32 %r21, 0;\nand.b32 %r22, %r4, 31;\n{}"
      "mul.lo.s32 %r22, %r22, {};\nadd.s32 %r22, %r22, %r20;\n",
      sharing.place, 4 * words);
  std::string body;
  for (std::uint32_t i = 0; i < kAccesses; ++i) {
    const std::uint32_t r = 30 + 4 * (i % 8);
    const std::string registers = words == 1   ? fmt::format("%r{}", r)
                                  : words == 2 ? fmt::format("{{%r{}, %r{}}}", r, r + 1)
                                               : fmt::format("{{%r{}, %r{}, %r{}, %r{}}}", r, r + 1, r + 2, r + 3);
    body += fmt::format("ld.shared.{}u32 {}, [%r22+{}];\n",
                        words == 1   ? ""
                        : words == 2 ? "v2."
                                     : "v4.",
                        registers, i * 4 * words);
    for (std::uint32_t w = 0; i % 8 == 7 && w < 8; ++w)
      for (std::uint32_t k = 0; k < words; ++k) body += fmt::format("xor.b32 %r21, %r21, %r{};\n", 30 + 4 * w + k);
  }
  body += "add.s32 %r22, %r22, %r23;\n";
  Probe p =
      make_probe(fmt::format("shared.v{}.{}", words, sharing.name), "cycles",
                 probe_module(before, body, kStore, kSharedBytes), 1, kBusy, std::vector<std::uint64_t>(1024), 16);
  p.work = 2.0 * 16 * kAccesses * kBusy / 32;
  return p;
}

struct Operation {
  std::string_view name;
  std::string_view statement;  // address %r22, value %r24, result %r25
};
constexpr std::array kOperations{
    Operation{"red.add", "red.shared.add.u32 [%r22], %r24;\n"},
    Operation{"atom.add", "atom.shared.add.u32 %r25, [%r22], %r24;\nxor.b32 %r21, %r21, %r25;\n"},
    Operation{"red.add.f32", "red.shared.add.f32 [%r22], %f1;\n"},
    Operation{"red.max", "red.shared.max.u32 [%r22], %r24;\n"},
    Operation{"red.or", "red.shared.or.b32 [%r22], %r24;\n"},
    Operation{"atom.cas", "atom.shared.cas.b32 %r25, [%r22], %r24, %r4;\nxor.b32 %r21, %r21, %r25;\n"},
    Operation{"atom.exch", "atom.shared.exch.b32 %r25, [%r22], %r24;\nxor.b32 %r21, %r21, %r25;\n"},
    Operation{"red.add.u64", "red.shared.add.u64 [%r22], %rd8;\n"},
};

// Cycles of an atomic of which `same` lanes meet on each word, or, with `bank`, in one bank on different words.
Probe atomic(const Operation& operation, std::uint32_t same, bool bank, std::uint32_t threads) {
  std::string place;
  if (bank)
    place = fmt::format("mul.lo.s32 %r22, %r22, {};\n", 4 * same);
  else
    place = fmt::format("div.u32 %r22, %r22, {};\nmul.lo.s32 %r22, %r22, {};\n", same,
                        operation.name == "red.add.u64" ? 8 : 4);
  const std::string before =
      "ld.global.u32 %r24, [%rd1];\nmov.u32 %r20, s;\nmov.u32 %r21, 0;\nand.b32 %r22, %r4, 31;\n"
      "cvt.u64.u32 %rd8, %r24;\ncvt.rn.f32.u32 %f1, %r24;\n" +
      place + "add.s32 %r22, %r22, %r20;\n";
  std::string body;
  for (std::uint32_t i = 0; i < kAccesses; ++i) body += operation.statement;
  Probe p = make_probe(
      fmt::format("shared.{}{}{}.{}", operation.name, threads == 32 ? ".warp" : "", bank ? ".bank" : "", same),
      "cycles", probe_module(before, body, kStore, kSharedBytes), 1, threads, std::vector<std::uint64_t>(1024), 16);
  p.work = 2.0 * 16 * kAccesses * threads / 32;
  return p;
}

}  // namespace

void add_shared_probes(std::vector<Probe>& to) {
  for (const std::uint32_t words : {1U, 2U, 4U})
    for (const Sharing& s : kSharings) to.push_back(vector_load(s, words));
  for (const Operation& o : kOperations)
    for (const std::uint32_t same : {1U, 2U, 4U, 8U, 32U}) to.push_back(atomic(o, same, false, kBusy));
  for (const std::uint32_t same : {2U, 8U, 32U}) to.push_back(atomic(kOperations[0], same, true, kBusy));
  for (const Operation& o : kOperations) to.push_back(atomic(o, 1, false, 32));
  to.push_back(atomic(kOperations[0], 32, false, 32));
  to.push_back(atomic(kOperations[1], 8, false, 32));
  to.push_back(atomic(kOperations[2], 8, false, 32));
}

}  // namespace wm::validation
