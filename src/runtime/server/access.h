// The users that may use the daemon's socket.
#pragma once

#include <sys/types.h>

namespace wm::runtime {

// If the mode of the socket allows only its owner to connect, only the owner and root may, whatever the file's mode is
// now.
[[nodiscard]] bool may_connect(uid_t user, uid_t own, unsigned mode);
// Only the daemon's own user and root change it.
[[nodiscard]] bool may_control(uid_t user, uid_t own);

}  // namespace wm::runtime
