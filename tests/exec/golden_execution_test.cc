// Same kernel, same execution: what kernels decode to and do, step by step, is written down.
//
// golden_execution.csv holds a row per file or opcode: operations, bytes of registers, warp instructions, how the run
// ended, and a digest of everything (execution_digest.h). Results of instructions are compared with references and with
// a GPU elsewhere (tests/exec/lane); these rows notice changes that were not meant. Where a change is meant, test_exec
// prints the rows with WM_GOLDEN_EXECUTION=print in its environment.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>

#include "exec/execution_digest.h"
#include "ptx/every_form.h"
#include "ptx/parse.h"
#include "tree.h"

namespace wm::exec::test {
namespace {

std::vector<std::filesystem::path> files_below(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(folder)))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void expect_rows_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const auto module = ptx::parse(std::string{std::istreambuf_iterator<char>(in), {}}, "input");
  if (!module) return;
  for (std::size_t i = 0; i < module->functions.size(); ++i) {
    const ptx::Function& function = module->functions[i];
    if (!function.entry || function.declaration) continue;
    Digest digest;
    const std::string row = executed(*module, function.name, digest);
    expect_row(fmt::format("{} {}", path.stem().string().substr(0, 24), i), fmt::format("{},{}", row, digest.hex()));
  }
}

// Inputs of a fuzzer: most are wrong in some way.
TEST(GoldenExecution, OfKeptInputsIsAsWrittenDown) {
  for (const auto& path : files_below("fuzz/corpus/exec")) expect_rows_of(path);
}

TEST(GoldenExecution, OfCompiledKernelsIsAsWrittenDown) {
  for (const char* folder : {"tests/ptx/corpus", "validation/corpus/ptx"})
    for (const auto& path : files_below(folder)) expect_rows_of(path);
}

bool contains(const std::string& form, std::string_view part) { return form.find(part) != std::string::npos; }

// The memory that the addresses in %rd registers of a form lie in, as an instruction that takes its address.
std::string memory_of(const std::string& form, int reg) {
  const bool is_shared =
      contains(form, "mbarrier") || contains(form, "matrix") || (contains(form, "cp.async") && reg == 0);
  if (is_shared && !contains(form, ".shared")) return fmt::format("cvta.shared.u64 %rd{0}, tile;", reg);
  if (contains(form, ".shared") && !(contains(form, "cp.async") && reg != 0))
    return fmt::format("mov.u64 %rd{}, tile;", reg);
  if (contains(form, ".local")) return fmt::format("mov.u64 %rd{}, own;", reg);
  return fmt::format("mov.u64 %rd{}, {};", reg, contains(form, ".const") ? "fixed" : "bytes");
}

constexpr std::pair<const char*, const char*> kSpaces[] = {{"global", "bytes"}, {"shared", "tile"}, {"local", "own"}};

// Values of the registers that differ by thread; small and the same for all threads where a form takes numbers of
// threads, bytes or barriers.
std::string values_before(const std::string& form) {
  const bool is_small = form.starts_with("bar") || contains(form, "mbarrier") || form.starts_with("alloca") ||
                        form.starts_with("wmma.load") || form.starts_with("wmma.store") || form.starts_with("brx");
  std::string text = "mov.u32 %r31, %tid.x;\n";
  for (unsigned i = 0; i < 31; ++i)
    text += is_small ? fmt::format("mov.u32 %r{}, {};\n", i, i == 0 ? 2 : 64)
                     : fmt::format("mad.lo.u32 %r{}, %r31, {}, {};\n", i, 0x9e3779b1U + i, i * 77777);
  for (int i = 0; i < 32; ++i)
    text += fmt::format("cvt.rn.f32.s32 %f{0}, %r{0};\nmul.f32 %f{0}, %f{0}, 0f32800000;\n", i);
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("cvt.u16.u32 %h{0}, %r{0};\ncvt.f64.f32 %fd{0}, %f{0};\nsetp.lt.s32 %p{0}, %r{0}, %r31;\n", i);
    text += memory_of(form, i);
    if (!form.starts_with("wmma") && !contains(form, "mbarrier"))
      text += fmt::format("\nmad.wide.u32 %rd{0}, %r31, 16, %rd{0};\n", i);
  }
  for (int i = 0; i < 8; ++i) text += fmt::format("mov.b128 %rq{}, {{%rd{}, %rd{}}};\n", i, i, i + 1);
  for (const auto& [space, name] : kSpaces) {
    text += fmt::format("mov.u64 %rd15, {};\nmad.wide.u32 %rd15, %r31, 16, %rd15;\n", name);
    text += fmt::format(
        "st.{0}.v4.u32 [%rd15], {{%r3,%r4,%r5,%r6}};\nst.{0}.v4.u32 [%rd15+16], {{%r7,%r8,%r9,%r10}};\n", space);
  }
  if (contains(form, "mbarrier") && !contains(form, "init"))
    text += "setp.eq.u32 %p15, %r31, 0;\n@%p15 mbarrier.init.shared.b64 [tile+16], 60;\nbar.sync 0;\n";
  return text;
}

// Every thread writes its registers, and the memory that the form may have changed, to its 320 bytes of `out`.
std::string values_after() {
  std::string text = "ld.param.u64 %rd15, [out];\nmad.wide.u32 %rd15, %r31, 320, %rd15;\n";
  const auto keep = [&](const char* type, const char* name, int bytes, int at) {
    for (int i = 0; i < 8; ++i) text += fmt::format("st.global.{} [%rd15+{}], {}{};\n", type, at + i * bytes, name, i);
  };
  keep("b32", "%r", 4, 0);
  keep("b16", "%h", 2, 32);
  keep("f32", "%f", 4, 48);
  keep("f64", "%fd", 8, 80);
  keep("b64", "%rd", 8, 144);
  for (int i = 0; i < 10; ++i)
    text += fmt::format("selp.u32 %r9, 1, 0, %p{};\nst.global.u8 [%rd15+{}], %r9;\n", i, 208 + i);
  int at = 224;
  for (const auto& [space, name] : kSpaces) {
    text += fmt::format("mov.u64 %rd14, {};\nmad.wide.u32 %rd14, %r31, 16, %rd14;\n", name);
    text += fmt::format("ld.{}.v4.u32 {{%r10,%r11,%r12,%r13}}, [%rd14+16];\n", space);
    text += fmt::format("st.global.v4.u32 [%rd15+{}], {{%r10,%r11,%r12,%r13}};\n", at);
    at += 16;
  }
  return text;
}

// The form with a number as its last operand, or nothing where the last operand is no register.
std::string with_number(const std::string& form) {
  const auto at = form.rfind('%');
  if (at == std::string::npos || at < 2) return "";
  const std::string last = form.substr(at, form.size() - at - 1);
  if (form.substr(at - 2, 2) != ", " || last.find_first_of(" ,|]}+") != std::string::npos) return "";
  const char* number = last.starts_with("%fd")  ? "0d400921FB54442D18"
                       : last.starts_with("%f") ? "0f40490FDB"
                       : last.starts_with("%p") ? "1"
                                                : "5";
  return form.substr(0, at) + number + ";";
}

// The form as it is, with a guard that some lanes do not pass, and with a number where it takes one.
std::vector<std::string> variants(const std::string& form) {
  std::vector<std::string> all{form, "@%p6 " + form, "@!%p7 " + form};
  const std::string numbered = with_number(form);
  if (!numbered.empty() && ptx::parse(ptx::every_form_module({numbered}), "input").ok()) all.push_back(numbered);
  return all;
}

std::string form_module(const std::string& form) {
  std::string text = ptx::every_form_module(variants(form));
  const auto replace = [&](const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace(".entry k()",
          ".global .align 16 .b8 bytes[8192];\n.const .align 16 .b8 fixed[1024];\n.entry k(.param .u64 out)");
  replace("here:\n",
          ".shared .align 16 .b8 tile[8192];\n.local .align 16 .b8 own[1024];\n" + values_before(form) + "here:\n");
  replace("  ret;\n}", values_after() + "  ret;\n}");
  return text;
}

TEST(GoldenExecution, OfEveryFormIsAsWrittenDown) {
  for (int i = 0; i < ptx::kOpcodeCount; ++i) {
    const auto opcode = static_cast<ptx::Opcode>(i);
    Digest digest;
    std::map<std::string, int> ends;
    for (const std::string& form : ptx::every_form(opcode)) {
      const auto module = ptx::parse(form_module(form), "input");
      std::string end = "unknown";
      if (module) end = executed(*module, "k", digest);
      ++ends[end.substr(end.rfind(',') + 1)];
    }
    std::string row;
    for (const auto& [end, count] : ends) row += fmt::format("{} {},", count, end);
    expect_row(fmt::format("{}", ptx::name(opcode)), row + digest.hex());
  }
}

}  // namespace
}  // namespace wm::exec::test
