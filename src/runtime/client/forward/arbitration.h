// The connection of this process to the daemon, and the thread that keeps it.
#pragma once

namespace wm::forward {

// Whether the daemon has refused this process's goal, so that it must not use the GPU.
[[nodiscard]] bool is_denied();

// Connects to the daemon at $WARPMUX_ARBITER, the first time it is called. Without that variable the process stays
// unmanaged; if no daemon answers, it says so once.
void connect_to_arbiter();

// Asks the daemon for another priority of this process, from 0 to 100.
void ask_for_priority(int priority);

// Asks the daemon for another goal of this process. False: it is none.
[[nodiscard]] bool ask_for_goal(int kind, double value);

// Tells the thread that keeps the connection that the program has a context, so that its sets of SMs can be prepared.
void prepare_sms_soon();

// Tells the thread that keeps the connection that channel groups have come or gone.
void channel_groups_changed();

}  // namespace wm::forward
