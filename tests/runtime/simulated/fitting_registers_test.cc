#include <gtest/gtest.h>

#include "runtime/simulated/module_code.h"

namespace wm::runtime {

TEST(FittingRegisters, AnEstimateDoesNotKeepABlockFromFitting) {
  gpu::GpuConfig config;
  config.sm.registers = 65536;
  EXPECT_EQ(fitting_registers(100, 1024, config), 64U);
  EXPECT_EQ(fitting_registers(130, 513, config), 120U);
  EXPECT_EQ(fitting_registers(40, 1024, config), 40U);
  EXPECT_EQ(fitting_registers(255, 32, config), 255U);
}

}  // namespace wm::runtime
