// ioctl, as the driver finds it where this library is preloaded. Every call goes to the system unchanged; those that
// allocate or free channel groups are looked at afterwards.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/client/forward/arbitration.h"
#include "runtime/client/forward/channel_groups.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/kernel_interface.h"

namespace wm::forward {

namespace {

// The system's own ioctl, which this library's hides from the driver.
int system_ioctl(int file, unsigned long request, void* argument) {
  using Function = int (*)(int, unsigned long, ...);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "ioctl"));
  if (next != nullptr) return next(file, request, argument);
  return static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
}

std::atomic<ChannelGroups*> only{nullptr};

bool concerns_groups(unsigned long request) {
  const unsigned number = _IOC_NR(request);
  return _IOC_TYPE(request) == kernel::kMagic &&
         (number == kernel::kAllocate || number == kernel::kFree || number == kernel::kTransfer);
}

}  // namespace

ChannelGroups& ChannelGroups::get() {
  ChannelGroups* groups = only.load(std::memory_order_acquire);
  if (groups != nullptr) return *groups;
  auto* made = new ChannelGroups(&system_ioctl);
  if (only.compare_exchange_strong(groups, made)) return *made;
  delete made;
  return *groups;
}

void ChannelGroups::forget_after_fork() { only.store(nullptr); }

}  // namespace wm::forward

extern "C" __attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const int result = wm::forward::system_ioctl(file, request, argument);
  if (result == 0 && wm::forward::concerns_groups(request)) {
    const int error = errno;
    if (wm::forward::ChannelGroups::get().observe(file, request, argument)) {
      wm::forward::connect_to_arbiter();  // a program of OpenCL calls no function of this library before
      wm::forward::channel_groups_changed();
    }
    errno = error;
  }
  return result;
}
