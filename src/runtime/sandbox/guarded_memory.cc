#include "runtime/sandbox/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace wm::runtime::sandbox {
namespace {

// Bytes on each side: a 32-bit index of 8-byte numbers does not reach beyond them. Only addresses are reserved.
constexpr std::size_t kGuard = std::size_t{1} << 35;
constexpr std::size_t kAlignment = 128;  // bytes, as of double16

}  // namespace

GuardedMemory::GuardedMemory(std::uint64_t size) : size_(size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t aligned = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t pages = (aligned + page - 1) / page * page;
  mapped_ = kGuard + pages + kGuard;
  void* at = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;
  mapping_ = static_cast<std::byte*>(at);
  if (pages == 0 || ::mprotect(mapping_ + kGuard, pages, PROT_READ | PROT_WRITE) == 0)
    data_ = mapping_ + kGuard + pages - aligned;
}

GuardedMemory::~GuardedMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

}  // namespace wm::runtime::sandbox
