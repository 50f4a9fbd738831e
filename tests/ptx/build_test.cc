#include "ptx/build.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

// The short forms build the instructions that the parser makes of the same text.
TEST(Build, MakesWhatTheParserReads) {
  const auto module = *parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .pred %p;\n.reg .b32 %r;\n.reg .b64 %d;\nSTART:\nld.param.u64 %d, [p+8];\nmov.u32 %r, %tid.x;\n"
      "setp.eq.u32 %p, %r, 7;\n@!%p bra START;\n@%p st.global.u32 [%d+4], %r;\nret;\n}\n");
  const Function& f = module.functions[0];
  const auto reg = [&](const char* name) {
    build::Reg r;
    while (f.registers[r.index].name != name) ++r.index;
    return r;
  };
  const build::Reg p = reg("%p"), r = reg("%r"), d = reg("%d");
  using enum Type;
  const Operand parameter = build::variable(f.body[0].operands[1].elements[0].scope, 0);
  EXPECT_EQ(f.body[0], build::make(Opcode::ld, {Suffix::param}, {u64}, {build::operand(d), build::at(parameter, 8)}));
  EXPECT_EQ(f.body[1], build::mov(r, build::special(f.body[1].operands[1].special), u32));
  EXPECT_EQ(f.body[2],
            build::make(Opcode::setp, {Suffix::eq}, {u32}, {build::operand(p), build::operand(r), build::number(7)}));
  EXPECT_EQ(f.body[3], build::only_if(p, false, build::branch(0)));
  EXPECT_EQ(f.body[4], build::only_if(p, true,
                                      build::make(Opcode::st, {Suffix::global}, {u32},
                                                  {build::at(build::operand(d), 4), build::operand(r)})));
}

}  // namespace
}  // namespace wm::ptx
