// The instructions by name; `and`, `or` and other C++ keywords carry a trailing underscore.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace wm::ptx {

enum class Opcode : std::uint8_t {
#define WM_OPCODE(enumerator, text) enumerator,
#include "ptx/opcode.def"
#undef WM_OPCODE
};

inline constexpr int kOpcodeCount =
    std::initializer_list<int>{
#define WM_OPCODE(...) 0,
#include "ptx/opcode.def"
#undef WM_OPCODE
    }
        .size();

// The name as written in PTX: "add", "cp.async.wait_group".
[[nodiscard]] std::string_view name(Opcode opcode);
[[nodiscard]] std::optional<Opcode> opcode_named(std::string_view name);

}  // namespace wm::ptx
