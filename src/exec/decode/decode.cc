#include <algorithm>
#include <fmt/format.h>

#include "exec/decode/function_decoder.h"
#include "exec/program.h"

namespace wm::exec {

namespace {

constexpr std::uint32_t kMaxKernelParameters = 1U << 15;
constexpr std::uint32_t kSpareStack = 16U << 10;  // local memory for alloca and calls of unknown depth

Result<std::uint32_t> kernel_index(const ptx::Module& module, std::string_view kernel, const std::string& file) {
  std::string known;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    const ptx::Function& f = module.functions[i];
    if (!f.entry || f.declaration) continue;
    if (f.name == kernel) return i;
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", f.name);
  }
  return Error{fmt::format("no kernel '{}'{}", kernel, known.empty() ? "" : "; there is " + known), {file, 0, 0}};
}

Result<void> place_kernel_parameters(const ptx::Function& kernel, Program& program) {
  std::uint64_t offset = 0;
  for (const ptx::Variable& v : kernel.parameters) {
    offset = align_up(offset, v.align);
    if (v.bytes() > kMaxKernelParameters || offset + v.bytes() > kMaxKernelParameters)
      return Error{fmt::format("the parameters of '{}' take more than {} bytes", kernel.name, kMaxKernelParameters),
                   {program.file, v.position.line, v.position.column}};
    program.parameters.push_back({v.name, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(v.bytes()),
                                  v.pointer, v.pointer_space});
    offset += v.bytes();
  }
  program.parameter_bytes = static_cast<std::uint32_t>(offset);
  return {};
}

void take_directives(const ptx::Function& kernel, Program& program) {
  for (const ptx::Directive& d : kernel.directives) {
    auto* to = d.name == "reqntid" ? &program.required_block : d.name == "maxntid" ? &program.largest_block : nullptr;
    if (to == nullptr) continue;
    *to = {1, 1, 1};
    std::copy(d.values.begin(), d.values.end(), to->begin());  // The parser takes at most three.
  }
}

// The deepest stack of local variables a thread can have: exact where calls are direct and do not recur.
class StackDepth {
 public:
  explicit StackDepth(const Program& program)
      : program_(program), state_(program.functions.size(), State::fresh), depth_(program.functions.size(), 0) {}

  std::uint32_t of_kernel() {
    const std::uint32_t depth = of(0);
    return open_ended_ ? depth + kSpareStack : depth;
  }

 private:
  enum class State : std::uint8_t { fresh, active, known };

  std::uint32_t of(std::uint32_t function) {
    if (state_[function] == State::known) return depth_[function];
    if (state_[function] == State::active) return open_ended_ = true, 0;
    state_[function] = State::active;
    const ProgramFunction& f = program_.functions[function];
    std::uint32_t deepest = 0;
    for (std::uint32_t pc = f.entry; pc < f.end; ++pc) {
      const Op& op = program_.code[pc];
      if (op.mode == Mode::stack_allocate) open_ended_ = true;
      if (op.kind == Kind::call) deepest = std::max(deepest, of(op.target));
      if (op.kind != Kind::indirect_call) continue;
      for (const std::uint32_t callee : program_.calls[op.targets].allowed) deepest = std::max(deepest, of(callee));
    }
    state_[function] = State::known;
    return depth_[function] = f.local_bytes + deepest;
  }

  const Program& program_;
  std::vector<State> state_;
  std::vector<std::uint32_t> depth_;
  bool open_ended_ = false;
};

bool is_reserved_shared(ptx::Special special) {
  switch (special) {
    case ptx::Special::reserved_smem_offset_begin:
    case ptx::Special::reserved_smem_offset_end:
    case ptx::Special::reserved_smem_offset_cap:
    case ptx::Special::reserved_smem_offset_0:
    case ptx::Special::reserved_smem_offset_1:
      return true;
    default:
      return false;
  }
}

bool reads_reserved_shared(const ptx::Module& module, const ModuleLayout& layout) {
  bool reads = false;
  for (const std::uint32_t f : layout.functions) {
    for_each_operand(module.functions[f], [&](const ptx::Instruction&, const ptx::Operand& operand) {
      reads |= operand.kind == ptx::Operand::Kind::special && is_reserved_shared(operand.special);
    });
  }
  return reads;
}

Result<std::shared_ptr<const Program>> decode_or_throw(const ptx::Module& module, std::string_view kernel,
                                                       const std::string& file) {
  const auto index = kernel_index(module, kernel, file);
  if (!index) return index.error();
  const auto layout = layout_module(module, *index, file);
  if (!layout) return layout.error();
  auto program = std::make_shared<Program>();
  program->kernel = kernel;
  program->file = file;
  program->source_files = module.files;
  program->static_shared_bytes = static_cast<std::uint32_t>(layout->static_shared_bytes);
  program->reads_reserved_shared = reads_reserved_shared(module, *layout);
  take_directives(module.functions[*index], *program);
  if (auto placed = place_kernel_parameters(module.functions[*index], *program); !placed) return placed.error();

  ConstantPool pool;
  program->functions.resize(layout->functions.size());
  for (std::uint32_t i = 0; i < layout->functions.size(); ++i) {
    const ptx::Function& function = module.functions[layout->functions[i]];
    ProgramFunction& out = program->functions[i];
    out.name = function.name;
    out.module_index = layout->functions[i];
    out.builtin = builtin_of(function);
    if (out.builtin != ProgramFunction::Builtin::none) {
      out.entry = out.end = 0;
    } else {
      FunctionDecoder(module, *layout, i, pool, *program).run();
    }
  }
  mark_ahead(program->code);
  program->constants = std::move(pool.bytes);
  program->relocations = std::move(pool.relocations);
  program->local_bytes = StackDepth(*program).of_kernel();
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace

Result<std::shared_ptr<const Program>> decode(const ptx::Module& module, std::string_view kernel,
                                              const std::string& file) {
  try {
    return decode_or_throw(module, kernel, file);
  } catch (Refusal& refusal) {
    return std::move(refusal.error);
  }
}

CodePlace Program::place(std::uint32_t pc) const {
  const OpInfo& i = info[pc];
  CodePlace p;
  p.function = functions[i.function].name;
  p.ptx_file = file;
  p.ptx_line = i.ptx_line;
  p.source_line = i.source.line;
  if (i.source.line != 0 && i.source.file < source_files.size()) p.source_file = source_files[i.source.file];
  return p;
}

}  // namespace wm::exec
