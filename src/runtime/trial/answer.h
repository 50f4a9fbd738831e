// Does what is tried, on the device's own driver; this is what may end the process.
#pragma once

#include "runtime/daemon/native.h"
#include "runtime/trial/request.h"

namespace wm::runtime::trial {

// What the driver said.
cl_int answer(const Native& native, const Request& request);

// What it answers to a Question; the standard's answer where it cannot be asked.
cl_int ask(const Native& native, std::uint32_t question);

}  // namespace wm::runtime::trial
