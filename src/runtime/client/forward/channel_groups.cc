#include "runtime/client/forward/channel_groups.h"

#include <cstring>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "runtime/client/forward/kernel_interface.h"

namespace wm::forward {

namespace {

// A group may refuse a slice before it has channels; after so many refusals it is not asked again.
constexpr int kMaxRefusals = 3;
// Microseconds, where a group does not tell its own slice.
constexpr std::uint64_t kUsualSlice = 2048;

}  // namespace

bool ChannelGroups::observe(int file, unsigned long request, const void* argument) {
  if (_IOC_TYPE(request) != kernel::kMagic || argument == nullptr) return false;
  unsigned number = _IOC_NR(request);
  std::size_t bytes = _IOC_SIZE(request);
  if (number == kernel::kTransfer && bytes == sizeof(kernel::Transfer)) {
    kernel::Transfer transfer;
    std::memcpy(&transfer, argument, sizeof transfer);
    number = transfer.number;
    bytes = transfer.bytes;
    argument = reinterpret_cast<const void*>(transfer.address);
  }
  if (number == kernel::kAllocate) return allocated(file, argument, bytes);
  if (number == kernel::kFree) return freed(argument, bytes);
  return false;
}

bool ChannelGroups::allocated(int file, const void* argument, std::size_t bytes) {
  kernel::Allocate call;
  std::uint32_t status = 0;
  if (bytes == sizeof(kernel::AllocateWithRights)) {
    kernel::AllocateWithRights longer;
    std::memcpy(&longer, argument, sizeof longer);
    std::memcpy(&call, argument, sizeof call);
    status = longer.status;
  } else if (bytes == sizeof call) {
    std::memcpy(&call, argument, sizeof call);
    status = call.status;
  } else {
    return false;
  }
  if (status != 0 || call.object_class != kernel::kChannelGroupClass) return false;
  struct stat about {};
  if (::fstat(file, &about) != 0) return false;
  const std::lock_guard lock(mutex_);
  groups_.push_back({file, about.st_dev, about.st_ino, call.client, call.object, 0, 0, 0});
  return true;
}

bool ChannelGroups::freed(const void* argument, std::size_t bytes) {
  kernel::Free call;
  if (bytes != sizeof call) return false;
  std::memcpy(&call, argument, sizeof call);
  if (call.status != 0) return false;
  const std::lock_guard lock(mutex_);
  // A client's end frees all that it had.
  return std::erase_if(groups_, [&](const Group& g) {
           return g.client == call.client && (g.object == call.object || g.client == call.object);
         }) != 0;
}

bool ChannelGroups::is_same_file(const Group& group) {
  struct stat about {};
  return ::fstat(group.file, &about) == 0 && S_ISCHR(about.st_mode) && about.st_dev == group.device &&
         about.st_ino == group.inode;
}

bool ChannelGroups::control(const Group& group, std::uint32_t command, std::uint64_t& slice) {
  kernel::Slice parameter{slice};
  kernel::Control call{.client = group.client,
                       .object = group.object,
                       .command = command,
                       .flags = 0,
                       .parameters = reinterpret_cast<std::uint64_t>(&parameter),
                       .parameter_bytes = sizeof parameter,
                       .status = 0};
  if (ioctl_(group.file, _IOWR(kernel::kMagic, kernel::kControl, kernel::Control), &call) != 0 || call.status != 0)
    return false;
  slice = parameter.microseconds;
  return true;
}

bool ChannelGroups::set(Group& group, std::uint64_t slice) {
  if (!is_same_file(group)) return false;
  if (group.own_slice == 0 && (!control(group, kernel::kGetSlice, group.own_slice) || group.own_slice == 0))
    group.own_slice = kUsualSlice;
  std::uint64_t wanted = slice != 0 ? slice : group.own_slice;
  if (!control(group, kernel::kSetSlice, wanted)) return false;
  group.applied_slice = slice;
  return true;
}

bool ChannelGroups::apply(runtime::ControlPage& page) {
  const std::uint64_t slice = page.words.slice_microseconds.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  std::uint32_t sliced = 0;
  bool is_pending = false;
  for (Group& group : groups_) {
    if (group.applied_slice != slice && group.refusals < kMaxRefusals && !set(group, slice)) {
      page.counters.slice_failures.fetch_add(1, std::memory_order_relaxed);
      is_pending = ++group.refusals < kMaxRefusals || is_pending;
    }
    if (group.applied_slice != 0) ++sliced;
  }
  page.counters.channel_groups.store(static_cast<std::uint32_t>(groups_.size()), std::memory_order_relaxed);
  page.counters.sliced_groups.store(sliced, std::memory_order_relaxed);
  page.counters.applied_slice.store(sliced == 0 ? 0 : static_cast<std::uint32_t>(slice), std::memory_order_relaxed);
  return is_pending;
}

std::size_t ChannelGroups::size() {
  const std::lock_guard lock(mutex_);
  return groups_.size();
}

}  // namespace wm::forward
