#include "rewrite/ptx/opencl_adapter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rewrite/ptx/constant_pointers.h"
#include "rewrite/ptx/function_removal.h"
#include "rewrite/ptx/image_functions.h"
#include "rewrite/ptx/print_functions.h"
#include "rewrite/ptx/special_values.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

constexpr const char* kDynamicShared = "wm_local_memory";
constexpr std::uint32_t kSharedAlign = 16;
constexpr const char* kOtherPrints =
    "it prints vectors or characters as numbers, with a format that is not known here or has more than the 32 values "
    "of the CUDA driver";

Special environment_register(std::uint32_t n) {
  return static_cast<Special>(static_cast<std::uint32_t>(Special::envreg0) + n);
}

bool is_local_pointer(const ptx::Variable& parameter) {
  return parameter.pointer && parameter.pointer_space == ptx::Space::shared;
}

bool names_parameter(const Operand& operand, std::uint32_t parameter) {
  if (operand.kind == Operand::Kind::variable && operand.scope == Operand::Scope::parameter &&
      operand.index == parameter) {
    return true;
  }
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& o) { return names_parameter(o, parameter); });
}

// A load of the complete parameter into a register.
bool loads_parameter(const Instruction& i, const ptx::Variable& variable, std::uint32_t parameter) {
  return i.opcode == Opcode::ld && i.has(ptx::Suffix::param) && i.operands[0].kind == Operand::Kind::reg &&
         names_parameter(i.operands[1], parameter) && i.operands[1].offset == 0 &&
         static_cast<std::uint64_t>(ptx::bytes(i.type())) == variable.bytes();
}

// Why the kernel cannot be adapted.
std::optional<std::string> obstacle(const Function& kernel) {
  if (kernel.refusal) return kernel.refusal->what;
  for (std::uint32_t p = 0; p < kernel.parameters.size(); ++p) {
    if (!is_local_pointer(kernel.parameters[p])) continue;
    for (const Instruction& i : kernel.body) {
      const bool named =
          std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) { return names_parameter(o, p); });
      if (named && !loads_parameter(i, kernel.parameters[p], p)) {
        return "the __local parameter '" + kernel.parameters[p].name + "' is used other than by a load of its value";
      }
    }
  }
  return std::nullopt;
}

class KernelAdapter {
 public:
  KernelAdapter(Function& kernel, const KernelImages& images, std::uint32_t dynamic_shared, const SpecialNeeds& needs,
                const SpecialSet& own)
      : editor_(kernel), images_(images), dynamic_shared_(dynamic_shared), needs_(needs), own_(own) {}

  AdaptedKernel run() {
    Function& kernel = editor_.function();
    AdaptedKernel adapted{kernel.name, {}, !own_.empty(), images_.any(), images_.textures};
    std::vector<std::uint32_t> local;
    for (std::uint32_t p = 0; p < images_.parameters.size(); ++p) {
      ptx::Variable& v = kernel.parameters[p];
      const bool is_local = is_local_pointer(v);
      adapted.parameters.push_back({v.pointer && !is_local, is_local, static_cast<std::uint32_t>(v.bytes()),
                                    std::max(v.pointer_align, 1U), images_.parameters[p]});
      if (!is_local) continue;
      local.push_back(p);
      v.pointer = false;
      v.pointer_space = ptx::Space::generic;
      v.pointer_align = 0;
    }
    kernel.linkage = ptx::Linkage::visible;
    const SpecialRegisters values = load_environment();
    use_special_values(editor_, needs_, values);
    editor_.finish();
    if (!local.empty()) add_bases(kernel, local);
    return adapted;
  }

 private:
  SpecialRegisters load_environment() {
    SpecialRegisters values;
    if (own_.empty()) return values;
    ptx::Variable words;
    words.name = "wm_environment";
    words.space = ptx::Space::param;
    words.type = Type::b8;
    words.align = 4;
    words.shape = {std::uint64_t{kEnvironmentWords} * 4};
    const std::uint32_t parameter = editor_.add_parameter(words);
    for (const Special special : own_) {
      const auto n = static_cast<std::uint32_t>(special) - static_cast<std::uint32_t>(Special::envreg0);
      const build::Reg reg = editor_.add_register("%wm_env" + std::to_string(n), Type::b32);
      const Operand from = build::at(build::variable(Operand::Scope::parameter, parameter), std::int64_t{4} * n);
      editor_.emit(build::make(Opcode::ld, {ptx::Suffix::param}, {Type::b32}, {build::operand(reg), from}));
      values.emplace(special, reg);
    }
    return values;
  }

  // Every load of such a parameter is followed by adding the address of dynamic shared memory.
  void add_bases(Function& kernel, const std::vector<std::uint32_t>& local) const {
    FunctionEditor editor(kernel);
    while (!editor.at_end()) {
      const Instruction load = editor.current();
      editor.keep();
      const bool is_local = load.opcode == Opcode::ld && load.has(ptx::Suffix::param) &&
                            std::any_of(local.begin(), local.end(),
                                        [&](std::uint32_t p) { return names_parameter(load.operands[1], p); });
      if (!is_local) continue;
      const bool wide = ptx::bits(load.type()) == 64;
      const Type address = wide ? Type::u64 : Type::u32;
      const build::Reg base = editor.add_register("%wm_shared", wide ? Type::b64 : Type::b32);
      editor.emit(build::mov(base, build::variable(Operand::Scope::module, dynamic_shared_), address));
      Instruction sum = build::make(Opcode::add, {}, {wide ? Type::s64 : Type::s32},
                                    {load.operands[0], load.operands[0], build::operand(base)});
      sum.guard = load.guard;
      editor.emit(std::move(sum));
    }
    editor.finish();
  }

  FunctionEditor editor_;
  const KernelImages& images_;
  const std::uint32_t dynamic_shared_;
  const SpecialNeeds& needs_;
  const SpecialSet& own_;
};

bool is_dynamic_shared(const ptx::Variable& v) {
  return v.space == ptx::Space::shared && v.linkage == ptx::Linkage::external;
}

ptx::Variable dynamic_shared_variable() {
  ptx::Variable v;
  v.name = kDynamicShared;
  v.space = ptx::Space::shared;
  v.type = Type::b8;
  v.align = kSharedAlign;
  v.shape = {0};
  v.linkage = ptx::Linkage::external;
  return v;
}

std::optional<std::string> image_obstacle(const ptx::Module& module, const Function& kernel) {
  const auto images = find_images(module, kernel);
  return images ? std::nullopt : std::optional(images.error().what);
}

bool accesses_images(const Function& f) {
  return std::any_of(f.body.begin(), f.body.end(),
                     [](const Instruction& i) { return i.opcode >= Opcode::tex && i.opcode <= Opcode::suq; });
}

// Rewrites the images of all kernels, which are given by their functions' numbers.
Result<std::vector<KernelImages>> rewrite_all_images(ptx::Module& module) {
  std::set<ImageShape> written;
  for (const Function& f : module.functions) {
    if (!f.entry) continue;
    const auto images = find_images(module, f);
    if (!images) return images.error();
    written.insert(images->written.begin(), images->written.end());
  }
  auto complete = with_write_functions(std::move(module), written);
  if (!complete) return complete.error();
  module = *std::move(complete);
  std::vector<KernelImages> of_kernels(module.functions.size());
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].entry) continue;
    of_kernels[f] = *find_images(module, module.functions[f]);
    if (of_kernels[f].any()) rewrite_images(module, module.functions[f], of_kernels[f]);
  }
  remove_samplers(module);
  return of_kernels;
}

void remove_refused(PrintingModule& printing, std::vector<RefusedKernel>& refused) {
  ptx::Module& module = printing.module;
  std::vector<bool> removed(module.functions.size());
  for (std::uint32_t index = 0; index < module.functions.size(); ++index) {
    Function& f = module.functions[index];
    if (!f.entry) continue;
    auto reason = obstacle(f);
    if (!reason && has_other_prints(printing, index)) reason = kOtherPrints;
    if (!reason) reason = image_obstacle(module, f);
    if (!reason) reason = move_constant_parameters(f);
    if (!reason) continue;
    refused.push_back({f.name, *reason});
    removed[index] = true;
  }
  remove_functions(module, removed);
}

}  // namespace

Result<AdaptedModule> adapt_opencl(ptx::Module module) {
  AdaptedModule adapted;
  for (const Function& f : module.functions) {
    if (!f.entry && f.refusal) return Error{"function '" + f.name + "': " + f.refusal->what};
    if (!f.entry && accesses_images(f)) return Error{"function '" + f.name + "' accesses images that it is given"};
  }
  if (std::any_of(module.variables.begin(), module.variables.end(), is_dynamic_shared)) {
    return Error{"the module has dynamic shared memory of its own"};
  }
  // A function without a body is the driver's own, such as vprintf.
  for (Function& f : module.functions) {
    if (f.declaration && f.linkage == ptx::Linkage::internal) f.linkage = ptx::Linkage::external;
  }
  std::erase(module.targets, "texmode_independent");
  auto printing = with_print_functions(std::move(module));
  if (!printing) return printing.error();
  remove_refused(*printing, adapted.refused);
  module = std::move(printing->module);
  std::array<Special, kEnvironmentWords> environment{};
  for (std::uint32_t n = 0; n < kEnvironmentWords; ++n) environment[n] = environment_register(n);
  const auto images = rewrite_all_images(module);
  if (!images) return images.error();
  const auto needs = find_special_needs(module, environment);
  if (!needs) return needs.error();
  module.variables.push_back(dynamic_shared_variable());
  const auto shared = static_cast<std::uint32_t>(module.variables.size() - 1);
  pass_special_values(module, *needs);
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].entry) continue;
    adapted.kernels.push_back(
        KernelAdapter(module.functions[f], (*images)[f], shared, *needs, needs->by_function[f]).run());
  }
  if (adapted.kernels.empty() && !adapted.refused.empty()) {
    return Error{"kernel '" + adapted.refused.front().name + "': " + adapted.refused.front().reason};
  }
  adapted.module = std::move(module);
  return adapted;
}

}  // namespace wm::rewrite
