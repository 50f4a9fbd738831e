// f32 and f64 arithmetic in every rounding, extremes, signs, approximations.
#include "forms.h"

namespace wm::semantics {

namespace {

const std::vector<std::string> kRoundings = {".rn", ".rz", ".rm", ".rp"};

void add_sums(std::vector<Form>& forms) {
  for (const char* op : {"add", "sub", "mul"}) {
    for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
      for (const char* range : {"", ".ftz", ".sat", ".ftz.sat"})
        forms.push_back(form(std::string(op) + rounding + range + ".f32", "f32", {"f32", "f32"}));
      forms.push_back(form(std::string(op) + rounding + ".f64", "f64", {"f64", "f64"}));
    }
  }
  for (const char* op : {"fma", "mad"}) {
    for (const auto& rounding : kRoundings) {
      for (const char* range : {"", ".ftz", ".sat", ".ftz.sat"})
        forms.push_back(form(op + rounding + range + ".f32", "f32", {"f32", "f32", "f32"}));
      forms.push_back(form(op + rounding + ".f64", "f64", {"f64", "f64", "f64"}));
    }
  }
}

void add_quotients(std::vector<Form>& forms) {
  for (const auto& rounding : kRoundings) {
    for (const char* ftz : {"", ".ftz"}) {
      forms.push_back(form("div" + rounding + ftz + ".f32", "f32", {"f32", "f32"}));
      for (const char* op : {"rcp", "sqrt"}) forms.push_back(form(op + rounding + ftz + ".f32", "f32", {"f32"}));
    }
    forms.push_back(form("div" + rounding + ".f64", "f64", {"f64", "f64"}));
    for (const char* op : {"rcp", "sqrt"}) forms.push_back(form(op + rounding + ".f64", "f64", {"f64"}));
  }
}

void add_extremes(std::vector<Form>& forms) {
  for (const char* op : {"min", "max"}) {
    for (const char* ftz : {"", ".ftz"})
      for (const char* nan : {"", ".NaN"})
        for (const char* sign : {"", ".xorsign.abs"})
          forms.push_back(form(std::string(op) + ftz + nan + sign + ".f32", "f32", {"f32", "f32"}));
    forms.push_back(form(std::string(op) + ".f64", "f64", {"f64", "f64"}));
  }
  for (const char* op : {"neg", "abs"}) {
    for (const char* ftz : {"", ".ftz"}) forms.push_back(form(std::string(op) + ftz + ".f32", "f32", {"f32"}));
    forms.push_back(form(std::string(op) + ".f64", "f64", {"f64"}));
  }
  for (const char* t : {"f32", "f64"}) {
    forms.push_back(form(std::string("copysign.") + t, t, {t, t}));
    for (const char* property : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
      forms.push_back(form(std::string("testp.") + property + "." + t, "pred", {t}));
  }
}

void add_approximations(std::vector<Form>& forms) {
  const auto add = [&](const std::string& name, const std::string& type, std::size_t sources) {
    forms.push_back(form(name, type, std::vector<std::string>(sources, type), Check::approximate));
  };
  for (const char* ftz : {"", ".ftz"}) {
    for (const char* op : {"rcp", "sqrt", "rsqrt", "lg2", "ex2"})
      add(std::string(op) + ".approx" + ftz + ".f32", "f32", 1);
    for (const char* op : {"sin", "cos"})
      forms.push_back(form(std::string(op) + ".approx" + ftz + ".f32", "f32", {"angle"}, Check::approximate));
    for (const char* op : {"div.approx", "div.full"}) add(std::string(op) + ftz + ".f32", "f32", 2);
  }
  add("tanh.approx.f32", "f32", 1);
  add("rcp.approx.ftz.f64", "f64", 1);
  add("rsqrt.approx.f64", "f64", 1);
  add("rsqrt.approx.ftz.f64", "f64", 1);
  for (const char* t : {"f16", "f16x2", "bf16", "bf16x2"}) add(std::string("tanh.approx.") + t, t, 1);
  for (const char* t : {"f16", "f16x2"}) add(std::string("ex2.approx.") + t, t, 1);
  for (const char* t : {"bf16", "bf16x2"}) add(std::string("ex2.approx.ftz.") + t, t, 1);
}

}  // namespace

void add_float_forms(std::vector<Form>& forms) {
  add_sums(forms);
  add_quotients(forms);
  add_extremes(forms);
  add_approximations(forms);
}

void add_half_forms(std::vector<Form>& forms) {
  for (const char* t : {"f16", "f16x2"}) {
    for (const char* op : {"add", "sub", "mul"})
      for (const char* range : {"", ".rn", ".ftz", ".sat", ".ftz.sat"})
        forms.push_back(form(std::string(op) + range + "." + t, t, {t, t}));
    for (const char* range : {"", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu"})
      forms.push_back(form(std::string("fma.rn") + range + "." + t, t, {t, t, t}));
    for (const char* op : {"neg", "abs"})
      for (const char* ftz : {"", ".ftz"}) forms.push_back(form(std::string(op) + ftz + "." + t, t, {t}));
    for (const char* op : {"min", "max"})
      for (const char* ftz : {"", ".ftz"})
        for (const char* rest : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
          forms.push_back(form(std::string(op) + ftz + rest + "." + t, t, {t, t}));
  }
  for (const char* t : {"bf16", "bf16x2"}) {
    for (const char* op : {"add", "add.rn", "sub", "mul"}) forms.push_back(form(std::string(op) + "." + t, t, {t, t}));
    for (const char* relu : {"", ".relu"}) forms.push_back(form(std::string("fma.rn") + relu + "." + t, t, {t, t, t}));
    for (const char* op : {"neg", "abs"}) forms.push_back(form(std::string(op) + "." + t, t, {t}));
    for (const char* op : {"min", "max"})
      for (const char* rest : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
        forms.push_back(form(std::string(op) + rest + "." + t, t, {t, t}));
  }
}

}  // namespace wm::semantics
