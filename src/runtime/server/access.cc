#include "runtime/server/access.h"

namespace wm::runtime {

bool may_connect(uid_t user, uid_t own, unsigned mode) { return may_control(user, own) || (mode & 0066) != 0; }

bool may_control(uid_t user, uid_t own) { return user == own || user == 0; }

}  // namespace wm::runtime
