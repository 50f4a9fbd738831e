// Forms of barriers, cross-lane exchange and matrix instructions.
#include "ptx/forms.h"

namespace wm::ptx {
namespace {

// clang-format off
constexpr FormText kCooperation[] = {
    {Opcode::bar, "?.cta.sync", "s:u32, ?s:u32"},
    {Opcode::bar, "?.cta.arrive", "s:u32, s:u32"},
    {Opcode::bar, "?.cta.red.popc.u32", "d:0, s:u32, p:pred"},
    {Opcode::bar, "?.cta.red.popc.u32", "d:0, s:u32, s:u32, p:pred"},
    {Opcode::bar, "?.cta.red.and|or.pred", "d:0, s:u32, p:pred"},
    {Opcode::bar, "?.cta.red.and|or.pred", "d:0, s:u32, s:u32, p:pred"},
    {Opcode::barrier, "?.cta.sync?.aligned", "s:u32, ?s:u32"},
    {Opcode::barrier, "?.cta.arrive?.aligned", "s:u32, s:u32"},
    {Opcode::barrier, "?.cta.red.popc?.aligned.u32", "d:0, s:u32, p:pred"},
    {Opcode::barrier, "?.cta.red.popc?.aligned.u32", "d:0, s:u32, s:u32, p:pred"},
    {Opcode::barrier, "?.cta.red.and|or?.aligned.pred", "d:0, s:u32, p:pred"},
    {Opcode::barrier, "?.cta.red.and|or?.aligned.pred", "d:0, s:u32, s:u32, p:pred"},
    {Opcode::bar_warp, ".sync", "s:b32"},
    {Opcode::barrier_cluster, ".arrive?.release|relaxed?.aligned", ""},
    {Opcode::barrier_cluster, ".wait?.acquire?.aligned", ""},
    {Opcode::vote, ".all|any|uni.pred", "d:0, p:pred"},
    {Opcode::vote, ".ballot.b32", "d:0, p:pred"},
    {Opcode::vote, ".sync.all|any|uni.pred", "d:0, p:pred, s:b32"},
    {Opcode::vote, ".sync.ballot.b32", "d:0, p:pred, s:b32"},
    {Opcode::match, ".any.sync.b32|b64", "d:b32, s:0, s:b32"},
    {Opcode::match, ".all.sync.b32|b64", "t:b32, s:0, s:b32"},
    {Opcode::shfl, ".up|down|bfly|idx.b32", "t:0, s:0, s:b32, s:b32"},
    {Opcode::shfl, ".sync.up|down|bfly|idx.b32", "t:0, s:0, s:b32, s:b32, s:b32"},
    {Opcode::redux, ".sync.add|min|max.u32|s32", "d:0, s:0, s:b32"},
    {Opcode::redux, ".sync.and|or|xor.b32", "d:0, s:0, s:b32"},
    {Opcode::activemask, ".b32", "d:0"},
    {Opcode::elect, ".sync", "o:b32, s:b32"},
    {Opcode::griddepcontrol, ".launch_dependents|wait", ""},
    {Opcode::ldmatrix, ".sync.aligned.m8n8.x1?.trans?.$shared.b16", "v1:b32, a"},
    {Opcode::ldmatrix, ".sync.aligned.m8n8.x2?.trans?.$shared.b16", "v2:b32, a"},
    {Opcode::ldmatrix, ".sync.aligned.m8n8.x4?.trans?.$shared.b16", "v4:b32, a"},
    {Opcode::stmatrix, ".sync.aligned.m8n8.x1?.trans?.$shared.b16", "a, v1:b32"},
    {Opcode::stmatrix, ".sync.aligned.m8n8.x2?.trans?.$shared.b16", "a, v2:b32"},
    {Opcode::stmatrix, ".sync.aligned.m8n8.x4?.trans?.$shared.b16", "a, v4:b32"},
    {Opcode::movmatrix, ".sync.aligned.m8n8.trans.b16", "d:b32, r:b32"},
    {Opcode::mma, ".sync.aligned.m8n8k4.row|col.row|col.f16.f16.f16.f16", "v4:u32, v2:u32, v2:u32, v4:u32"},
    {Opcode::mma, ".sync.aligned.m8n8k4.row|col.row|col.f32.f16.f16.f16", "v8:f32, v2:u32, v2:u32, v4:u32"},
    {Opcode::mma, ".sync.aligned.m8n8k4.row|col.row|col.f32.f16.f16.f32", "v8:f32, v2:u32, v2:u32, v8:f32"},
    {Opcode::mma, ".sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "v2:f64, v1:f64, v1:f64, v2:f64"},
    {Opcode::mma, ".sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "v2:u32, v2:u32, v1:u32, v2:u32"},
    {Opcode::mma, ".sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "v4:f32, v2:u32, v1:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "v4:f32, v2:u32, v1:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "v2:u32, v4:u32, v2:u32, v2:u32"},
    {Opcode::mma, ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "v4:f32, v4:u32, v2:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "v4:f32, v4:u32, v2:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "v4:f32, v2:u32, v1:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "v4:f32, v4:u32, v2:u32, v4:f32"},
    {Opcode::mma, ".sync.aligned.m8n8k16.row.col?.satfinite.s32.u8|s8.u8|s8.s32", "v2:s32, v1:u32, v1:u32, v2:s32"},
    {Opcode::mma, ".sync.aligned.m16n8k16.row.col?.satfinite.s32.u8|s8.u8|s8.s32", "v4:s32, v2:u32, v1:u32, v4:s32"},
    {Opcode::mma, ".sync.aligned.m16n8k32.row.col?.satfinite.s32.u8|s8.u8|s8.s32", "v4:s32, v4:u32, v2:u32, v4:s32"},
};
// clang-format on

}  // namespace

std::span<const FormText> cooperation_forms() { return kCooperation; }

}  // namespace wm::ptx
