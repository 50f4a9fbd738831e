#include "module.h"

#include <cctype>

namespace wm::semantics {

namespace {

std::string number(std::size_t i) { return std::to_string(i); }

void declare(std::string& text, const std::vector<Place>& places, const char* letter) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].type != "carry") text += "  .reg ." + places[i].type + " %" + letter + number(i) + ";\n";
}

void load(std::string& text, const std::vector<Place>& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += "  ld.global.u64 %value, [%in+" + number(i * 8) + "];\n";
    const std::string name = "%s" + number(i);
    const std::string& type = sources[i].type;
    if (type == "b64") text += "  mov.b64 " + name + ", %value;\n";
    if (type == "b32") text += "  cvt.u32.u64 " + name + ", %value;\n";
    if (type == "b16") text += "  cvt.u16.u64 " + name + ", %value;\n";
    if (type == "pred") text += "  setp.ne.u64 " + name + ", %value, 0;\n";
    if (type == "carry") text += "  cvt.u32.u64 %word, %value;\n";
  }
}

void store(std::string& text, const std::vector<Place>& destinations) {
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const std::string name = "%d" + number(i);
    const std::string& type = destinations[i].type;
    if (type == "b64") text += "  mov.b64 %value, " + name + ";\n";
    if (type == "b32") text += "  cvt.u64.u32 %value, " + name + ";\n";
    if (type == "b16") text += "  cvt.u64.u16 %value, " + name + ";\n";
    if (type == "pred") text += "  selp.u64 %value, 1, 0, " + name + ";\n";
    if (type == "carry") text += "  cvt.u64.u32 %value, %word;\n";
    text += "  st.global.u64 [%out+" + number(i * 8) + "], %value;\n";
  }
}

bool has_carry(const std::vector<Place>& places) { return !places.empty() && places.back().type == "carry"; }

void kernel(std::string& text, const Form& form, std::size_t index) {
  text += "// " + form.name + " " + form.operands + "\n";
  text += ".visible .entry form_" + number(index) + "(.param .u64 in, .param .u64 out, .param .u32 count) {\n";
  text +=
      "  .reg .b64 %in, %out, %value, %offset;\n  .reg .b32 %index, %block, %size, %count, %word;\n  .reg .pred "
      "%past;\n";
  declare(text, form.destinations, "d");
  declare(text, form.sources, "s");
  text +=
      "  mov.u32 %index, %tid.x;\n  mov.u32 %block, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n"
      "  mad.lo.u32 %index, %block, %size, %index;\n"
      "  ld.param.u32 %count, [count];\n  setp.ge.u32 %past, %index, %count;\n  @%past bra done;\n"
      "  ld.param.u64 %in, [in];\n  cvta.to.global.u64 %in, %in;\n"
      "  ld.param.u64 %out, [out];\n  cvta.to.global.u64 %out, %out;\n";
  text += "  mul.wide.u32 %offset, %index, " + number(form.sources.size() * 8) + ";\n  add.u64 %in, %in, %offset;\n";
  text +=
      "  mul.wide.u32 %offset, %index, " + number(form.destinations.size() * 8) + ";\n  add.u64 %out, %out, %offset;\n";
  load(text, form.sources);
  // 1 + all ones carries, 0 + all ones does not; a subtraction's borrow is 0 - 1.
  const bool borrows = form.name.substr(0, 3) == "sub";
  if (has_carry(form.sources)) text += borrows ? "  sub.cc.u32 %word, 0, %word;\n" : "  add.cc.u32 %word, %word, -1;\n";
  text += "  " + statement_of(form) + "\n";
  if (has_carry(form.destinations))
    text += borrows ? "  subc.u32 %word, 0, 0;\n  and.b32 %word, %word, 1;\n" : "  addc.u32 %word, 0, 0;\n";
  store(text, form.destinations);
  text += "done:\n  ret;\n}\n\n";
}

}  // namespace

std::string statement_of(const Form& form) {
  std::string text = form.name + " ";
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const char c = form.operands[i];
    const bool place = (c == 'd' || c == 's') && i + 1 < form.operands.size() &&
                       std::isdigit(static_cast<unsigned char>(form.operands[i + 1])) != 0;
    if (place) text += '%';
    text += c;
  }
  return text + ";";
}

std::string module_of(std::span<const Form> forms) {
  std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n\n";
  for (std::size_t i = 0; i < forms.size(); ++i) kernel(text, forms[i], i);
  return text;
}

}  // namespace wm::semantics
