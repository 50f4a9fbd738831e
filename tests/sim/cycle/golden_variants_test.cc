// Every number of a GPU's description, doubled and set to one: a kernel that uses all parts of an SM takes the cycles,
// and has the counters, that are written down in golden_timing.csv for each line of the description.
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <sstream>

#include "sim/cycle/golden_run.h"

namespace wm::sim {
namespace {

constexpr const char* kEveryPart = R"(.version 7.0
.target sm_75
.address_size 64
.func (.reg .b32 out) scaled(.reg .b32 in, .reg .b64 at)
{
  .reg .b32 %r<4>;
  ld.global.u32 %r1, [at];
  mad.lo.u32 %r2, in, 3, %r1;
  mov.b32 out, %r2;
  ret;
}
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<16>;
  .reg .f32 %f<8>;
  .reg .f64 %d<4>;
  .shared .align 16 .b8 tile[4096];
  .local .align 4 .b8 own[32];
  ld.param.u64 %rd1, [p];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r1, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mul.wide.u32 %rd4, %r1, 140;
  add.s64 %rd5, %rd1, %rd4;
  mov.u32 %r30, tile;
  mov.u32 %r20, 0;
LOOP:
  ld.global.u32 %r5, [%rd3];
  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+64];
  ld.global.nc.u32 %r10, [%rd5+8192];
  ld.global.u32 %r11, [%rd5];
  and.b32 %r12, %r4, 31;
  shl.b32 %r13, %r12, 3;
  add.u32 %r13, %r13, %r30;
  st.shared.u32 [%r13], %r5;
  bar.sync 0;
  ld.shared.v2.u32 {%r14, %r15}, [%r13];
  atom.shared.add.u32 %r16, [tile+2048], %r14;
  cvt.rn.f32.u32 %f1, %r10;
  sin.approx.f32 %f2, %f1;
  fma.rn.f32 %f3, %f2, %f1, %f2;
  cvt.f64.f32 %d1, %f3;
  fma.rn.f64 %d1, %d1, %d1, %d1;
  cvt.rzi.u32.f32 %r17, %f3;
  mul.lo.u32 %r18, %r17, %r11;
  setp.lt.u32 %p1, %r12, 9;
  @%p1 bra FEW;
  xor.b32 %r18, %r18, %r6;
  st.local.u32 [own], %r18;
  bra.uni MERGED;
FEW:
  mul.hi.u32 %r18, %r18, 77;
  st.local.u32 [own], %r18;
MERGED:
  call (%r19), scaled, (%r18, %rd3);
  ld.local.u32 %r21, [own];
  add.u32 %r19, %r19, %r21;
  red.global.add.u32 [%rd1+128], %r19;
  atom.global.max.u32 %r22, [%rd3+16384], %r16;
  st.global.u32 [%rd5+4], %r22;
  membar.gl;
  add.s64 %rd3, %rd3, 4096;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p2, %r20, 3;
  @%p2 bra LOOP;
  ret;
}
)";

const ClientSpec& every_part() {
  static const ClientSpec spec = [] {
    ClientSpec made = golden_client("variants", "", 6, 2);
    made.module = std::make_shared<ptx::Module>(*ptx::parse(kEveryPart, "variants"));
    return made;
  }();
  return spec;
}

// Cycles and counters on the GPU; a description that cannot be is refused.
std::string outcome_on(const std::string& yaml) {
  const auto config = gpu::parse_gpu(yaml, "variant.yaml");
  if (!config || yaml.find("  shared_memory: 1 KB") != std::string::npos) return "refused";  // a block needs 4 KB
  const auto machine = CycleMachine::make(*config, 1, 1);
  if (!machine) return "refused";
  if (!(*machine)->add(every_part()).ok()) return "refused";
  return outcome(**machine, "left_over", 60'000);
}

// The descriptions that differ from the line in one number.
std::vector<std::string> variants_of(const std::string& line) {
  static const std::regex number(R"(([a-zA-Z_]+: )([0-9]+)\b)");
  std::vector<std::string> variants;
  for (auto it = std::sregex_iterator(line.begin(), line.end(), number); it != std::sregex_iterator(); ++it) {
    const auto at = static_cast<std::size_t>(it->position(2)), length = static_cast<std::size_t>(it->length(2));
    for (const std::string& value : {std::to_string(2 * std::stoul(it->str(2))), std::string("1")}) {
      variants.push_back(line.substr(0, at) + value + line.substr(at + length));
    }
  }
  return variants;
}

class GoldenVariants : public testing::TestWithParam<const char*> {};

TEST_P(GoldenVariants, OfAGpuAreAsWrittenDown) {
  std::vector<std::string> lines;
  std::ifstream file(source_path(fmt::format("configs/gpus/{}.yaml", GetParam())));
  for (std::string line; std::getline(file, line) && line != "power:";) lines.push_back(line);
  std::string power = "power:\n";
  for (std::string line; std::getline(file, line);) power += line + "\n";
  for (std::string& line : lines) {
    if (line.starts_with("  count: ")) line = "  count: 2";
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("#")) continue;
    std::uint64_t digest = 0xcbf29ce484222325ULL;
    std::size_t ran = 0;
    for (const std::string& variant : variants_of(lines[i])) {
      std::string yaml;
      for (std::size_t j = 0; j < lines.size(); ++j) yaml += (j == i ? variant : lines[j]) + "\n";
      const std::string result = outcome_on(yaml + power);
      ran += result != "refused" ? 1 : 0;
      for (const char c : result) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    const std::size_t begin = lines[i].find_first_not_of(' ');
    const std::string name = begin == std::string::npos ? "" : lines[i].substr(begin, lines[i].find(':') - begin);
    const std::string row = fmt::format("variants {} {}", GetParam(), name);
    if (ran != 0) expect_golden(row, fmt::format("{} ran,{:016x}", ran, digest));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GoldenVariants, testing::Values("h200", "k20c", "qos16", "smqos24"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wm::sim
