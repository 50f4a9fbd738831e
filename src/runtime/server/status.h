// The daemon's report about itself: the document of `wm status`.
#pragma once

#include <string>

#include "runtime/server/client_list.h"
#include "runtime/server/daemon.h"

namespace wm::runtime {

struct StatusSource {
  std::string socket;
  double seconds;  // since the daemon started
  Daemon& daemon;
  ClientList& clients;
};

// JSON; docs/reference describes the keys.
std::string status_document(const StatusSource& source);

}  // namespace wm::runtime
