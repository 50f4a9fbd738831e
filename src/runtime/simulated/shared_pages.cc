#include "runtime/simulated/shared_pages.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace wm::runtime {

namespace {

constexpr std::uint64_t kFrames = 64U << 10;  // stack that the functions called from here may use

Error failed(const char* what) { return {std::string(what) + ": " + std::strerror(errno)}; }

}  // namespace

std::uint64_t HostPages::page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

HostPages HostPages::around(void* host, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  const std::uint64_t page = page_bytes(), before = address % page;
  return {static_cast<std::byte*>(host) - before, (before + bytes + page - 1) / page * page};
}

bool HostPages::are_mapped(void* host, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  const std::uint64_t last = ~std::uintptr_t{0} - 2 * page_bytes();
  if (address > last || bytes > last - address) return false;
  // Addresses that are only reserved count as mapped; no range is larger than the host's memory.
  if (bytes > static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes()) return false;
  const HostPages pages = around(host, bytes);
  return ::msync(pages.first, pages.bytes, MS_ASYNC) == 0;
}

Result<void> share_pages(const HostPages& pages, int file, std::uint64_t offset, std::byte* copy) {
  std::byte here{};
  const HostPages frames = HostPages::around(&here - kFrames, 2 * kFrames);
  if (pages.overlaps(frames)) return Error{"memory on the stack of the calling thread cannot be shared"};
  std::memcpy(copy, pages.first, pages.bytes);
  void* mapped = ::mmap(pages.first, pages.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                        static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? Result<void>(failed("the program's pages cannot be shared")) : Result<void>{};
}

Result<void> unshare_pages(const HostPages& pages) {
  void* fresh = ::mmap(nullptr, pages.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return failed("no pages in place of shared ones");
  std::memcpy(fresh, pages.first, pages.bytes);
  if (::mremap(fresh, pages.bytes, pages.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages.first) != MAP_FAILED) return {};
  const Error error = failed("shared pages cannot be replaced");
  ::munmap(fresh, pages.bytes);
  return error;
}

}  // namespace wm::runtime
