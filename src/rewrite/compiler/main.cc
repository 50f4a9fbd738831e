// wm-compile: reads requests on stdin, writes replies on stdout, a frame each, until stdin ends.
//
// A program of its own, so that clang's code is in no daemon and beside no other LLVM. `wm-compile --version` says
// which clang it is.
#include <clang/Basic/Version.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>

#include "rewrite/compiler/answer.h"
#include "rewrite/frames.h"

namespace {

using namespace wm::rewrite;

// LLVM ends the process after an error that it cannot recover from. The build log gets the first line of its message;
// the others are LLVM's internal state.
void report_fatal(void*, const char* reason, bool) {
  CompileReply reply;
  const std::string text = reason;
  reply.log = "error: the compiler failed: " + text.substr(0, text.find('\n')) + "\n";
  write_frame(stdout, encode(reply));
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("wm-compile, %s\n", clang::getClangFullVersion().c_str());
    return 0;
  }
  if (argc > 1) {
    std::fputs("wm-compile: takes no arguments but --version; it is started by wm serve\n", stderr);
    return 2;
  }
  llvm::install_fatal_error_handler(report_fatal);
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  while (const auto bytes = read_frame(stdin)) {
    const auto request = decode_compile_request(*bytes);
    CompileReply reply;
    if (request) {
      reply = answer(*request);
    } else {
      reply.log = request.error().what;
    }
    if (!write_frame(stdout, encode(reply))) return 1;
  }
  return 0;
}
