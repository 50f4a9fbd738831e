#include "runtime/client/opencl/fake_daemon.h"

#include <poll.h>

namespace wm::runtime::client::test {

bool FakeDaemon::waiting() const {
  pollfd watched{listener_.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace wm::runtime::client::test
