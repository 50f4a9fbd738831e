// A client's complete session, made from bytes: messages of every kind with names, events and chunks that are mostly
// near what exists, some of them invalid, sent to a session of the daemon over a device that computes nothing. After
// any messages the session ends and leaks nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wm::fuzz {

// True if nothing leaked.
bool run_session(std::span<const std::uint8_t> bytes);

}  // namespace wm::fuzz
