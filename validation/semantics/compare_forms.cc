// setp and set: every comparison of every type, joined with a third operand, with one or two results.
#include "forms.h"

namespace wm::semantics {

namespace {

using Names = std::vector<std::string>;

const Names kOrders = {"eq", "ne", "lt", "le", "gt", "ge"};
const Names kWithNan = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
const Names kJoins = {"", ".and", ".or", ".xor"};

Names comparisons(const std::string& type) {
  if (type[0] == 'b' && type[1] != 'f') return {"eq", "ne"};
  Names names = kOrders;
  if (type[0] == 'u') names.insert(names.end(), {"lo", "ls", "hi", "hs"});
  if (type[0] == 'f' || type[0] == 'b') names.insert(names.end(), kWithNan.begin(), kWithNan.end());
  return names;
}

Form joined(Form result, const std::string& join, bool two) {
  if (two) {
    result.operands = "d0|d1" + result.operands.substr(2);
    result.destinations.push_back({"pred", "pred"});
  }
  if (!join.empty()) {
    result.operands += ", s2";
    result.sources.push_back({"pred", "pred"});
  }
  return result;
}

void add_setp(std::vector<Form>& forms, const std::string& type, const std::string& ftz) {
  const bool pair = type.find("x2") != std::string::npos;
  const bool half = type == "f16" || type == "bf16";  // these have one result only
  std::size_t at = 0;
  for (const auto& comparison : comparisons(type)) {
    // Every comparison without a join, with both results, and one of the joins in turn.
    for (const auto& join : {std::string(), kJoins[1 + at % 3]}) {
      const Form base = form("setp." + comparison + join + ftz + "." + type, "pred", {type, type});
      if (!half) forms.push_back(joined(base, join, true));
      if (half || (!pair && join.empty())) forms.push_back(joined(base, join, false));
    }
    ++at;
  }
  if (type == "s32") {
    Form negated = joined(form("setp.lt.and.s32", "pred", {type, type}), ".and", false);
    negated.operands = "d0, s0, s1, !s2";
    forms.push_back(negated);
  }
}

void add_set(std::vector<Form>& forms, const std::string& to, const std::string& from, const std::string& ftz) {
  std::size_t at = 0;
  for (const auto& comparison : comparisons(from)) {
    forms.push_back(form("set." + comparison + ftz + "." + to + "." + from, to, {from, from}));
    const std::string& join = kJoins[1 + at++ % 3];
    if (at <= 3)
      forms.push_back(
          joined(form("set." + comparison + join + ftz + "." + to + "." + from, to, {from, from}), join, false));
  }
}

}  // namespace

void add_compare_forms(std::vector<Form>& forms) {
  for (const char* t :
       {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})
    add_setp(forms, t, "");
  for (const char* t : {"f32", "f16", "f16x2"}) add_setp(forms, t, ".ftz");
  for (const char* from : {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"})
    for (const char* to : {"u32", "s32", "f32"}) add_set(forms, to, from, "");
  for (const char* to : {"u32", "s32", "f32"}) add_set(forms, to, "f32", ".ftz");
  for (const char* to : {"f16", "u16", "s16", "u32", "s32"}) add_set(forms, to, "f16", "");
  for (const char* to : {"bf16", "u16", "s16", "u32", "s32"}) add_set(forms, to, "bf16", "");
  add_set(forms, "f16x2", "f16x2", ""), add_set(forms, "u32", "f16x2", ""), add_set(forms, "s32", "f16x2", "");
  add_set(forms, "bf16x2", "bf16x2", ""), add_set(forms, "u32", "bf16x2", "");
  add_set(forms, "f16", "f16", ".ftz"), add_set(forms, "f16x2", "f16x2", ".ftz");
}

}  // namespace wm::semantics
