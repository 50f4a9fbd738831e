// Answers to clGetDeviceInfo from what the CUDA driver says, for devices without an OpenCL driver.
#pragma once

#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/device.h"

namespace wm::runtime::cuda {

Status clang_device_info(const DeviceFacts& facts, PropertyName name, std::vector<std::byte>& answer);

}  // namespace wm::runtime::cuda
