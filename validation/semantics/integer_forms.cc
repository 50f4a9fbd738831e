// Integer arithmetic, with and without a carry; dot products; moves and selections.
#include "forms.h"

namespace wm::semantics {

namespace {

using Names = std::vector<std::string>;

const Names kIntegers = {"u16", "u32", "u64", "s16", "s32", "s64"};

std::string wide(const std::string& type) { return type.substr(0, 1) + (type.substr(1) == "16" ? "32" : "64"); }

void add_arithmetic(std::vector<Form>& forms) {
  for (const auto& t : kIntegers) {
    for (const char* op : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"})
      forms.push_back(form(std::string(op) + "." + t, t, {t, t}));
    for (const char* op : {"mad.lo", "mad.hi", "sad"}) forms.push_back(form(std::string(op) + "." + t, t, {t, t, t}));
    if (t.substr(1) != "64") {
      forms.push_back(form("mul.wide." + t, wide(t), {t, t}));
      forms.push_back(form("mad.wide." + t, wide(t), {t, t, wide(t)}));
    }
  }
  for (const char* t : {"s16", "s32", "s64"})
    for (const char* op : {"abs.", "neg."}) forms.push_back(form(std::string(op) + t, t, {t}));
  for (const char* op : {"add.sat.s32", "sub.sat.s32", "min.relu.s32", "max.relu.s32"})
    forms.push_back(form(op, "s32", {"s32", "s32"}));
  forms.push_back(form("mad.hi.sat.s32", "s32", {"s32", "s32", "s32"}));
  for (const char* t : {"u32", "s32"}) {
    for (const char* half : {"lo.", "hi."}) {
      forms.push_back(form(std::string("mul24.") + half + t, t, {t, t}));
      forms.push_back(form(std::string("mad24.") + half + t, t, {t, t, t}));
    }
  }
  forms.push_back(form("mad24.hi.sat.s32", "s32", {"s32", "s32", "s32"}));
}

void add_packed(std::vector<Form>& forms) {
  for (const char* t : {"u16x2", "s16x2"})
    for (const char* op : {"add.", "min.", "max."}) forms.push_back(form(std::string(op) + t, t, {t, t}));
  for (const char* op : {"min.relu.s16x2", "max.relu.s16x2"}) forms.push_back(form(op, "s16x2", {"s16x2", "s16x2"}));
  for (const char* a : {"u32", "s32"}) {
    for (const char* b : {"u32", "s32"}) {
      const std::string types = std::string(a) + "." + b;
      for (const char* op : {"dp4a.", "dp2a.lo.", "dp2a.hi."})
        forms.push_back(form(op + types, "b32", {"b32", "b32", "b32"}));
    }
  }
}

// The carry comes in as the last source and goes out as the second destination.
void add_carrying(std::vector<Form>& forms, const std::string& op, const std::string& type, std::size_t sources) {
  const bool in = op.substr(3, 1) == "c";  // addc, subc, madc
  const bool out = op.find(".cc") != std::string::npos;
  Form result = form(op + "." + type, type, Names(sources, type));
  if (in) result.sources.push_back({"carry", "pred"});
  if (out) result.destinations.push_back({"carry", "pred"});
  forms.push_back(result);
}

void add_carries(std::vector<Form>& forms) {
  for (const char* t : {"u32", "s32", "u64", "s64"}) {
    for (const char* op : {"add.cc", "addc", "addc.cc", "sub.cc", "subc", "subc.cc"}) add_carrying(forms, op, t, 2);
    for (const char* half : {".lo", ".hi"})
      for (const char* op : {"mad", "madc"})
        for (const char* cc : {"", ".cc"})
          if (std::string(op) + cc != "mad") add_carrying(forms, std::string(op) + half + cc, t, 3);
  }
}

void add_moves(std::vector<Form>& forms) {
  for (const char* t : {"b16", "b32", "b64", "u32", "s64", "f32", "f64"})
    forms.push_back(form(std::string("mov.") + t, t, {t}));
  forms.push_back(form("mov.pred", "pred", {"pred"}));
  forms.push_back({"mov.b32", "d0, {s0, s1}", {{"b32", "b32"}}, {{"b16", "b16"}, {"b16", "b16"}}, Check::exact});
  forms.push_back({"mov.b64", "d0, {s0, s1}", {{"b64", "b64"}}, {{"b32", "b32"}, {"b32", "b32"}}, Check::exact});
  forms.push_back(
      {"mov.b64", "d0, {s0, s1, s2, s3}", {{"b64", "b64"}}, std::vector<Place>(4, {"b16", "b16"}), Check::exact});
  forms.push_back({"mov.b32", "{d0, d1}, s0", std::vector<Place>(2, {"b16", "b16"}), {{"b32", "b32"}}, Check::exact});
  forms.push_back({"mov.b64", "{d0, d1}, s0", std::vector<Place>(2, {"b32", "b32"}), {{"b64", "b64"}}, Check::exact});
  forms.push_back(
      {"mov.b64", "{d0, d1, d2, d3}, s0", std::vector<Place>(4, {"b16", "b16"}), {{"b64", "b64"}}, Check::exact});
  forms.push_back({"mov.b64", "{_, d0}, s0", {{"b32", "b32"}}, {{"b64", "b64"}}, Check::exact});
}

void add_selections(std::vector<Form>& forms) {
  for (const char* t : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    forms.push_back(form(std::string("selp.") + t, t, {t, t, "pred"}));
    forms.push_back(form(std::string("slct.") + t + ".s32", t, {t, t, "s32"}));
    forms.push_back(form(std::string("slct.") + t + ".f32", t, {t, t, "f32"}));
    forms.push_back(form(std::string("slct.ftz.") + t + ".f32", t, {t, t, "f32"}));
  }
}

}  // namespace

void add_integer_forms(std::vector<Form>& forms) {
  add_arithmetic(forms);
  add_packed(forms);
  add_carries(forms);
  add_moves(forms);
  add_selections(forms);
}

}  // namespace wm::semantics
