#include "rewrite/compiler/code.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include "rewrite/compiler/kernel_calls.h"
#include "rewrite/compiler/kernels.h"
#include "rewrite/compiler/printf.h"
#include "rewrite/compiler/repairs.h"
#include "rewrite/compiler/source.h"

namespace wm::rewrite {
namespace {

// Adds the functions of a library that the module needs. They are the module's own from then on.
Result<void> add_builtins(llvm::Module& module, llvm::Expected<std::unique_ptr<llvm::Module>> library) {
  if (!library) return Error{"the built-in functions cannot be read: " + llvm::toString(library.takeError())};
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  const bool failed = llvm::Linker::linkModules(
      module, std::move(*library), llvm::Linker::LinkOnlyNeeded, [](llvm::Module& m, const llvm::StringSet<>& added) {
        llvm::internalizeModule(
            m, [&added](const llvm::GlobalValue& v) { return !v.hasName() || !added.contains(v.getName()); });
      });
  if (failed) return Error{"the built-in functions cannot be linked"};
  return {};
}

Result<void> add_all_builtins(llvm::Module& module, const BuiltinLibraries& builtins) {
  const llvm::MemoryBufferRef own(builtins.own, "builtins");
  if (auto added = add_builtins(module, llvm::parseBitcodeFile(own, module.getContext())); !added) return added;
  auto file = llvm::MemoryBuffer::getFile(builtins.file);
  if (!file) return Error{builtins.file + ": " + file.getError().message()};
  return add_builtins(module, llvm::getOwningLazyBitcodeModule(std::move(*file), module.getContext()));
}

std::string missing_functions(const llvm::Module& module) {
  std::string lines;
  for (const llvm::Function& function : module) {
    const bool missing = function.isDeclaration() && !function.isIntrinsic() && !function.use_empty();
    if (!missing || function.getName() == "vprintf") continue;
    lines += "error: the function '" + llvm::demangle(function.getName().str()) +
             "' is neither defined nor a built-in function of this compiler\n";
  }
  return lines;
}

// Only kernels keep their names. The built-in functions have variables and functions of their own, whose names a
// program may use for something else.
void hide_names(llvm::Module& module) {
  llvm::internalizeModule(module, [](const llvm::GlobalValue& value) {
    const auto* function = llvm::dyn_cast<llvm::Function>(&value);
    return function != nullptr && (is_kernel(*function) || function->isDeclaration());
  });
}

// A function is compiled for the same GPU as its callers, so that it can be inlined.
void unify_targets(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
}

// The pass that makes offsets of a table's addresses leaves a table that names itself, which LLVM's printer of PTX
// refuses.
bool is_for_ptx(llvm::StringRef pass) { return pass != "RelLookupTableConverterPass"; }

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef pass, auto&&) { return is_for_ptx(pass); });
  llvm::PassBuilder passes(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

Result<std::string> emit(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return Error{"LLVM does not write PTX"};
  }
  passes.run(module);
  return std::string(text);
}

}  // namespace

Result<std::string> make_ptx(std::unique_ptr<llvm::Module> module, const BuiltinLibraries& builtins,
                             const std::string& target) {
  if (const std::string refusal = lower_printf(*module); !refusal.empty()) return Error{"error: " + refusal + "\n"};
  hide_names(*module);
  if (auto added = add_all_builtins(*module, builtins); !added) return added.error();
  if (std::string lines = missing_functions(*module); !lines.empty()) return Error{std::move(lines)};
  if (std::string lines = recursive_functions(*module); !lines.empty()) return Error{std::move(lines)};
  separate_called_kernels(*module);
  convert_nan_to_zero(*module);
  align_table_of_pi(*module);
  unify_targets(*module);
  std::string error;
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (backend == nullptr) return Error{"this LLVM has no target NVPTX: " + error};
  const std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      kTriple, target, "", llvm::TargetOptions(), std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setDataLayout(machine->createDataLayout());
  optimise(*module, *machine);
  split_unaligned_loads(*module);
  return emit(*module, *machine);
}

}  // namespace wm::rewrite
