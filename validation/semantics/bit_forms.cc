// Counting, fields, logic, shifts, permutations.
#include "forms.h"

namespace wm::semantics {

namespace {

void add_counting(std::vector<Form>& forms) {
  for (const char* t : {"b32", "b64"}) {
    for (const char* op : {"popc.", "clz."}) forms.push_back(form(std::string(op) + t, "u32", {t}));
    forms.push_back(form(std::string("brev.") + t, t, {t}));
    forms.push_back(form(std::string("bfi.") + t, t, {t, t, "shift", "shift"}));
  }
  for (const char* t : {"u32", "u64", "s32", "s64"}) {
    for (const char* op : {"bfind.", "bfind.shiftamt."}) forms.push_back(form(std::string(op) + t, "u32", {t}));
    forms.push_back(form(std::string("bfe.") + t, t, {t, "shift", "shift"}));
  }
  for (const char* mode : {"clamp.", "wrap."}) {
    for (const char* t : {"u32", "s32"}) forms.push_back(form(std::string("szext.") + mode + t, t, {t, "shift"}));
    forms.push_back(form(std::string("bmsk.") + mode + "b32", "b32", {"shift", "shift"}));
  }
  forms.push_back(form("fns.b32", "b32", {"b32", "lane", "offset"}));
}

void add_logic(std::vector<Form>& forms) {
  for (const char* t : {"b16", "b32", "b64"}) {
    for (const char* op : {"and.", "or.", "xor."}) forms.push_back(form(std::string(op) + t, t, {t, t}));
    for (const char* op : {"not.", "cnot."}) forms.push_back(form(std::string(op) + t, t, {t}));
    forms.push_back(form(std::string("shl.") + t, t, {t, "shift"}));
  }
  for (const char* op : {"and.pred", "or.pred", "xor.pred"}) forms.push_back(form(op, "pred", {"pred", "pred"}));
  forms.push_back(form("not.pred", "pred", {"pred"}));
  forms.push_back({"and.pred", "d0, s0, !s1", {{"pred", "pred"}}, {{"pred", "pred"}, {"pred", "pred"}}, Check::exact});
  for (const char* t : {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"})
    forms.push_back(form(std::string("shr.") + t, t, {t, "shift"}));
}

void add_tables(std::vector<Form>& forms) {
  for (const char* table : {"0xe8", "0x96", "0xca", "0x01", "0xfe", "0x1b", "0x6c", "0x00", "0xff"}) {
    Form lop3 = form("lop3.b32", "b32", {"b32", "b32", "b32"});
    lop3.operands += std::string(", ") + table;
    forms.push_back(lop3);
  }
  for (const char* name : {"lop3.or.b32", "lop3.and.b32"}) {
    Form lop3 = form(name, "b32", {"b32", "b32", "b32", "pred"});
    lop3.destinations.push_back({"pred", "pred"});
    lop3.operands = "d0|d1, s0, s1, s2, 0x40, s3";
    forms.push_back(lop3);
  }
  for (const char* mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    forms.push_back(form(std::string("prmt.b32") + mode, "b32", {"b32", "b32", "b32"}));
  for (const char* name : {"shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"})
    forms.push_back(form(name, "b32", {"b32", "b32", "shift"}));
}

}  // namespace

void add_bit_forms(std::vector<Form>& forms) {
  add_counting(forms);
  add_logic(forms);
  add_tables(forms);
}

}  // namespace wm::semantics
