#include "cli/input/ptx_module.h"

#include "ptx/contraction.h"
#include "ptx/parse.h"

namespace wm::cli {

Result<ptx::Module> load_ptx(std::string_view text, const std::string& file, std::string_view fmad) {
  if (fmad != "on" && fmad != "off") return Error{"--fmad takes on or off, not '" + std::string(fmad) + "'"};
  auto module = ptx::parse(text, file, ptx::OnUnsupported::refuse_function);
  if (!module || fmad == "off") return module;
  return ptx::contracted(*std::move(module));
}

}  // namespace wm::cli
