// Calls that the standard does not allow, tried with the device's own driver.
#pragma once

#include "runtime/device/opencl_native.h"
#include "runtime/protocol/message.h"

namespace wm::runtime::sandbox {

// The driver's result; the error that the standard defines where the call cannot be tried.
cl_int try_nonstandard_call(const Native& native, NonstandardCall call);

}  // namespace wm::runtime::sandbox
