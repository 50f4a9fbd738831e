// The size of variables whose content PTX does not define.
#pragma once

#include <cstdint>

#include "ptx/type.h"

namespace wm::ptx {

// Device memory of a `.texref` or `.surfref` variable: the executor keeps a texture header there
// (exec/texture_header.h).
inline constexpr std::uint64_t kTextureHeaderBytes = 384;

[[nodiscard]] constexpr bool is_opaque(Type type) { return type >= Type::texref && type <= Type::surfref; }

}  // namespace wm::ptx
