// The unit of shifts to the left by a constant.
#include "sim/cycle/sm/balanced_shifts.h"

#include <gtest/gtest.h>

#include "exec/program.h"
#include "gpu/load_gpu.h"
#include "ptx/parse.h"
#include "sim/cycle/sm/timed_program.h"
#include "tree.h"

namespace wm::sim {
namespace {

// The units of the shifts of a kernel with this body on the GPU.
std::vector<gpu::Unit> units_of_shifts(const std::string& body, const std::string& gpu = "h200") {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n"
      ".reg .pred %p;\nmov.u32 %r1, %tid.x;\nmov.f32 %f1, 0f3f800000;\nA:\n" +
      body + "setp.ne.u32 %p, %r1, 0;\n@%p bra A;\nret;\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  const auto program = exec::decode(*module, "k", "k.ptx");
  const auto config = gpu::load_gpu(gpu, source_path("configs/gpus"));
  EXPECT_TRUE(program.ok() && config.ok());
  const TimedProgram timed = time_program(*program, *config, &*module);
  std::vector<gpu::Unit> units;
  for (std::size_t pc = 0; pc < timed.ops.size(); ++pc)
    if ((*program)->info[pc].text == "shl.b32") units.push_back(timed.ops[pc].unit);
  return units;
}

// Two turns of xorshift: six operations of logic and four other shifts keep the integer unit busy.
const std::string kXorshift =
    "shl.b32 %r2, %r1, 13;\nxor.b32 %r1, %r1, %r2;\nshr.u32 %r3, %r1, 17;\nxor.b32 %r1, %r1, %r3;\n"
    "shl.b32 %r4, %r1, 5;\nxor.b32 %r1, %r1, %r4;\n";

TEST(BalancedShifts, AreProductsAmongLogic) {
  EXPECT_EQ(units_of_shifts(kXorshift), (std::vector{gpu::Unit::multiply, gpu::Unit::multiply}));
}

TEST(BalancedShifts, AreShiftsBesideManyProducts) {
  std::string products;
  for (int i = 0; i < 20; ++i) products += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  EXPECT_EQ(units_of_shifts(kXorshift + products), (std::vector{gpu::Unit::integer, gpu::Unit::integer}));
}

// Products in another block do not matter.
TEST(BalancedShifts, DependOnTheirBlockOnly) {
  std::string products;
  for (int i = 0; i < 20; ++i) products += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  EXPECT_EQ(units_of_shifts(kXorshift + "setp.eq.u32 %p, %r1, 9;\n@%p bra A;\n" + products),
            (std::vector{gpu::Unit::multiply, gpu::Unit::multiply}));
}

TEST(BalancedShifts, StayWhereNoAssemblerIsModelled) {
  EXPECT_EQ(units_of_shifts(kXorshift, "qos16"), (std::vector{gpu::Unit::integer, gpu::Unit::integer}));
}

}  // namespace
}  // namespace wm::sim
