// The simulated GPU through our own OpenCL compiler: the daemon of this test program runs on the CUDA backend with the
// simulated driver, beside the host's native OpenCL driver.
#pragma once

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {

// Why there is no such daemon; empty where there is one. The first call starts it.
std::string no_compiled_device();

// Tests of it are skipped where the built-in functions of OpenCL, or a native driver, are not installed.
struct CompiledDevice : testing::Test {
  void SetUp() override {
    if (const std::string reason = no_compiled_device(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

// A context on the compiled device.
struct CompiledContext : CompiledDevice {
  void SetUp() override {
    CompiledDevice::SetUp();
    if (!IsSkipped()) side = open_side(true);
  }
  void TearDown() override { close_side(side); }

  // The first word that kernel `f` leaves in a buffer of 64 bytes, each its index at the start.
  int result_of(cl_program program);

  Side side;
};

std::string build_log(const Side& side, cl_program program);

}  // namespace wm::runtime::test
