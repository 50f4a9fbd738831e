// Forms of logic, shifts, comparison, selection and control flow.
#include "ptx/forms.h"

namespace wm::ptx {
namespace {

// clang-format off
constexpr FormText kLogic[] = {
    {Opcode::and_, ".pred|$bits", "d:0, s:0, s:0"},
    {Opcode::or_, ".pred|$bits", "d:0, s:0, s:0"},
    {Opcode::xor_, ".pred|$bits", "d:0, s:0, s:0"},
    {Opcode::not_, ".pred|$bits", "d:0, s:0"},
    {Opcode::cnot, ".$bits", "d:0, s:0"},
    {Opcode::lop3, ".b32", "d:0, s:0, s:0, s:0, i:u32"},
    {Opcode::lop3, ".and|or.b32", "o:0, s:0, s:0, s:0, i:u32, p:pred"},
    {Opcode::shf, ".l|r.clamp|wrap.b32", "d:0, s:0, s:0, s:u32"},
    {Opcode::shl, ".$bits", "d:0, s:0, s:u32"},
    {Opcode::shr, ".$bits|$int", "d:0, s:0, s:u32"},
    {Opcode::prmt, ".b32?.f4e|b4e|rc8|ecl|ecr|rc16", "d:0, s:0, s:0, s:b32"},
    {Opcode::set, ".eq|ne.u32|s32|f32.$bits", "d:0, s:1, s:1"},
    {Opcode::set, ".$intcmp.u32|s32|f32.$signed", "d:0, s:1, s:1"},
    {Opcode::set, ".$unsignedcmp.u32|s32|f32.$unsigned", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp?.ftz.u32|s32|f32.f32", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp.u32|s32|f32.f64", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp?.ftz.u16|s16|u32|s32|f16.f16", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp.u16|s16|u32|s32|bf16.bf16", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp?.ftz.u32|s32|f16x2.f16x2", "d:0, s:1, s:1"},
    {Opcode::set, ".$floatcmp.u32|s32|bf16x2.bf16x2", "d:0, s:1, s:1"},
    {Opcode::set, ".eq|ne.$bool.u32|s32|f32.$bits", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$intcmp.$bool.u32|s32|f32.$signed", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$unsignedcmp.$bool.u32|s32|f32.$unsigned", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool?.ftz.u32|s32|f32.f32", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool.u32|s32|f32.f64", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool?.ftz.u16|s16|u32|s32|f16.f16", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool.u16|s16|u32|s32|bf16.bf16", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool?.ftz.u32|s32|f16x2.f16x2", "d:0, s:1, s:1, p:pred"},
    {Opcode::set, ".$floatcmp.$bool.u32|s32|bf16x2.bf16x2", "d:0, s:1, s:1, p:pred"},
    {Opcode::setp, ".eq|ne.$bits", "t:pred, s:0, s:0"},
    {Opcode::setp, ".$intcmp.$signed", "t:pred, s:0, s:0"},
    {Opcode::setp, ".$unsignedcmp.$unsigned", "t:pred, s:0, s:0"},
    {Opcode::setp, ".$floatcmp.f64|bf16x2", "t:pred, s:0, s:0"},
    {Opcode::setp, ".$floatcmp.bf16", "d:pred, s:0, s:0"},
    {Opcode::setp, ".$floatcmp?.ftz.f32|f16x2", "t:pred, s:0, s:0"},
    {Opcode::setp, ".$floatcmp?.ftz.f16", "d:pred, s:0, s:0"},
    {Opcode::setp, ".eq|ne.$bool.$bits", "t:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$intcmp.$bool.$signed", "t:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$unsignedcmp.$bool.$unsigned", "t:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$floatcmp.$bool.f64|bf16x2", "t:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$floatcmp.$bool.bf16", "d:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$floatcmp.$bool?.ftz.f32|f16x2", "t:pred, s:0, s:0, p:pred"},
    {Opcode::setp, ".$floatcmp.$bool?.ftz.f16", "d:pred, s:0, s:0, p:pred"},
    {Opcode::selp, ".$word", "d:0, s:0, s:0, p:pred"},
    {Opcode::slct, ".$word.s32", "d:0, s:0, s:0, s:1"},
    {Opcode::slct, "?.ftz.$word.f32", "d:0, s:0, s:0, s:1"},
    {Opcode::bra, "?.uni", "L"},
    {Opcode::brx_idx, "?.uni", "r:u32, B"},
    {Opcode::ret, "?.uni", ""},
    {Opcode::exit, "", ""},
    {Opcode::trap, "", ""},
    {Opcode::brkpt, "", ""},
    {Opcode::nanosleep, ".u32", "s:0"},
    {Opcode::pmevent, "?.mask", "i:u32"},
};
// clang-format on

}  // namespace

std::span<const FormText> logic_forms() { return kLogic; }

}  // namespace wm::ptx
