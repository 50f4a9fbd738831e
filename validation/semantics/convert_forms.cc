// cvt between all types, with every rounding and range modifier, and cvt.pack.
#include "forms.h"

namespace wm::semantics {

namespace {

using Names = std::vector<std::string>;

const Names kWidths = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};

// 8-bit values have no registers of their own.
std::string held(const std::string& type) { return type.substr(1) == "8" ? "b16" : type; }

int width(const std::string& type) { return std::stoi(type.substr(1)); }

// Whether every value of one integer type is one of the other.
bool holds(const std::string& to, const std::string& from) {
  if (to[0] == from[0]) return width(to) >= width(from);
  return to[0] == 's' && width(to) > width(from);
}

void add_between_integers(std::vector<Form>& forms) {
  for (const auto& to : kWidths) {
    for (const auto& from : kWidths) {
      for (const char* sat : {"", ".sat"}) {
        const std::string name = std::string("cvt") + sat + "." + to + "." + from;
        if (*sat != 0 && holds(to, from)) continue;  // every value fits, so PTX refuses .sat
        forms.push_back(form(name, held(to), {held(from)}));
      }
    }
  }
  // Registers wider than the types: the source is cut, the result is extended.
  for (const char* name : {"cvt.u8.u32", "cvt.s8.s32", "cvt.s8.u32", "cvt.s16.s32", "cvt.u16.s64", "cvt.s16.u64"})
    forms.push_back(form(name, "b32", {std::string(name).ends_with("64") ? "b64" : "b32"}));
  for (const char* name : {"cvt.u32.u8", "cvt.s32.s8", "cvt.s32.s16", "cvt.u32.u16"})
    forms.push_back(form(name, "b32", {"b32"}));
  for (const char* name : {"cvt.s64.s8", "cvt.s64.s32", "cvt.u64.u16"}) forms.push_back(form(name, "b64", {"b64"}));
}

void add_from_integers(std::vector<Form>& forms) {
  for (const char* to : {"f16", "f32", "f64", "bf16"}) {
    for (const auto& from : kWidths) {
      if (std::string(to) == "bf16" && width(from) == 8) continue;
      for (const char* rounding : {".rn", ".rz", ".rm", ".rp"}) {
        forms.push_back(form(std::string("cvt") + rounding + "." + to + "." + from, to, {held(from)}));
      }
      if (std::string(to) == "f16" || std::string(to) == "f32")
        forms.push_back(form(std::string("cvt.rn.sat.") + to + "." + from, to, {held(from)}));
    }
  }
}

void add_to_integers(std::vector<Form>& forms) {
  for (const char* from : {"f16", "f32", "f64", "bf16"}) {
    for (const auto& to : kWidths) {
      if (std::string(from) == "bf16" && width(to) == 8) continue;
      for (const char* rounding : {".rni", ".rzi", ".rmi", ".rpi"}) {
        forms.push_back(form(std::string("cvt") + rounding + "." + to + "." + from, held(to), {from}));
        if (std::string(from) == "f32")
          forms.push_back(form(std::string("cvt") + rounding + ".ftz." + to + "." + from, held(to), {from}));
      }
      if (std::string(from) != "bf16")
        forms.push_back(form(std::string("cvt.rzi.sat.") + to + "." + from, held(to), {from}));
    }
  }
}

void add_between_floats(std::vector<Form>& forms) {
  const auto add = [&](const std::string& name, const std::string& to, const std::string& from) {
    forms.push_back(form(name + "." + to + "." + from, to, {from}));
  };
  for (const char* ftz : {"", ".ftz"}) {
    for (const char* sat : {"", ".sat"}) {
      for (const char* rounding : {".rn", ".rz", ".rm", ".rp"}) {
        const std::string name = std::string("cvt") + rounding + ftz + sat;
        add(name, "f32", "f64");
        add(name, "f16", "f32");
        if (*ftz == 0) add(name, "f16", "f64");
      }
      add(std::string("cvt") + ftz + sat, "f32", "f16");
      add(std::string("cvt") + ftz + sat, "f64", "f32");
      add(std::string("cvt") + ftz + sat, "f32", "f32");
      for (const char* rounding : {".rni", ".rzi", ".rmi", ".rpi"})
        add(std::string("cvt") + rounding + ftz + sat, "f32", "f32");
    }
  }
  for (const char* sat : {"", ".sat"}) {
    add(std::string("cvt") + sat, "f64", "f16");
    add(std::string("cvt") + sat, "f64", "f64");
    add(std::string("cvt") + sat, "f16", "f16");
    for (const char* rounding : {".rni", ".rzi", ".rmi", ".rpi"}) {
      add(std::string("cvt") + rounding + sat, "f16", "f16");
      add(std::string("cvt") + rounding + sat, "f64", "f64");
    }
  }
  for (const char* rounding : {".rn", ".rz", ".rm", ".rp"}) {
    add(std::string("cvt") + rounding, "bf16", "f64");
    add(std::string("cvt") + rounding, "bf16", "f16");
    add(std::string("cvt") + rounding, "f16", "bf16");
  }
  for (const char* rounding : {".rni", ".rzi", ".rmi", ".rpi"}) add(std::string("cvt") + rounding, "bf16", "bf16");
  add("cvt", "f32", "bf16"), add("cvt", "f64", "bf16");
  for (const char* rounding : {".rn", ".rz"})
    for (const char* range : {"", ".relu", ".satfinite", ".relu.satfinite"})
      for (const char* to : {"f16", "bf16"})
        if (std::string(to) != "f16" || *range != 0) add(std::string("cvt") + rounding + range, to, "f32");
  for (const char* name : {"cvt.rna", "cvt.rna.satfinite", "cvt.rn", "cvt.rz", "cvt.rn.relu", "cvt.rz.relu"}) {
    forms.push_back(form(std::string(name) + ".tf32.f32", "b32", {"f32"}));
  }
}

void add_pairs(std::vector<Form>& forms) {
  for (const char* rounding : {".rn", ".rz"})
    for (const char* range : {"", ".relu", ".satfinite", ".relu.satfinite"})
      for (const char* to : {"f16x2", "bf16x2"})
        forms.push_back(form(std::string("cvt") + rounding + range + "." + to + ".f32", to, {"f32", "f32"}));
  for (const char* to : {"e4m3x2", "e5m2x2"}) {
    for (const char* relu : {"", ".relu"}) {
      forms.push_back(form(std::string("cvt.rn.satfinite") + relu + "." + to + ".f32", "f8x2", {"f32", "f32"}));
      forms.push_back(form(std::string("cvt.rn.satfinite") + relu + "." + to + ".f16x2", "f8x2", {"f16x2"}));
      forms.push_back(form(std::string("cvt.rn") + relu + ".f16x2." + to, "f16x2", {"f8x2"}));
    }
  }
  for (const char* to : {"u16", "s16"})
    forms.push_back(form(std::string("cvt.pack.sat.") + to + ".s32", "b32", {"s32", "s32"}));
  for (const char* to : {"u8", "s8"})
    forms.push_back(form(std::string("cvt.pack.sat.") + to + ".s32.b32", "b32", {"s32", "s32", "b32"}));
}

}  // namespace

void add_convert_forms(std::vector<Form>& forms) {
  add_between_integers(forms);
  add_from_integers(forms);
  add_to_integers(forms);
  add_between_floats(forms);
  add_pairs(forms);
}

}  // namespace wm::semantics
