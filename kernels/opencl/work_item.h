// Work-item identifiers and the barriers of a work-group.
#pragma once

#define CLK_LOCAL_MEM_FENCE 1U
#define CLK_GLOBAL_MEM_FENCE 2U

// The dimension is a constant in every sensible kernel, so these become one special-register read.
#define WM_BY_DIMENSION(name, register)                            \
  __attribute__((always_inline)) static inline uint name(uint d) { \
    return d == 0   ? __nvvm_read_ptx_sreg_##register##_x()        \
           : d == 1 ? __nvvm_read_ptx_sreg_##register##_y()        \
                    : __nvvm_read_ptx_sreg_##register##_z();       \
  }
WM_BY_DIMENSION(wm_tid, tid)
WM_BY_DIMENSION(wm_ntid, ntid)
WM_BY_DIMENSION(wm_ctaid, ctaid)
WM_BY_DIMENSION(wm_nctaid, nctaid)
#undef WM_BY_DIMENSION

WM_BUILTIN uint get_work_dim(void) { return 3; }
WM_BUILTIN size_t get_local_id(uint d) { return wm_tid(d); }
WM_BUILTIN size_t get_local_size(uint d) { return wm_ntid(d); }
WM_BUILTIN size_t get_group_id(uint d) { return wm_ctaid(d); }
WM_BUILTIN size_t get_num_groups(uint d) { return wm_nctaid(d); }
WM_BUILTIN size_t get_global_offset(uint d) { return 0 * d; }
// 32-bit arithmetic: no launch of the zoo has 2^32 items in a dimension, and PTX then needs one mad.
WM_BUILTIN size_t get_global_id(uint d) { return wm_ctaid(d) * wm_ntid(d) + wm_tid(d); }
WM_BUILTIN size_t get_global_size(uint d) { return wm_nctaid(d) * wm_ntid(d); }

// A PTX barrier orders both memories, whatever the flags. LLVM assumes that the barrier's intrinsic writes no variable
// of the kernel and would keep local memory in registers across it; the empty statements forbid that.
#define WM_NO_MOVE() __asm__ volatile("" ::: "memory")
WM_BUILTIN void wm_barrier(void) {
  WM_NO_MOVE();
  __syncthreads();
  WM_NO_MOVE();
}
#define barrier(flags) ((void)(flags), wm_barrier())
#define work_group_barrier(flags) barrier(flags)
#define mem_fence(flags) ((void)(flags), __nvvm_membar_cta())
#define read_mem_fence(flags) mem_fence(flags)
#define write_mem_fence(flags) mem_fence(flags)
