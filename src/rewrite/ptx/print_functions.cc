#include "rewrite/ptx/print_functions.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ptx/def_use.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "rewrite/ptx/block_dependence.h"
#include "rewrite/ptx/operands.h"
#include "rewrite/ptx/print_format.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

constexpr std::string_view kPrint = "vprintf";
constexpr std::size_t kMaxValues = 32;

std::string_view string_in(const ptx::Variable& v) {
  const std::string_view all(reinterpret_cast<const char*>(v.initial.data()), v.initial.size());
  return all.substr(0, all.find('\0'));
}

// Whether one of the strings in the variable, which may have several, is printed otherwise by the CUDA driver.
bool has_other_format(const ptx::Variable& v) {
  return needs_other_format({reinterpret_cast<const char*>(v.initial.data()), v.initial.size()});
}

bool calls_print(const ptx::Module& module, const Instruction& i) {
  if (i.opcode != Opcode::call || i.operands[1].kind != Operand::Kind::function) return false;
  const Function& callee = module.functions[i.operands[1].index];
  return callee.declaration && callee.name == kPrint;
}

// The strings that a kernel can print: those that its functions name, directly or in a table of addresses; where they
// name none, it can have the address of any.
class PrintedStrings {
 public:
  explicit PrintedStrings(const ptx::Module& module) : module_(module), others_(module.functions.size()) {
    const bool any = std::any_of(module.variables.begin(), module.variables.end(), has_other_format);
    for (std::uint32_t kernel = 0; any && kernel < module.functions.size(); ++kernel) {
      if (!module.functions[kernel].entry) continue;
      const auto reached = reachable_functions(module, kernel);
      std::set<std::string> named;
      for (const std::uint32_t f : reached) name_variables(module.functions[f], named);
      const bool others = named.empty() || std::any_of(module.variables.begin(), module.variables.end(), [&](auto& v) {
                            return has_other_format(v) && named.contains(v.name);
                          });
      for (const std::uint32_t f : reached) others_[f] = others_[f] || others;
    }
  }
  // Whether a kernel that calls the function has a string that the CUDA driver would print otherwise.
  [[nodiscard]] bool has_others(std::uint32_t function) const { return others_[function]; }

 private:
  void name_variables(const Function& function, std::set<std::string>& named) const {
    for (const Instruction& i : function.body) {
      visit_operands(i, [&](const Operand& o) {
        if (is_module_variable(o)) name_with_addresses(module_.variables[o.index], named);
      });
    }
  }
  void name_with_addresses(const ptx::Variable& v, std::set<std::string>& named) const {
    if (v.initial.empty() || !named.insert(v.name).second) return;
    for (const ptx::Relocation& r : v.relocations) {
      const auto to = std::find_if(module_.variables.begin(), module_.variables.end(),
                                   [&](const auto& other) { return other.name == r.symbol; });
      if (to != module_.variables.end()) name_with_addresses(*to, named);
    }
  }

  const ptx::Module& module_;
  std::vector<bool> others_;
};

// Finds the string that a call prints.
class FormatSearch {
 public:
  FormatSearch(const ptx::Module& module, const Function& function) : module_(module), function_(function) {}

  // Nothing: it is not known which one.
  [[nodiscard]] std::optional<std::string_view> format_of(std::uint32_t call) const {
    const Operand& list = function_.body[call].operands[2];
    if (list.elements.empty()) return std::nullopt;
    const Operand& argument = list.elements.front();
    if (argument.kind == Operand::Kind::reg) return string_of(argument, call);
    for (std::uint32_t at = call; at > 0 && !is_target(at);) {
      const Instruction& i = function_.body[--at];
      if (i.opcode == Opcode::st && i.has(ptx::Suffix::param) && i.operands[0].offset == 0 &&
          i.operands[0].elements.front() == argument) {
        return i.guard.present ? std::nullopt : string_of(i.operands[1], at);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_target(std::uint32_t at) const {
    return std::any_of(function_.labels.begin(), function_.labels.end(), [at](const auto& l) { return l.at == at; });
  }

  // The instruction that gives the register its value before `at`: the latest one before it, or the only one.
  [[nodiscard]] std::optional<std::uint32_t> definition(std::uint32_t reg, std::uint32_t at) const {
    const auto defines = [&](std::uint32_t index) {
      bool found = false;
      ptx::for_each_definition(function_.body[index], [&](std::uint32_t r) { found = found || r == reg; });
      return found;
    };
    for (std::uint32_t before = at; before > 0 && !is_target(before);) {
      if (defines(--before)) return before;
    }
    std::optional<std::uint32_t> only;
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      if (!defines(i)) continue;
      if (only) return std::nullopt;
      only = i;
    }
    return only;
  }

  [[nodiscard]] std::optional<std::string_view> string_of(const Operand& operand, std::uint32_t at) const {
    if (is_module_variable(operand)) {
      if (operand.offset != 0) return std::nullopt;
      return string_in(module_.variables[operand.index]);
    }
    if (operand.kind != Operand::Kind::reg) return std::nullopt;
    const auto from = definition(operand.index, at);
    if (!from || *from >= at) return std::nullopt;
    const Instruction& i = function_.body[*from];
    if (i.guard.present || (i.opcode != Opcode::mov && i.opcode != Opcode::cvta)) return std::nullopt;
    return string_of(i.operands[1], *from);
  }

  const ptx::Module& module_;
  const Function& function_;
};

std::uint32_t aligned(std::uint32_t offset, std::uint32_t unit) { return (offset + unit - 1) / unit * unit; }

// The instructions that copy an element into the new block, where it takes `bytes`.
std::string copy(const PrintedArgument& a, std::uint32_t from, std::uint32_t to) {
  if (a.is_vector && a.kind == PrintedArgument::Kind::floating && a.bytes < 8) {
    const char* const reg = a.bytes == 2 ? "%h" : "%f";
    return fmt::format("ld.b{0} {1}, [%from+{2}]; cvt.f64.f{0} %d, {1}; st.f64 [%to+{3}], %d;\n", a.bytes * 8, reg,
                       from, to);
  }
  if (a.bytes == 8) return fmt::format("ld.b64 %w, [%from+{}]; st.b64 [%to+{}], %w;\n", from, to);
  const char type = a.kind == PrintedArgument::Kind::is_signed ? 's' : 'u';
  return fmt::format("ld.{}{} %r, [%from+{}]; st.b32 [%to+{}], %r;\n", type, a.bytes * 8, from, to);
}

struct ArgumentCopies {
  std::string text;
  std::uint32_t bytes = 0;  // the new block takes so many
  std::size_t values = 0;
};

ArgumentCopies copies_of(const std::vector<PrintedArgument>& arguments) {
  ArgumentCopies copies;
  std::uint32_t from = 0;
  for (const PrintedArgument& a : arguments) {
    const std::uint32_t size = a.stored_bytes * (a.count == 3 ? 4 : a.count);
    const bool wide = a.kind == PrintedArgument::Kind::floating || a.bytes == 8;
    from = aligned(from, size);
    for (std::uint32_t i = 0; i < a.count; ++i) {
      const std::uint32_t to = aligned(copies.bytes, wide ? 8 : 4);
      copies.text += copy(a, from + i * a.stored_bytes, to);
      copies.bytes = to + (wide ? 8 : 4);
    }
    copies.values += a.count;
    from += size;
  }
  return copies;
}

// A function in the place of vprintf: `body` changes %format and %block.
std::string function_text(std::string_view name, std::string_view body) {
  return fmt::format(R"(.func (.param .b32 result) {}(.param .b64 format, .param .b64 block)
{{
.reg .b16 %h; .reg .b32 %r; .reg .b64 %w, %format, %block, %from, %to; .reg .f32 %f; .reg .f64 %d;
ld.param.b64 %format, [format];
ld.param.b64 %block, [block];
{}{{ .param .b64 a; .param .b64 b; .param .b32 printed; st.param.b64 [a], %format; st.param.b64 [b], %block;
call (printed), {}, (a, b); ld.param.b32 %r, [printed]; }}
shr.s32 %r, %r, 31;
st.param.b32 [result], %r;
ret;
}}
)",
                     name, body, kPrint);
}

std::string string_text(std::string_view name, std::string_view value) {
  std::string text = fmt::format(".global .align 1 .b8 {}[{}] = {{", name, value.size() + 1);
  for (const char c : value) text += fmt::format("{}, ", static_cast<unsigned char>(c));
  return text + "0};\n";
}

// The functions that replace calls, by the format that they print; "" for all that the driver prints right.
class PrintFunctions {
 public:
  explicit PrintFunctions(std::string prefix) : prefix_(std::move(prefix)) {}

  // The name of the function for calls with this format; nothing where there is none.
  std::optional<std::string> name_for(std::string_view format) {
    if (!needs_other_format(format)) return add({}, function_text(prefix_, ""), prefix_);
    if (const auto known = names_.find(format); known != names_.end()) return known->second;
    const auto plain = plain_format(format);
    if (!plain) return std::nullopt;
    const ArgumentCopies copies = copies_of(plain->arguments);
    if (copies.values > kMaxValues) return std::nullopt;
    const std::string name = fmt::format("{}_{}", prefix_, names_.size()), string = name + "_format";
    const std::string body = fmt::format(
        ".local .align 8 .b8 values[{}];\nmov.b64 %from, %block;\nmov.u64 %to, values;\ncvta.local.u64 %to, %to;\n{}"
        "mov.b64 %block, %to;\nmov.u64 %format, {};\ncvta.global.u64 %format, %format;\n",
        std::max(copies.bytes, 8U), copies.text, string);
    return add(format, string_text(string, plain->text) + function_text(name, body), name);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string add(std::string_view format, const std::string& text, std::string name) {
    const auto [place, is_new] = names_.emplace(format, std::move(name));
    if (is_new) text_ += text;
    return place->second;
  }

  const std::string prefix_;
  std::map<std::string, std::string, std::less<>> names_;
  std::string text_;
};

std::string unused_prefix(const ptx::Module& module) {
  std::string prefix = "wm_print";
  const auto is_used = [&](const auto& symbol) { return symbol.name.starts_with(prefix); };
  while (std::any_of(module.functions.begin(), module.functions.end(), is_used) ||
         std::any_of(module.variables.begin(), module.variables.end(), is_used)) {
    prefix += '_';
  }
  return prefix;
}

struct Replacement {
  std::uint32_t function = 0, instruction = 0;
  std::string callee;
};

std::vector<Replacement> replacements(const ptx::Module& module, PrintFunctions& functions) {
  const PrintedStrings strings(module);
  std::vector<Replacement> all;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    const Function& function = module.functions[f];
    const FormatSearch search(module, function);
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      if (!calls_print(module, function.body[i])) continue;
      const auto format = strings.has_others(f) ? search.format_of(i) : std::string_view{};
      const auto callee = format ? functions.name_for(*format) : std::nullopt;
      if (callee) all.push_back({f, i, *callee});
    }
  }
  return all;
}

}  // namespace

Result<PrintingModule> with_print_functions(ptx::Module module) {
  const std::string prefix = unused_prefix(module);
  PrintFunctions functions(prefix);
  const std::vector<Replacement> calls = replacements(module, functions);
  if (calls.empty()) return PrintingModule{std::move(module), prefix};
  std::vector<std::string> callers;
  for (const Replacement& call : calls) callers.push_back(module.functions[call.function].name);
  const std::string text = fmt::format(
      ".version {}.{}\n.target {}\n.address_size 64\n.extern .func (.param .b32 r) {}(.param .b64 a, "
      ".param .b64 b);\n{}",
      module.version_major, module.version_minor, module.targets.front(), kPrint, functions.text());
  auto added = ptx::parse(text, "functions that print");
  if (!added) return added.error();
  std::vector<ptx::Module> parts;
  parts.push_back(std::move(module));
  parts.push_back(*std::move(added));
  auto linked = ptx::link(std::move(parts));
  if (!linked) return linked.error();
  const auto place = [&](const std::string& name) {
    const auto found = std::find_if(linked->functions.begin(), linked->functions.end(),
                                    [&](const Function& f) { return f.name == name; });
    return static_cast<std::uint32_t>(found - linked->functions.begin());
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Function& caller = linked->functions[place(callers[i])];
    caller.body[calls[i].instruction].operands[1].index = place(calls[i].callee);
  }
  return PrintingModule{*std::move(linked), prefix};
}

bool has_other_prints(const PrintingModule& printing, std::uint32_t kernel) {
  const ptx::Module& module = printing.module;
  const auto reached = reachable_functions(module, kernel);
  return std::any_of(reached.begin(), reached.end(), [&](std::uint32_t f) {
    const Function& function = module.functions[f];
    return !function.name.starts_with(printing.prefix) &&
           std::any_of(function.body.begin(), function.body.end(),
                       [&](const Instruction& i) { return calls_print(module, i); });
  });
}

}  // namespace wm::rewrite
