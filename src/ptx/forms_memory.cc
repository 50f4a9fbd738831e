// Forms of loads, stores, atomics and what steers the caches.
#include "ptx/forms.h"

namespace wm::ptx {
namespace {

// clang-format off
constexpr FormText kForms[] = {
    {Opcode::ld, "?.weak?.$space?.$loadcop?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, "?.weak?.$space?.$loadcop.L2::cache_hint?.$fetch?.$vec.$memory", "l:0, a, s:b64"},
    {Opcode::ld, "?.weak?.$space?.$L1?.$L2?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, "?.weak?.$space?.$L1?.$L2.L2::cache_hint?.$fetch?.$vec.$memory", "l:0, a, s:b64"},
    {Opcode::ld, ".volatile?.$space?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, ".relaxed|acquire.$scope?.$space?.$L1?.$L2?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, ".relaxed|acquire.$scope?.$space?.$L1?.$L2.L2::cache_hint?.$fetch?.$vec.$memory", "l:0, a, s:b64"},
    {Opcode::ld, ".mmio.relaxed.sys?.global.$memory", "l:0, a"},
    {Opcode::ld, ".global?.ca|cg|cs.nc?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, ".global?.ca|cg|cs.nc.L2::cache_hint?.$fetch?.$vec.$memory", "l:0, a, s:b64"},
    {Opcode::ld, ".global.nc?.$L1?.$L2?.$fetch?.$vec.$memory", "l:0, a"},
    {Opcode::ld, ".global.nc?.$L1?.$L2.L2::cache_hint?.$fetch?.$vec.$memory", "l:0, a, s:b64"},
    {Opcode::ldu, "?.global?.$vec.$memory", "l:0, a"},
    {Opcode::st, "?.weak?.$space?.$storecop?.$vec.$memory", "a, k:0"},
    {Opcode::st, "?.weak?.$space?.$storecop.L2::cache_hint?.$vec.$memory", "a, k:0, s:b64"},
    {Opcode::st, "?.weak?.$space?.$L1?.$L2?.$vec.$memory", "a, k:0"},
    {Opcode::st, "?.weak?.$space?.$L1?.$L2.L2::cache_hint?.$vec.$memory", "a, k:0, s:b64"},
    {Opcode::st, ".volatile?.$space?.$vec.$memory", "a, k:0"},
    {Opcode::st, ".relaxed|release.$scope?.$space?.$L1?.$L2?.$vec.$memory", "a, k:0"},
    {Opcode::st, ".relaxed|release.$scope?.$space?.$L1?.$L2.L2::cache_hint?.$vec.$memory", "a, k:0, s:b64"},
    {Opcode::st, ".mmio.relaxed.sys?.global.$memory", "a, k:0"},
    {Opcode::prefetch, "?.global|local.L1|L2", "a"},
    {Opcode::prefetch, ".global.L2::evict_last|L2::evict_normal", "a"},
    {Opcode::prefetchu, ".L1", "a"},
    {Opcode::applypriority, "?.global.L2::evict_normal", "a, i:u32"},
    {Opcode::discard, "?.global.L2", "a, i:u32"},
    {Opcode::createpolicy, ".fractional.$L2|L2::evict_unchanged?.L2::evict_first|L2::evict_unchanged.b64", "d:0, ?s:f32"},
    {Opcode::createpolicy, ".range?.global.$L2|L2::evict_unchanged?.L2::evict_first|L2::evict_unchanged.b64", "d:0, a, s:u32, s:u32"},
    {Opcode::createpolicy, ".cvt.L2.b64", "d:0, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.add.u32|s32|u64|f32|f64", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.add.L2::cache_hint.u32|s32|u64|f32|f64", "d:0, a, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.add.noftz?.L2::cache_hint.$half|$bhalf", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.min|max.$carry", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.min|max.L2::cache_hint.$carry", "d:0, a, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.inc|dec.u32", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.inc|dec.L2::cache_hint.u32", "d:0, a, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.and|or|xor.b32|b64", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.and|or|xor.L2::cache_hint.b32|b64", "d:0, a, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.exch.b32|b64|b128", "d:0, a, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.exch.L2::cache_hint.b32|b64|b128", "d:0, a, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.cas.b16|b32|b64|b128", "d:0, a, s:0, s:0"},
    {Opcode::atom, "?.$order?.$scope?.$atomspace.cas.L2::cache_hint.b16|b32|b64|b128", "d:0, a, s:0, s:0, s:b64"},
    {Opcode::atom, "?.$order?.$scope?.global.add.v2|v4.f32", "l:0, a, k:0"},
    {Opcode::atom, "?.$order?.$scope?.global.add|min|max.noftz.$vec.$half|$bhalf", "l:0, a, k:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.add.u32|s32|u64|f32|f64", "a, s:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.add.L2::cache_hint.u32|s32|u64|f32|f64", "a, s:0, s:b64"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.add.noftz.$half|$bhalf", "a, s:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.min|max.$carry", "a, s:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.min|max.L2::cache_hint.$carry", "a, s:0, s:b64"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.inc|dec.u32", "a, s:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.inc|dec.L2::cache_hint.u32", "a, s:0, s:b64"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.and|or|xor.b32|b64", "a, s:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.$atomspace.and|or|xor.L2::cache_hint.b32|b64", "a, s:0, s:b64"},
    {Opcode::red, "?.relaxed|release?.$scope?.global.add.v2|v4.f32", "a, k:0"},
    {Opcode::red, "?.relaxed|release?.$scope?.global.add|min|max.noftz.$vec.$half|$bhalf", "a, k:0"},
    {Opcode::cp_async, ".ca|cg.$shared.global?.$fetch", "a, a, i:u32, ?s:u32"},
    {Opcode::cp_async, ".ca|cg.$shared.global?.$fetch", "a, a, i:u32, p:pred"},
    {Opcode::cp_async, ".ca|cg.$shared.global.L2::cache_hint?.$fetch", "a, a, i:u32, s:b64"},
    {Opcode::cp_async, ".ca|cg.$shared.global.L2::cache_hint?.$fetch", "a, a, i:u32, s:u32, s:b64"},
    {Opcode::cp_async, ".ca|cg.$shared.global.L2::cache_hint?.$fetch", "a, a, i:u32, p:pred, s:b64"},
    {Opcode::cp_async_commit_group, "", ""},
    {Opcode::cp_async_wait_group, "", "i:u32"},
    {Opcode::cp_async_wait_all, "", ""},
    {Opcode::membar, ".cta|gl|sys", ""},
    {Opcode::membar, ".proxy.alias", ""},
    {Opcode::fence, "?.sc|acq_rel|acquire|release.$scope", ""},
    {Opcode::fence, ".proxy.alias", ""},
    {Opcode::fence, ".proxy.async?.global|shared::cta|shared::cluster", ""},
};
// clang-format on

}  // namespace

std::span<const FormText> memory_forms() { return kForms; }

}  // namespace wm::ptx
