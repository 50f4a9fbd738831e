// The memory that this process shares with the daemon, or, without a daemon, pages of zeros on which every launch goes
// to the driver unchanged.
#pragma once

#include <atomic>

#include "runtime/protocol/control_page.h"

namespace wm::forward {

namespace detail {
extern std::atomic<runtime::ControlPage*> page;
extern std::atomic<runtime::Board*> board;
}  // namespace detail

// Pages stay mapped until the process ends, so a reference remains valid when the daemon goes.
[[nodiscard]] inline runtime::ControlPage& page() { return *detail::page.load(std::memory_order_relaxed); }
[[nodiscard]] inline runtime::Board& board() { return *detail::board.load(std::memory_order_relaxed); }

// Whether a daemon arbitrates this process now.
[[nodiscard]] bool is_managed();

void become_managed(runtime::ControlPage& page, runtime::Board& board);
void become_unmanaged();

}  // namespace wm::forward
