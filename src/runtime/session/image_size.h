// The bytes that an image takes, for the limits on device memory.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/protocol/message.h"

namespace wm::runtime {

// The size with the pitches of the request; nothing where it exceeds 64 bits. Elements of an unknown format count as 16
// bytes, the largest there are.
std::optional<std::uint64_t> image_bytes(const CreateImage& m);

}  // namespace wm::runtime
