#include "rewrite/compiler/kernel_calls.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "rewrite/compiler/kernels.h"

namespace wm::rewrite {
namespace {

std::vector<llvm::CallInst*> calls_of(llvm::Function& function) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : function.users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call != nullptr && call->getCalledOperand() == &function) calls.push_back(call);
  }
  return calls;
}

}  // namespace

void separate_called_kernels(llvm::Module& module) {
  std::vector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (is_kernel(function) && !calls_of(function).empty()) kernels.push_back(&function);
  }
  for (llvm::Function* kernel : kernels) {
    const std::vector<llvm::CallInst*> calls = calls_of(*kernel);
    llvm::ValueToValueMapTy values;
    llvm::Function* copy = llvm::CloneFunction(kernel, values);
    copy->setName(kernel->getName() + ".called");
    copy->setLinkage(llvm::GlobalValue::InternalLinkage);
    copy->setCallingConv(llvm::CallingConv::C);
    copy->clearMetadata();
    for (llvm::CallInst* call : calls) {
      call->setCalledFunction(copy);
      call->setCallingConv(llvm::CallingConv::C);
    }
  }
}

}  // namespace wm::rewrite
