// A client's whole conversation, made from bytes: messages of every kind with names, slots and chunks that are mostly
// near what exists, some of them nonsense, told to a session of the daemon over a device that computes nothing.
// Whatever is said, the session ends and leaves nothing behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wm::fuzz {

// True: nothing is left of it.
bool run_session(std::span<const std::uint8_t> bytes);

}  // namespace wm::fuzz
