#include "rewrite/compiler/answer.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "rewrite/compiler/builtins_text.h"
#include "rewrite/compiler/code.h"
#include "rewrite/compiler/kernels.h"
#include "rewrite/compiler/options.h"
#include "rewrite/compiler/source.h"

namespace wm::rewrite {
namespace {

using Outcome = CompileReply::Outcome;
using Kind = CompileRequest::Kind;

// Errors of linking and of the code generator.
class LogErrors final : public llvm::DiagnosticHandler {
 public:
  explicit LogErrors(std::string& log) : log_(log) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    HasErrors = true;
    llvm::raw_string_ostream text(log_);
    llvm::DiagnosticPrinterRawOStream printer(text);
    text << "error: ";
    info.print(printer);
    text << "\n";
    return true;
  }

 private:
  std::string& log_;
};

std::string bitcode_of(const llvm::Module& module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(module, out);
  return bytes;
}

// Compiled once for each GPU; a process serves one.
const std::string& own_builtins(const std::string& target, std::string& log) {
  static std::string bitcode, made_for;
  if (made_for != target) {
    llvm::LLVMContext context;
    const auto module = compile_source(context, {kBuiltinsText, {}, {"-DWM_BUILTINS"}, target}, log);
    bitcode = module ? bitcode_of(*module) : std::string();
    made_for = target;
  }
  return bitcode;
}

std::unique_ptr<llvm::Module> link_objects(llvm::LLVMContext& context, const std::vector<std::string>& objects,
                                           std::string& log) {
  auto linked = std::make_unique<llvm::Module>("program", context);
  llvm::Linker linker(*linked);
  for (const std::string& object : objects) {
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(object, "object"), context);
    if (!module) {
      log += "error: an object cannot be read: " + llvm::toString(module.takeError()) + "\n";
      return nullptr;
    }
    if (linked->getTargetTriple().empty()) {
      linked->setTargetTriple((*module)->getTargetTriple());
      linked->setDataLayout((*module)->getDataLayout());
    }
    if (linker.linkInModule(std::move(*module))) return nullptr;
  }
  return linked;
}

void finish(std::unique_ptr<llvm::Module> module, const CompileRequest& request, CompileReply& reply) {
  llvm::LLVMContext& context = module->getContext();
  reply.kernels = kernels_of(*module);
  reply.log += unsupported_parameters(reply.kernels);
  const BuiltinLibraries builtins{own_builtins(request.target, reply.log), request.library};
  if (builtins.own.empty()) reply.log += "error: the compiler's own built-in functions do not compile\n";
  if (reply.log.find("error: ") != std::string::npos) return;
  auto code = make_ptx(std::move(module), builtins, request.target);
  if (!code) reply.log += code.error().what;
  if (!code || context.getDiagHandlerPtr()->HasErrors) return;
  reply.code = *std::move(code);
  reply.outcome = Outcome::executable;
}

}  // namespace

CompileReply answer(const CompileRequest& request) {
  CompileReply reply;
  const CompilerOptions options = read_compiler_options(request.kind, request.options);
  if (!options.refusal.empty()) {
    reply.outcome = Outcome::invalid_options;
    reply.log = "error: " + options.refusal + "\n";
    return reply;
  }
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<LogErrors>(reply.log));
  std::unique_ptr<llvm::Module> module =
      request.kind == Kind::link
          ? link_objects(context, request.objects, reply.log)
          : compile_source(context, {request.source, request.headers, options.arguments, request.target}, reply.log);
  if (!module) return reply;
  if (request.kind == Kind::compile || options.library) {
    reply.code = bitcode_of(*module);
    reply.outcome = options.library ? Outcome::library : Outcome::object;
    return reply;
  }
  finish(std::move(module), request, reply);
  return reply;
}

}  // namespace wm::rewrite
