#include "ptx/ir.h"

#include <algorithm>

#include "ptx/opaque.h"

namespace wm::ptx {

std::uint64_t Variable::bytes() const {
  std::uint64_t size = static_cast<std::uint64_t>(ptx::bytes(type)) * vector;
  if (space == Space::global && is_opaque(type)) size = kTextureHeaderBytes;
  for (const std::uint64_t n : shape) size *= n;
  return size;
}

bool Instruction::has(Suffix s) const { return std::find(suffixes.begin(), suffixes.end(), s) != suffixes.end(); }

Space Instruction::space() const {
  for (const Suffix s : suffixes) {
    switch (s) {
      case Suffix::global:
        return Space::global;
      case Suffix::shared:
      case Suffix::shared_cta:
      case Suffix::shared_cluster:
        return Space::shared;
      case Suffix::local:
        return Space::local;
      case Suffix::param:
      case Suffix::param_entry:
      case Suffix::param_func:
        return Space::param;
      case Suffix::const_:
        return Space::constant;
      default:
        break;
    }
  }
  return Space::generic;
}

int Instruction::vector_width() const {
  if (has(Suffix::v2)) return 2;
  if (has(Suffix::v4)) return 4;
  return has(Suffix::v8) ? 8 : 1;
}

const Function* Module::entry(const std::string& name) const {
  const auto at =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.entry && f.name == name; });
  return at == functions.end() ? nullptr : &*at;
}

}  // namespace wm::ptx
