// Every form of every register-only instruction, on edge values and random ones, against an independent reference.
#include <gtest/gtest.h>
#include <map>

#include "exec/lane/form_run.h"
#include "exec/lane/real.h"

namespace wm::exec::test {
namespace {

std::string shown(const Element& values) {
  std::string text;
  for (const auto value : values) {
    char digits[24];
    std::snprintf(digits, sizeof(digits), " %llx", static_cast<unsigned long long>(value));
    text += digits;
  }
  return text;
}

bool is_matrix(const Form& form) { return form.name.substr(0, 3) == "mma"; }

// The first difference of a form, or nothing.
std::string difference(const Form& form) {
  const Name name(form.name);
  const std::vector<Element> elements = semantics::inputs(form);
  FormRun run(form);
  const auto outputs = run.all(elements);
  const std::size_t count = form.destinations.size();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Outputs got(outputs.begin() + static_cast<std::ptrdiff_t>(i * count),
                      outputs.begin() + static_cast<std::ptrdiff_t>((i + 1) * count));
    std::string why;
    if (form.check == semantics::Check::approximate) {
      if (!within_bound(form, name, elements[i], got[0], why))
        return shown(elements[i]) + " gives" + shown(got) + ": " + why;
      continue;
    }
    const auto wanted = reference(form, name, elements[i]);
    if (!wanted) return "has no reference";
    if (*wanted != got) return shown(elements[i]) + " gives" + shown(got) + ", wanted" + shown(*wanted);
  }
  return "";
}

// One test a family of opcodes, so that a failure names it.
class Semantics : public testing::TestWithParam<std::string> {};

TEST_P(Semantics, AgreesWithTheReference) {
  std::size_t forms = 0;
  for (const Form& form : semantics::all_forms()) {
    if (Name(form.name).opcode != GetParam()) continue;
    ++forms;
    std::string different;
    ASSERT_NO_THROW(different = difference(form)) << form.name;
    EXPECT_EQ(different, "") << form.name << " " << form.operands;
  }
  EXPECT_GT(forms, 0U);
}

std::vector<std::string> opcodes() {
  std::set<std::string> names;
  for (const Form& form : semantics::all_forms())
    if (!is_matrix(form)) names.insert(Name(form.name).opcode);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(EveryOpcode, Semantics, testing::ValuesIn(opcodes()),
                         [](const auto& info) { return info.param; });

// All that a routine may write is the active lanes, whatever the form.
TEST(Semantics, EveryFormPreservesInactiveLanes) {
  for (const Form& form : semantics::all_forms()) {
    if (is_matrix(form)) continue;
    const std::vector<Element> elements = semantics::inputs(form);
    FormRun run(form);
    const auto full = run.warp(std::span(elements).first(kLanes));
    const Mask active = 0x0ff0a5c3U;
    const auto part = run.warp(std::span(elements).first(kLanes), active);
    const std::size_t count = form.destinations.size();
    for (std::size_t i = 0; i < kLanes * count; ++i) {
      const auto& type = form.destinations[i % count].type;
      const int width = type == "pred" || type == "carry" ? 1 : width_of(type);
      const std::uint64_t poison = wrapped(static_cast<Int>(FormRun::kPoison), width);
      const bool on = ((active >> (i / count)) & 1U) != 0;
      ASSERT_EQ(part[i], on ? full[i] : poison) << form.name << " " << form.operands << " lane " << i / count;
    }
  }
}

}  // namespace
}  // namespace wm::exec::test
