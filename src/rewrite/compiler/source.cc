#include "rewrite/compiler/source.h"

#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <sstream>

#include "rewrite/compile_request.h"

namespace wm::rewrite {
namespace {

constexpr const char* kMain = "program.cl";
constexpr const char* kHeaders = "/warpmux-headers";  // where the headers of clCompileProgram lie, in memory

std::string extension_list() {
  std::string list = "-cl-ext=-all";
  std::istringstream names(kCompiledExtensions);
  for (std::string name; names >> name;) list += ",+" + name;
  return list;
}

// Kernels are described by metadata, which -cl-kernel-arg-info completes with the names of parameters. Optimisation
// comes after linking.
std::vector<std::string> clang_arguments(const SourceText& source) {
  std::vector<std::string> words{"-triple",
                                 kTriple,
                                 "-target-cpu",
                                 source.target,
                                 "-x",
                                 "cl",
                                 "-emit-llvm-bc",
                                 "-O3",
                                 "-disable-llvm-passes",
                                 "-cl-std=CL1.2",
                                 "-resource-dir",
                                 WM_CLANG_RESOURCES,
                                 "-internal-isystem",
                                 WM_CLANG_RESOURCES "/include",
                                 "-finclude-default-header",
                                 "-fdeclare-opencl-builtins",
                                 "-cl-kernel-arg-info",
                                 "-D__OPENCL_VERSION__=120",
                                 extension_list()};
  words.insert(words.end(), source.arguments.begin(), source.arguments.end());
  if (!source.headers.empty()) words.insert(words.end(), {"-I", kHeaders});
  words.emplace_back(kMain);
  return words;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const SourceText& source) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto real = llvm::vfs::createPhysicalFileSystem();
  if (auto here = real->getCurrentWorkingDirectory()) (void)memory->setCurrentWorkingDirectory(*here);
  memory->addFile(kMain, 0, llvm::MemoryBuffer::getMemBuffer(source.text, kMain));
  for (const auto& [name, content] : source.headers) {
    memory->addFile(std::string(kHeaders) + "/" + name, 0, llvm::MemoryBuffer::getMemBuffer(content, name));
  }
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(std::move(real)));
  files->pushOverlay(memory);
  return files;
}

}  // namespace

std::unique_ptr<llvm::Module> compile_source(llvm::LLVMContext& context, const SourceText& source, std::string& log) {
  llvm::raw_string_ostream text(log);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  clang::TextDiagnosticPrinter printer(text, options.get());
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  const std::vector<std::string> arguments = clang_arguments(source);
  std::vector<const char*> words;
  for (const std::string& word : arguments) words.push_back(word.c_str());
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), words, compiler.getDiagnostics())) {
    return nullptr;
  }
  compiler.setVerboseOutputStream(text);
  compiler.createFileManager(files_of(source));
  compiler.createSourceManager(compiler.getFileManager());
  clang::EmitLLVMOnlyAction action(&context);
  if (!compiler.ExecuteAction(action) || compiler.getDiagnostics().hasErrorOccurred()) return nullptr;
  return action.takeModule();
}

}  // namespace wm::rewrite
