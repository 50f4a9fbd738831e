#include "cli/input/large_pages.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace wm::cli {

void use_large_pages() {
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
  constexpr int kBytes = 64 << 20;
  constexpr std::size_t kPiece = 64 << 10;  // small enough to come from the heap
  constexpr std::size_t kPieces = 1024;     // more than the free space of a new heap
  const auto heap_end = [] { return reinterpret_cast<std::uintptr_t>(sbrk(0)); };
  const std::uintptr_t before = heap_end();
  if (mallopt(M_TOP_PAD, kBytes) == 0) return;
  {
    std::vector<std::unique_ptr<std::byte[]>> pieces;
    while (heap_end() == before && pieces.size() < kPieces)
      pieces.push_back(std::make_unique_for_overwrite<std::byte[]>(kPiece));
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = (before + page - 1) / page * page;
  // This is a hint; where the kernel ignores it, pages stay small.
  if (heap_end() > from) static_cast<void>(madvise(reinterpret_cast<void*>(from), heap_end() - from, MADV_HUGEPAGE));
#endif
}

}  // namespace wm::cli
