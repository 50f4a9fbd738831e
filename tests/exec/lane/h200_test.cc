// Every form against the results of an NVIDIA H200 (validation/semantics/h200.txt): to the bit, approximations within
// PTX's bound on both sides.
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "exec/lane/form_run.h"
#include "exec/lane/real.h"
#include "tree.h"
#include "validation/semantics/results.h"

namespace wm::exec::test {
namespace {

using Recorded = std::map<std::string, std::vector<std::uint64_t>>;

const Recorded& recorded() {
  static const Recorded kResults = [] {
    Recorded results;
    std::ifstream file(source_path("validation/semantics/h200.txt"));
    for (std::string text; std::getline(file, text);) {
      if (text.empty() || text[0] == '#') continue;
      semantics::Line line = semantics::parse_line(text);
      results.emplace(std::move(line.key), std::move(line.values));
    }
    return results;
  }();
  return kResults;
}

std::string in_hexadecimal(std::span<const std::uint64_t> values) {
  std::string text;
  for (const auto value : values) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), " %llx", static_cast<unsigned long long>(value));
    text += digits;
  }
  return text;
}

std::string exact_difference(const Form& form, const std::vector<std::uint64_t>& gpu) {
  const std::vector<Element> elements = semantics::inputs(form);
  if (gpu.size() * kLanes != elements.size()) return "was recorded with other inputs";
  FormRun run(form);
  for (std::size_t warp = 0; warp < gpu.size(); ++warp) {
    const auto outputs = run.warp(std::span(elements).subspan(warp * kLanes, kLanes));
    if (semantics::fingerprint(outputs) == gpu[warp]) continue;
    return "warp " + std::to_string(warp) + " gives" + in_hexadecimal(outputs);
  }
  return "";
}

// Both may differ from the exact value, and by no more than PTX allows; a NaN must be a NaN on both.
std::string far(const Form& form, const std::vector<std::uint64_t>& gpu) {
  const Name name(form.name);
  const std::vector<Element> elements = semantics::inputs(form);
  const auto ours = FormRun(form).all(elements);
  if (gpu.size() != ours.size()) return "was recorded with other inputs";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::string why;
    for (const std::uint64_t bits : {gpu[i], ours[i]})
      if (!within_bound(form, name, elements[i], bits, why))
        return in_hexadecimal(elements[i]) + (bits == ours[i] ? " here: " : " on the GPU: ") + why;
  }
  return "";
}

class H200 : public testing::TestWithParam<std::string> {};

TEST_P(H200, GaveTheSame) {
  for (const Form& form : semantics::all_forms()) {
    if (Name(form.name).opcode != GetParam()) continue;
    const auto found = recorded().find(semantics::key_of(form));
    ASSERT_NE(found, recorded().end()) << form.name << " " << form.operands << " was not recorded";
    const bool approximate = form.check == semantics::Check::approximate;
    EXPECT_EQ(approximate ? far(form, found->second) : exact_difference(form, found->second), "")
        << form.name << " " << form.operands;
  }
}

std::vector<std::string> opcodes_run() {
  std::set<std::string> names;
  for (const Form& form : semantics::all_forms()) names.insert(Name(form.name).opcode);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(EveryOpcode, H200, testing::ValuesIn(opcodes_run()),
                         [](const auto& info) { return info.param; });

TEST(H200, EveryFormHasALineOfItsOwn) { EXPECT_EQ(recorded().size(), semantics::all_forms().size()); }

// A record with a bit turned must not pass.
TEST(H200, AWrongResultIsFound) {
  const auto forms = semantics::all_forms();
  const Form& add = forms.front();
  auto gpu = recorded().at(semantics::key_of(add));
  EXPECT_EQ(exact_difference(add, gpu), "");
  gpu.back() ^= 1U;
  EXPECT_NE(exact_difference(add, gpu), "");
}

}  // namespace
}  // namespace wm::exec::test
