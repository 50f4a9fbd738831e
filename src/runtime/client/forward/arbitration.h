// This process's side of the arbitration: the page of the daemon, or, without one, a page of zeros on which every
// launch goes to the driver unchanged.
#pragma once

#include <atomic>
#include <cstdint>

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

// Whether the daemon has refused this process's goal, so that it must not use the GPU.
[[nodiscard]] bool is_denied();

// Connects to the daemon at $WARPMUX_ARBITER, the first time it is called. Without that variable the process stays
// unmanaged; if no daemon answers, it says so once.
void connect_to_arbiter();

// Asks the daemon for another priority of this process, from 0 to 100.
void ask_for_priority(int priority);

// Tells the thread that keeps the connection that the program has a context, so that its sets of SMs can be prepared.
void prepare_sms_soon();

// Tells the thread that keeps the connection that channel groups have come or gone.
void channel_groups_changed();

}  // namespace wm::forward
