// clang over one program: first its preprocessor, then its parser, on what the first left.
//
// Preprocessing expands the program's own macros and keeps the names of OpenCL's (CLK_LOCAL_MEM_FENCE, M_PI_F,
// as_float), which the device's compiler expands. After it every token of the program lies in one text, so that edits
// need not consider macros.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/build_options.h"
#include "rewrite/program.h"

namespace clang {
class ASTContext;
}

namespace wm::rewrite {

struct Preprocessed {
  std::string text;
  std::vector<std::string> files;  // files of the host that the program included
};

class Frontend {
 public:
  Frontend();
  ~Frontend();
  Frontend(const Frontend&) = delete;
  Frontend& operator=(const Frontend&) = delete;

  // An error is the first that clang reports, with the program's own line.
  Result<Preprocessed> preprocess(const Request& request, const BuildOptions& options,
                                  std::vector<Assumption>& assumptions);
  Result<void> parse(const std::string& text, const Request& request, const BuildOptions& options,
                     const std::function<void(clang::ASTContext&)>& look);

 private:
  // OpenCL's macros as clang's header defines them for a device: name and text.
  using Macros = std::map<std::string, std::string>;
  const Macros* opencl_macros(const std::vector<std::string>& arguments);

  std::map<std::vector<std::string>, Macros> macros_;  // by the arguments that decide them
};

}  // namespace wm::rewrite
