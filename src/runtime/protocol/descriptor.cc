#include "runtime/protocol/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>

namespace wm::runtime {

// Unmaps in pieces: the kernel holds the lock of the address space for each piece, and page faults of other threads
// wait for that lock.
Mapping::~Mapping() {
  constexpr std::size_t kPiece = 2 << 20;
  for (auto rest = bytes_; !rest.empty();) {
    const auto piece = rest.first(std::min(rest.size(), kPiece));
    ::munmap(piece.data(), piece.size());
    rest = rest.subspan(piece.size());
  }
}

Result<Mapping> Mapping::of(const Descriptor& file, std::size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return Error{std::string("cannot map shared memory: ") + std::strerror(errno)};
  return Mapping({static_cast<std::byte*>(at), size});
}

Result<Descriptor> sealed_memory(const char* name, std::size_t size) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open() || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Error{std::string("cannot make shared memory: ") + std::strerror(errno)};
  }
  return file;
}

}  // namespace wm::runtime
