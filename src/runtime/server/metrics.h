// The page that Prometheus reads; docs/reference/metrics.md lists its metrics.
#pragma once

#include <string>

#include "runtime/server/status.h"
#include "runtime/server/totals.h"

namespace wm::runtime {

// `users`: the totals of clients that have gone; clients that are connected are added.
[[nodiscard]] std::string metrics_page(const StatusSource& source, TotalsByUser users);

}  // namespace wm::runtime
