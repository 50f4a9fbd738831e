// Requests and replies as bytes, for the pipe to the worker and for the cache's files.
//
// Little-endian numbers and counted strings after a version; reading checks every length, so that an incomplete or
// foreign file is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rewrite/program.h"

namespace wm::rewrite {

std::string encode(const Request& request);
std::string encode(const Reply& reply);
Result<Request> decode_request(std::string_view bytes);
Result<Reply> decode_reply(std::string_view bytes);

// A frame on the pipe: its length in four bytes, then the bytes.
inline constexpr std::uint32_t kMaxFrame = 1U << 28;

// FNV-1a, 64 bits: names cache files and tells whether an included file is still the one it was.
std::uint64_t digest(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace wm::rewrite
