// The instructions by name; `and` and its like carry a trailing underscore because C++ owns the word.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wm::ptx {

enum class Opcode : std::uint8_t {
#define WM_OPCODE(enumerator, text) enumerator,
#include "ptx/opcode.def"
#undef WM_OPCODE
};

inline constexpr int kOpcodeCount = 0
#define WM_OPCODE(...) +1
#include "ptx/opcode.def"
#undef WM_OPCODE
    ;

// As written in PTX: "add", "cp.async.wait_group".
[[nodiscard]] std::string_view name(Opcode opcode);
[[nodiscard]] std::optional<Opcode> opcode_named(std::string_view name);

}  // namespace wm::ptx
