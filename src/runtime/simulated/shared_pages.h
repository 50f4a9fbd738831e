// Pages of the program as pages of a shared file, so that another process can access them at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace wm::runtime {

// The complete pages of the host that hold a range of bytes.
struct HostPages {
  std::byte* first = nullptr;
  std::uint64_t bytes = 0;

  static HostPages around(void* host, std::uint64_t bytes);
  static std::uint64_t page_bytes();
  // Whether the process has memory at all of the addresses, as far as can be told.
  static bool are_mapped(void* host, std::uint64_t bytes);
  [[nodiscard]] bool overlaps(const HostPages& other) const {
    return first < other.first + other.bytes && other.first < first + bytes;
  }
};

// Replaces the pages by those of `file` from `offset`, a multiple of a page; `copy` is a second mapping of these. The
// contents stay. No other thread may write to the pages meanwhile. An error: they are the calling thread's stack, or
// cannot be replaced; then they are as before.
Result<void> share_pages(const HostPages& pages, int file, std::uint64_t offset, std::byte* copy);
// Makes the pages private again, with the contents that they have.
Result<void> unshare_pages(const HostPages& pages);

}  // namespace wm::runtime
