// The name under which a program has introduced itself, as text for tables, logs and JSON. Programs choose it, so that
// it may hold anything: control characters, and bytes that are no UTF-8, become U+FFFD.
#pragma once

#include <string>
#include <string_view>

#include "runtime/protocol/message.h"

namespace wm::runtime {

[[nodiscard]] std::string printable(std::string_view bytes);
[[nodiscard]] std::string program_name(const Hello& hello);

}  // namespace wm::runtime
