// Same PTX, same machine code: what the model of the assembler makes of every kernel of two corpora is written down.
//
// golden_assembly.csv holds a row per kernel: PTX instructions, instructions after unrolling and predication, machine
// instructions, registers, and a digest of every step. Where the model is changed on purpose, test_ptx prints the rows
// with WM_GOLDEN_ASSEMBLY=print in its environment.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "ptx/analysis.h"
#include "ptx/assembly.h"
#include "ptx/contraction.h"
#include "ptx/every_form.h"
#include "ptx/parse.h"
#include "ptx/predication.h"
#include "ptx/print.h"
#include "ptx/random_loop.h"
#include "ptx/schedule.h"
#include "ptx/unroll.h"
#include "ptx/value_cost.h"
#include "tree.h"

namespace wm::ptx {
namespace {

class Digest {
 public:
  void add(const std::string& text) {  // FNV-1a
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  // The text of a function lacks what PTX has no form for: negated operands.
  void add(const Module& module, const Function& function) {
    for (const Instruction& i : function.body) {
      add(print(module, function, i));
      for (const Operand& o : i.operands) add(o.negated ? "-" : "+");
      add(std::to_string(i.position.line));
    }
    for (const Label& l : function.labels) add(fmt::format("{}@{};", l.name, l.at));
    for (const Pragma& p : function.pragmas) add(fmt::format("{}@{};", p.text, p.at));
  }
  [[nodiscard]] std::string hex() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

void add_analyses(Digest& digest, const Module& module, const Function& f) {
  const ControlFlow flow = control_flow(f);
  const Liveness live = liveness(f, flow);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    digest.add(fmt::format("{} {} {} {} {} {}\n", flow.blocks[b].begin, flow.post_dominator[b],
                           flow.blocks[b].successors, flow.blocks[b].predecessors, live.live_in[b], live.live_out[b]));
  }
  const ValueCost cost(f);
  for (std::uint32_t r = 0; r < f.registers.size(); ++r) digest.add(fmt::format("{} {};", cost.words(r), cost.root(r)));
  for (std::uint32_t i = 0; i < f.body.size(); ++i) digest.add(cost.vanishes(i) ? "v" : "k");
  const StaticCounts c = static_counts(f);
  digest.add(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", c.instructions, c.fp32, c.fp64, c.fp16,
                         c.integer, c.special_function, c.tensor, c.loads, c.stores, c.atomics, c.barriers, c.branches,
                         c.calls, c.conversions, c.moves));
  digest.add(std::to_string(register_demand(module, f).predicates));
}

// Returns the machine instructions that execute when every instruction is executed once.
std::uint32_t add_assembled(Digest& digest, const Function& f) {
  std::uint32_t count = 0;
  for (const AssembledInstruction& a : assemble(f)) {
    digest.add(fmt::format("{:d}{}{:d}{:d}{:d}{}{:d}{:d}{:d}{:d}{:d}{:d};", a.folded, a.added, a.parts_lanes,
                           a.is_split_before, a.is_one_word, a.joined_words, a.is_increment, a.is_combined, a.is_unused,
                           a.has_reciprocal, a.has_range, a.is_wide_product));
    count += (a.folded ? 0U : 1U) + a.added;
  }
  return count;
}

std::string row_of(const Module& module, const Function& f) {
  Digest digest;
  add_analyses(digest, module, f);
  add_assembled(digest, f);
  const Function fused = contracted(f);
  const Function longer = unrolled(fused);
  const Function guarded = predicated(longer);
  const Function ordered = in_latency_order(guarded);
  for (const Function* step : {&fused, &longer, &guarded, &ordered}) digest.add(module, *step);
  add_analyses(digest, module, ordered);
  const std::uint32_t machine = add_assembled(digest, ordered);
  return fmt::format("{},{},{},{},{}", f.body.size(), ordered.body.size(), machine,
                     register_demand(module, f).registers, digest.hex());
}

std::vector<std::filesystem::path> golden_sources() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"tests/ptx/corpus", "validation/corpus/ptx"})
    for (const auto& entry : std::filesystem::directory_iterator(source_path(folder)))
      if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::map<std::string, std::string> golden_rows() {
  std::map<std::string, std::string> rows;
  std::ifstream file(source_path("tests/ptx/golden_assembly.csv"));
  for (std::string line; std::getline(file, line);) {
    const auto comma = line.find(',', line.find(',') + 1);
    if (!line.starts_with('#') && comma != std::string::npos) rows[line.substr(0, comma)] = line.substr(comma + 1);
  }
  return rows;
}

void expect_row(const std::map<std::string, std::string>& rows, const std::string& name, const std::string& row) {
  if (std::getenv("WM_GOLDEN_ASSEMBLY") != nullptr) fmt::print("{},{}\n", name, row);
  const auto expected = rows.find(name);
  EXPECT_EQ(row, expected == rows.end() ? "no row" : expected->second) << name;
}

class GoldenAssembly : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenAssembly, IsAsWrittenDown) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  const auto module = parse(text.str(), GetParam().filename());
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto rows = golden_rows();
  for (const Function& f : module->functions) {
    if (f.declaration || f.body.empty()) continue;
    const std::string name = fmt::format("{},{}", GetParam().stem().string(), f.name);
    expect_row(rows, name, row_of(*module, f));
  }
}

// Random loops, of which most give a pass some reason to leave them as they are.
TEST(GoldenLoops, AreAsWrittenDown) {
  const auto rows = golden_rows();
  for (std::uint64_t group = 0; group < 8; ++group) {
    Digest digest;
    for (std::uint64_t seed = 50 * group; seed < 50 * group + 50; ++seed) {
      const std::string text = RandomLoop(seed).module();
      const auto module = parse(text, "loop");
      ASSERT_TRUE(module.ok()) << module.error().to_string() << '\n' << text;
      digest.add(row_of(*module, module->functions[0]));
    }
    expect_row(rows, fmt::format("loops,{}", group), digest.hex());
  }
}

// Every form of an instruction, twice in a row and with a guard, so that neighbours may be folded, joined and
// reordered.
TEST(GoldenForms, AreAsWrittenDown) {
  const auto rows = golden_rows();
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    Digest digest;
    int parsed = 0;
    for (const std::string& form : every_form(opcode)) {
      const auto module =
          parse(every_form_module({"add.u32 %r5, %r6, 1;", form, "@%p3 " + form, form, "mov.b32 %r7, %r0;",
                                   "mul.f32 %f9, %f0, %f1;", "add.f32 %f8, %f9, %f2;", form}),
                "form");
      if (!module) continue;
      ++parsed;
      digest.add(row_of(*module, module->functions[0]));
    }
    expect_row(rows, fmt::format("forms,{}", name(opcode)), fmt::format("{},{}", parsed, digest.hex()));
  }
}

// Inputs that a fuzzer has kept, most of them wrong in some way: the errors, and the assembly of those that parse, by
// the first letter of their names.
TEST(GoldenInputs, AreAsWrittenDown) {
  std::map<std::string, Digest> digests;
  for (const char* folder : {"exec", "ptx"}) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(source_path(std::string("fuzz/corpus/") + folder)))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      Digest& digest = digests[fmt::format("{} {}", folder, path.filename().string()[0])];
      const auto module = parse(text.str(), "input", OnUnsupported::refuse_function);
      digest.add(module.ok() ? print(*module) : module.error().to_string());
      if (!module) continue;
      for (const Function& f : module->functions)
        if (!f.declaration && !f.body.empty()) digest.add(row_of(*module, f));
    }
  }
  const auto rows = golden_rows();
  for (const auto& [name, digest] : digests) expect_row(rows, "inputs," + name, digest.hex());
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenAssembly, testing::ValuesIn(golden_sources()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace wm::ptx
