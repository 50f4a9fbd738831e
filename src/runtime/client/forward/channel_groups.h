// The channel groups that the driver has allocated for this process, and their time slices.
//
// A GPU that several processes use without MPS runs the channel groups of one process for a time slice, then those of
// another. A process may set the slices of its own groups. The groups become known when the driver's calls to the
// kernel (ioctl) pass through `observe`, which needs this library to be preloaded; otherwise there are none, and
// nothing is done.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <sys/types.h>
#include <vector>

#include "runtime/protocol/control_page.h"

namespace wm::forward {

class ChannelGroups {
 public:
  // Makes a call to the kernel; 0: done.
  using Ioctl = std::function<int(int file, unsigned long request, void* argument)>;
  explicit ChannelGroups(Ioctl ioctl) : ioctl_(std::move(ioctl)) {}

  // The ones of this process.
  static ChannelGroups& get();
  // Makes `get` return an empty object, whatever other threads did when the process forked.
  static void forget_after_fork();

  // Looks at a call to the kernel that has succeeded. True: a group has come or gone.
  bool observe(int file, unsigned long request, const void* argument);

  // Sets the slice of the page in all groups, or the driver's own where the page has none, and counts the result in the
  // page. True: a group has refused and is worth another try.
  bool apply(runtime::ControlPage& page);

  [[nodiscard]] std::size_t size();

 private:
  struct Group {
    int file = -1;
    dev_t device = 0;
    ino_t inode = 0;
    std::uint32_t client = 0, object = 0;
    std::uint64_t own_slice = 0;      // microseconds, as the driver chose it; 0: not read yet
    std::uint64_t applied_slice = 0;  // 0: the driver's own
    int refusals = 0;
  };
  bool allocated(int file, const void* argument, std::size_t bytes);
  bool freed(const void* argument, std::size_t bytes);
  // Whether the file is still the one through which the group was allocated.
  static bool is_same_file(const Group& group);
  bool control(const Group& group, std::uint32_t command, std::uint64_t& slice);
  bool set(Group& group, std::uint64_t slice);

  const Ioctl ioctl_;
  std::mutex mutex_;
  std::vector<Group> groups_;
};

}  // namespace wm::forward
