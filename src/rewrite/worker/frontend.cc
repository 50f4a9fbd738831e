#include "rewrite/worker/frontend.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <set>

#include "rewrite/worker/conditions.h"

namespace wm::rewrite {
namespace {

constexpr const char* kMain = "program.cl";
constexpr const char* kHeaders = "/warpmux-headers";  // where the headers of clCompileProgram lie, in memory
constexpr const char* kBaseHeader = "opencl-c-base.h";

// Keeps the first error and where it stood.
class FirstError final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || found_) return;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    Error error{std::string(text), {}};
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (place.isValid()) error.where = {place.getFilename(), place.getLine(), place.getColumn()};
    }
    found_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& found() const { return found_; }

 private:
  std::optional<Error> found_;
};

std::vector<std::string> shared_arguments(const Request& request, const BuildOptions& options) {
  std::vector<std::string> words{"-triple", request.device.triple, "-x", "cl", "-fsyntax-only"};
  words.push_back("-cl-std=" + (options.standard.empty() ? request.device.language : options.standard));
  words.insert(words.end(), {"-resource-dir", WM_CLANG_RESOURCES, "-internal-isystem", WM_CLANG_RESOURCES "/include"});
  if (!request.device.extensions.empty()) {
    std::set<std::string> names(request.device.extensions.begin(), request.device.extensions.end());
    // In OpenCL C 3.0 clang requires both members of each of these pairs.
    for (const auto& [extension, feature] : {std::pair{"cl_khr_fp64", "__opencl_c_fp64"},
                                             std::pair{"cl_khr_3d_image_writes", "__opencl_c_3d_image_writes"}}) {
      if (names.contains(extension)) names.insert(feature);
      if (names.contains(feature)) names.insert(extension);
    }
    std::string list = "-cl-ext=-all";
    for (const std::string& name : names) list += ",+" + name;
    words.push_back(list);
  }
  words.insert(words.end(), options.language.begin(), options.language.end());
  return words;
}

// One run of clang over `text` with `arguments`.
class Run {
 public:
  Run(const std::string& text, const Request& request, std::vector<std::string> arguments)
      : arguments_(std::move(arguments)) {
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    auto real = llvm::vfs::createPhysicalFileSystem();
    if (!request.directory.empty()) (void)real->setCurrentWorkingDirectory(request.directory);
    if (auto here = real->getCurrentWorkingDirectory()) (void)memory->setCurrentWorkingDirectory(*here);
    memory->addFile(kMain, 0, llvm::MemoryBuffer::getMemBuffer(text, kMain));
    for (const auto& [name, content] : request.headers) {
      memory->addFile(std::string(kHeaders) + "/" + name, 0, llvm::MemoryBuffer::getMemBuffer(content, name));
    }
    auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(std::move(real)));
    files->pushOverlay(memory);
    compiler_.createDiagnostics(&errors_, /*ShouldOwnClient=*/false);
    arguments_.emplace_back(kMain);
    std::vector<const char*> words;
    words.reserve(arguments_.size());
    for (const std::string& word : arguments_) words.push_back(word.c_str());
    clang::CompilerInvocation::CreateFromArgs(compiler_.getInvocation(), words, compiler_.getDiagnostics());
    compiler_.getDiagnosticOpts().ShowCarets = false;  // nor the count of errors: stderr belongs to the application
    compiler_.createFileManager(files);
    compiler_.createSourceManager(compiler_.getFileManager());
  }

  Result<void> execute(clang::FrontendAction& action) {
    const bool done = !errors_.found() && compiler_.ExecuteAction(action);
    if (errors_.found()) return *errors_.found();
    if (!done) return Error{"clang could not read the program"};
    return {};
  }

  clang::CompilerInstance& compiler() { return compiler_; }

 private:
  std::vector<std::string> arguments_;
  FirstError errors_;
  clang::CompilerInstance compiler_;
};

// Reads an empty program for the header's macros.
class ListMacros final : public clang::PreprocessorFrontendAction {
 public:
  explicit ListMacros(std::map<std::string, std::string>& out) : out_(out) {}

 private:
  void ExecuteAction() override {
    clang::Preprocessor& pp = getCompilerInstance().getPreprocessor();
    pp.EnterMainSourceFile();
    clang::Token token;
    do pp.Lex(token);
    while (token.isNot(clang::tok::eof));
    for (const auto& [name, state] : pp.macros()) {
      const clang::MacroInfo* macro = pp.getMacroInfo(name);
      if (macro == nullptr || macro->isBuiltinMacro()) continue;
      if (!pp.getSourceManager().getFilename(macro->getDefinitionLoc()).ends_with(kBaseHeader)) continue;
      std::string text;
      for (const clang::Token& part : macro->tokens()) text += (text.empty() ? "" : " ") + pp.getSpelling(part);
      out_.emplace(name->getName().str(), macro->isFunctionLike() ? std::string{} : text);
    }
  }

  std::map<std::string, std::string>& out_;
};

class Print final : public clang::PreprocessorFrontendAction {
 public:
  Print(std::string& text, const std::set<std::string>& own, UsedMacros& used_macros)
      : text_(text), own_(own), used_macros_(used_macros) {}

 private:
  void ExecuteAction() override {
    clang::Preprocessor& pp = getCompilerInstance().getPreprocessor();
    pp.addPPCallbacks(std::make_unique<Conditions>(pp, own_, used_macros_));
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = true;
    options.ShowLineMarkers = true;
    options.UseLineDirectives = true;
    llvm::raw_string_ostream out(text_);
    clang::DoPrintPreprocessedInput(pp, &out, options);
  }

  std::string& text_;
  const std::set<std::string>& own_;
  UsedMacros& used_macros_;
};

class InspectAction final : public clang::ASTFrontendAction {
 public:
  explicit InspectAction(const std::function<void(clang::ASTContext&)>& inspect) : inspect_(inspect) {}

 private:
  class Consumer final : public clang::ASTConsumer {
   public:
    explicit Consumer(const std::function<void(clang::ASTContext&)>& inspect) : inspect_(inspect) {}
    void HandleTranslationUnit(clang::ASTContext& context) override {
      if (!context.getDiagnostics().hasErrorOccurred()) inspect_(context);
    }

   private:
    const std::function<void(clang::ASTContext&)>& inspect_;
  };

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(inspect_);
  }

  const std::function<void(clang::ASTContext&)>& inspect_;
};

// Removes the lines about built-in buffers that clang's printer writes before the program.
void drop_preamble(std::string& text) {
  const std::string begin = std::string("#line 1 \"") + kMain + "\"\n";
  const std::size_t options = text.find("#line 1 \"<command line>\"\n");
  const std::size_t program = options == std::string::npos ? options : text.find(begin, options);
  if (program != std::string::npos) text.erase(0, program);
}

// The macros that the build options define or undefine.
std::set<std::string> names_of(const std::vector<std::string>& preprocessor) {
  std::set<std::string> names;
  for (const std::string& word : preprocessor) {
    if (word.starts_with("-D") || word.starts_with("-U")) names.insert(word.substr(2, word.find_first_of("=(") - 2));
  }
  return names;
}

std::vector<std::string> host_files(const clang::SourceManager& sources) {
  std::set<std::string> names;
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    llvm::SmallString<256> name = file->first.getName();
    if (name == kMain || name.starts_with(kHeaders)) continue;
    (void)sources.getFileManager().getVirtualFileSystem().makeAbsolute(name);
    names.insert(std::string(name));
  }
  return {names.begin(), names.end()};
}

}  // namespace

Frontend::Frontend() = default;
Frontend::~Frontend() = default;

const Frontend::Macros* Frontend::opencl_macros(const std::vector<std::string>& arguments) {
  auto found = macros_.find(arguments);
  if (found == macros_.end()) {
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"-finclude-default-header", "-fdeclare-opencl-builtins"});
    Macros macros;
    ListMacros list(macros);
    Run run("", {}, std::move(words));
    if (!run.execute(list)) return nullptr;
    found = macros_.emplace(arguments, std::move(macros)).first;
  }
  return &found->second;
}

Result<Preprocessed> Frontend::preprocess(const Request& request, const BuildOptions& options,
                                          std::vector<Assumption>& assumptions) {
  const std::vector<std::string> shared = shared_arguments(request, options);
  const Macros* macros = opencl_macros(shared);
  if (macros == nullptr) return Error{std::string("clang does not read its ") + kBaseHeader + " with these options"};
  const std::set<std::string> own = names_of(options.preprocessor);
  std::set<std::string> valued;  // macros whose value a condition needs
  for (;;) {
    std::vector<std::string> words = shared;
    for (const auto& [name, value] : *macros) {
      words.push_back("-D" + name + "=" + (valued.contains(name) ? value : name));
    }
    words.insert(words.end(), {"-U__SPIR__", "-U__SPIR64__", "-U__SPIR32__"});
    for (const std::string& macro : request.device.undefined) words.push_back("-U" + macro);
    for (const std::string& macro : request.device.macros) {
      words.insert(words.end(), {"-U" + macro.substr(0, macro.find('=')), "-D" + macro});
    }
    for (const std::string& word : options.preprocessor) words.push_back(word);
    if (!request.headers.empty()) words.insert(words.end(), {"-I", kHeaders});
    Preprocessed out;
    UsedMacros used_macros;
    Print print(out.text, own, used_macros);
    Run run(request.source, request, std::move(words));
    const Result<void> done = run.execute(print);
    bool again = false;
    for (const std::string& name : used_macros.values) {
      const auto macro = macros->find(name);
      if (macro != macros->end() && !macro->second.empty()) again = valued.insert(name).second || again;
    }
    if (again) continue;
    assumptions.clear();
    for (const auto& [name, assumption] : used_macros.assumptions) assumptions.push_back(assumption);
    if (!done) return done.error();
    drop_preamble(out.text);
    out.files = host_files(run.compiler().getSourceManager());
    return out;
  }
}

Result<void> Frontend::parse(const std::string& text, const Request& request, const BuildOptions& options,
                             const std::function<void(clang::ASTContext&)>& inspect) {
  std::vector<std::string> words = shared_arguments(request, options);
  words.insert(words.end(), {"-finclude-default-header", "-fdeclare-opencl-builtins"});
  Request bare;
  bare.device = request.device;
  InspectAction action(inspect);
  return Run(text, bare, std::move(words)).execute(action);
}

}  // namespace wm::rewrite
