#include "rewrite/compiler/repairs.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <vector>

namespace wm::rewrite {
namespace {

constexpr unsigned kBytes = 16;

bool is_unaligned(const llvm::LoadInst& load) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  return type != nullptr && type->getNumElements() == kBytes && type->getElementType()->isIntegerTy(8) &&
         load.getAlign() < kBytes;
}

void split(llvm::LoadInst& load) {
  llvm::IRBuilder<> builder(&load);
  auto* half = llvm::FixedVectorType::get(builder.getInt8Ty(), kBytes / 2);
  const auto part = [&](unsigned offset) {
    llvm::Value* from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), load.getPointerOperand(), offset);
    return builder.CreateAlignedLoad(half, from, llvm::commonAlignment(load.getAlign(), offset), load.isVolatile());
  };
  llvm::Value* low = part(0);
  llvm::Value* high = part(kBytes / 2);
  std::vector<int> all(kBytes);
  for (unsigned i = 0; i < kBytes; ++i) all[i] = static_cast<int>(i);
  load.replaceAllUsesWith(builder.CreateShuffleVector(low, high, all));
  load.eraseFromParent();
}

// The conversion takes 0 instead of the NaN: LLVM may assume anything of the result for the NaN.
void guard(llvm::CastInst& cast) {
  llvm::IRBuilder<> builder(&cast);
  llvm::Value* from = cast.getOperand(0);
  llvm::Value* zero = llvm::Constant::getNullValue(from->getType());
  cast.setOperand(0, builder.CreateSelect(builder.CreateFCmpUNO(from, from), zero, from));
}

}  // namespace

void split_unaligned_loads(llvm::Module& module) {
  std::vector<llvm::LoadInst*> loads;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load != nullptr && is_unaligned(*load)) loads.push_back(load);
    }
  }
  for (llvm::LoadInst* load : loads) split(*load);
}

void convert_nan_to_zero(llvm::Module& module) {
  std::vector<llvm::CastInst*> casts;
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!name.starts_with("_Z") || !name.contains("convert_") || !name.contains("_sat")) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) {
        casts.push_back(llvm::cast<llvm::CastInst>(&instruction));
      }
    }
  }
  for (llvm::CastInst* cast : casts) guard(*cast);
}

void align_table_of_pi(llvm::Module& module) {
  llvm::GlobalVariable* table = module.getNamedGlobal("PIBITS_TBL");
  const auto* bytes = table == nullptr || !table->hasInitializer()
                          ? nullptr
                          : llvm::dyn_cast<llvm::ConstantDataArray>(table->getInitializer());
  if (bytes == nullptr || !bytes->isString()) return;
  std::string padded = bytes->getRawDataValues().str();
  padded.resize(llvm::alignTo(padded.size(), kBytes));
  llvm::Constant* content = llvm::ConstantDataArray::getString(module.getContext(), padded, /*AddNull=*/false);
  auto* larger =
      new llvm::GlobalVariable(module, content->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                               content, "", table, llvm::GlobalValue::NotThreadLocal, table->getAddressSpace());
  larger->setAlignment(llvm::Align(kBytes));
  table->replaceAllUsesWith(larger);
  larger->takeName(table);
  table->eraseFromParent();
}

std::string recursive_functions(llvm::Module& module) {
  std::string lines;
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    if (!component.hasCycle()) continue;
    for (const llvm::CallGraphNode* node : *component) {
      if (node->getFunction() == nullptr) continue;
      lines += "error: the function '" + llvm::demangle(node->getFunction()->getName().str()) +
               "' calls itself, which OpenCL C does not allow\n";
    }
  }
  return lines;
}

}  // namespace wm::rewrite
