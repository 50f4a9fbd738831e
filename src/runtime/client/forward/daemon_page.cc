#include "runtime/client/forward/daemon_page.h"

namespace wm::forward {

namespace {

runtime::ControlPage unmanaged_page;
runtime::Board unmanaged_board;

}  // namespace

namespace detail {
std::atomic<runtime::ControlPage*> page{&unmanaged_page};
std::atomic<runtime::Board*> board{&unmanaged_board};
}  // namespace detail

bool is_managed() { return &page() != &unmanaged_page; }

void become_managed(runtime::ControlPage& page, runtime::Board& board) {
  detail::board.store(&board, std::memory_order_release);
  detail::page.store(&page, std::memory_order_release);
}

void become_unmanaged() {
  detail::page.store(&unmanaged_page, std::memory_order_relaxed);
  detail::board.store(&unmanaged_board, std::memory_order_relaxed);
}

}  // namespace wm::forward
