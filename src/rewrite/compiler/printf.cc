#include "rewrite/compiler/printf.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace wm::rewrite {
namespace {

llvm::Value* as_printed(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isPointerTy()) return builder.CreateAddrSpaceCast(value, builder.getPtrTy());
  if (type->isFloatTy() || type->isHalfTy()) return builder.CreateFPExt(value, builder.getDoubleTy());
  return value;
}

// The arguments lie one after the other in a structure on the stack, as NVIDIA's compilers place them. Conversions of
// vectors are adapted with the PTX.
llvm::Value* argument_block(llvm::IRBuilder<>& builder, llvm::CallInst& call) {
  std::vector<llvm::Value*> values;
  std::vector<llvm::Type*> types;
  for (unsigned i = 1; i < call.arg_size(); ++i) {
    values.push_back(as_printed(builder, call.getArgOperand(i)));
    types.push_back(values.back()->getType());
  }
  if (values.empty()) return llvm::ConstantPointerNull::get(builder.getPtrTy());
  llvm::StructType* block = llvm::StructType::get(call.getContext(), types);
  llvm::BasicBlock& entry = call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  llvm::Value* place = at_entry.CreateAlloca(block, nullptr, "printf.arguments");
  for (unsigned i = 0; i < values.size(); ++i) {
    builder.CreateStore(values[i], builder.CreateStructGEP(block, place, i));
  }
  return place;
}

}  // namespace

std::string lower_printf(llvm::Module& module) {
  llvm::Function* printf = module.getFunction("printf");
  if (printf == nullptr || !printf->isDeclaration()) return {};
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : printf->users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call == nullptr || call->getCalledOperand() != printf) return "the address of printf is taken";
    calls.push_back(call);
  }
  llvm::IRBuilder<> builder(module.getContext());
  const llvm::FunctionCallee vprintf = module.getOrInsertFunction(
      "vprintf", llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy(), builder.getPtrTy()}, false));
  for (llvm::CallInst* call : calls) {
    builder.SetInsertPoint(call);
    llvm::Value* block = argument_block(builder, *call);
    llvm::Value* format = builder.CreateAddrSpaceCast(call->getArgOperand(0), builder.getPtrTy());
    // CUDA's function returns the number of arguments, OpenCL's 0; both a negative number on failure.
    llvm::Value* printed = builder.CreateCall(vprintf, {format, block});
    call->replaceAllUsesWith(builder.CreateAShr(printed, 31));
    call->eraseFromParent();
  }
  printf->eraseFromParent();
  return {};
}

}  // namespace wm::rewrite
