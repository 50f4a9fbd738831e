#include "ptx/parse.h"

#include <utility>

#include "ptx/module_parser.h"

namespace wm::ptx {

Result<Module> parse(std::string_view text, std::string file, OnUnsupported unsupported) {
  try {
    return ModuleParser(text, std::move(file), unsupported).parse();
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

}  // namespace wm::ptx
