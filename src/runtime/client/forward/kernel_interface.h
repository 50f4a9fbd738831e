// The calls between NVIDIA's driver library and its kernel module that concern time slices, declared from the layouts
// that the open kernel modules publish. All sizes are checked before a call is read; another size is another call.
#pragma once

#include <cstdint>

namespace wm::forward::kernel {

inline constexpr unsigned kMagic = 'F';
inline constexpr unsigned kFree = 0x29, kControl = 0x2a, kAllocate = 0x2b, kTransfer = 211;
inline constexpr std::uint32_t kChannelGroupClass = 0xa06c;
inline constexpr std::uint32_t kSetSlice = 0xa06c0103, kGetSlice = 0xa06c0104;

// A call whose size does not fit into the number of an ioctl.
struct Transfer {
  std::uint32_t number, bytes;
  std::uint64_t address;
};

struct Allocate {
  std::uint32_t client, parent, object, object_class;
  std::uint64_t parameters;
  std::uint32_t parameter_bytes, status;
};
struct AllocateWithRights {
  std::uint32_t client, parent, object, object_class;
  std::uint64_t parameters, rights;
  std::uint32_t parameter_bytes, flags, status, unused;
};
struct Free {
  std::uint32_t client, parent, object, status;
};
struct Control {
  std::uint32_t client, object, command, flags;
  std::uint64_t parameters;
  std::uint32_t parameter_bytes, status;
};
struct Slice {
  std::uint64_t microseconds;
};

static_assert(sizeof(Transfer) == 16 && sizeof(Allocate) == 32 && sizeof(AllocateWithRights) == 48);
static_assert(sizeof(Free) == 16 && sizeof(Control) == 32 && sizeof(Slice) == 8);

}  // namespace wm::forward::kernel
