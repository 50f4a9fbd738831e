#include "rewrite/ptx/printed_vectors.h"

#include <algorithm>
#include <array>
#include <string>

#include "rewrite/ptx/block_dependence.h"
#include "rewrite/ptx/operands.h"

namespace wm::rewrite {
namespace {

constexpr std::string_view kFlagsWidthPrecision = "-+ #0123456789.*";
constexpr std::array<std::string_view, 5> kVectorSizes = {"2", "3", "4", "8", "16"};

bool is_string_of_vectors(const ptx::Variable& v) {
  return has_vector_conversion({reinterpret_cast<const char*>(v.initial.data()), v.initial.size()});
}

}  // namespace

bool has_vector_conversion(std::string_view format) {
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    at = format.find_first_not_of(kFlagsWidthPrecision, at + 1);
    if (at == std::string_view::npos) return false;
    const char conversion = format[at++];
    if (conversion != 'v') continue;
    const std::size_t end = std::min(format.find_first_not_of("0123456789", at), format.size());
    const std::string_view size = format.substr(at, end - at);
    if (std::find(kVectorSizes.begin(), kVectorSizes.end(), size) != kVectorSizes.end()) return true;
  }
  return false;
}

bool prints_vectors(const ptx::Module& module, std::uint32_t kernel) {
  const auto reached = reachable_functions(module, kernel);
  const bool prints =
      std::any_of(reached.begin(), reached.end(), [&](auto f) { return module.functions[f].name == "vprintf"; });
  if (!prints) return false;
  bool found = false;
  for (const std::uint32_t f : reached) {
    for (const ptx::Instruction& i : module.functions[f].body) {
      visit_operands(i, [&](const ptx::Operand& o) {
        found = found || (is_module_variable(o) && is_string_of_vectors(module.variables[o.index]));
      });
    }
  }
  return found;
}

}  // namespace wm::rewrite
