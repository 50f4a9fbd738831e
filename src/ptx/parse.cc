#include "ptx/parse.h"

#include <utility>

#include "ptx/module_parser.h"

namespace wm::ptx {

Result<Module> parse(std::string_view text, std::string file) {
  try {
    return ModuleParser(text, std::move(file)).parse();
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

}  // namespace wm::ptx
