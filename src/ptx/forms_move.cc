// Forms of moves, conversions and address arithmetic.
#include "ptx/forms.h"

namespace wm::ptx {
namespace {

// clang-format off
constexpr FormText kMove[] = {
    {Opcode::mov, ".pred|$word", "d:0, m:0"},
    {Opcode::mov, ".b16|b32|b64|b128", "x:0, r:0"},
    {Opcode::mov, ".b16|b32|b64|b128", "d:0, x:0"},
    {Opcode::mov, ".b128", "d:0, r:0"},
    {Opcode::cvt, "?.sat.$anyint.$anyint", "c:0, c:1"},
    {Opcode::cvt, ".$irnd?.ftz?.sat.$anyint.f32", "c:0, c:1"},
    {Opcode::cvt, ".$irnd?.sat.$anyint.f16|f64", "c:0, c:1"},
    {Opcode::cvt, ".$irnd.$int.bf16", "c:0, c:1"},
    {Opcode::cvt, ".$rnd?.ftz?.sat.f32.$anyint", "c:0, c:1"},
    {Opcode::cvt, ".$rnd?.sat.f16|f64.$anyint", "c:0, c:1"},
    {Opcode::cvt, ".$rnd.bf16.$int", "c:0, c:1"},
    {Opcode::cvt, "?.$irnd?.sat.f16.f16", "c:0, c:1"},
    {Opcode::cvt, "?.$irnd.bf16.bf16", "c:0, c:1"},
    {Opcode::cvt, "?.$irnd?.ftz?.sat.f32.f32", "c:0, c:1"},
    {Opcode::cvt, "?.$irnd?.sat.f64.f64", "c:0, c:1"},
    {Opcode::cvt, "?.ftz?.sat.f32.f16|bf16", "c:0, c:1"},
    {Opcode::cvt, "?.sat.f64.f16|bf16", "c:0, c:1"},
    {Opcode::cvt, "?.ftz?.sat.f64.f32", "c:0, c:1"},
    {Opcode::cvt, ".$rnd?.ftz?.sat.f32.f64", "c:0, c:1"},
    {Opcode::cvt, ".$rnd?.ftz?.sat.f16.f32", "c:0, c:1"},
    {Opcode::cvt, ".$rnd?.sat.f16.f64", "c:0, c:1"},
    {Opcode::cvt, ".$rnd.bf16.f16|f32|f64", "c:0, c:1"},
    {Opcode::cvt, ".$rnd.f16.bf16", "c:0, c:1"},
    {Opcode::cvt, ".rn|rz?.relu?.satfinite.f16|bf16.f32", "c:0, c:1"},
    {Opcode::cvt, ".rn|rz?.satfinite?.relu.f16|bf16.f32", "c:0, c:1"},
    {Opcode::cvt, ".rn|rz?.relu?.satfinite.f16x2|bf16x2.f32", "d:0, s:1, s:1"},
    {Opcode::cvt, ".rna?.satfinite.tf32.f32", "d:0, s:1"},
    {Opcode::cvt, ".rn|rz?.relu.tf32.f32", "d:0, s:1"},
    {Opcode::cvt, ".rn.satfinite?.relu.$fp8.f32", "d:0, s:1, s:1"},
    {Opcode::cvt, ".rn.satfinite?.relu.$fp8.f16x2", "d:0, s:1"},
    {Opcode::cvt, ".rn?.relu.f16x2.$fp8", "d:0, s:1"},
    {Opcode::cvt_pack, ".sat.u16|s16.s32", "d:b32, s:1, s:1"},
    {Opcode::cvt_pack, ".sat.u8|s8.s32.b32", "d:b32, s:1, s:1, s:2"},
    {Opcode::cvta, "?.to.$window.u32|u64", "d:0, m:0"},
    {Opcode::isspacep, ".$window", "d:pred, s:u64"},
    {Opcode::isspacep, ".$window", "d:pred, s:u32"},
    {Opcode::mapa, "?.shared::cluster.u32|u64", "d:0, m:0, s:u32"},
    {Opcode::getctarank, "?.shared::cluster.u32|u64", "d:u32, m:0"},
};
// clang-format on

}  // namespace

std::span<const FormText> move_forms() { return kMove; }

}  // namespace wm::ptx
