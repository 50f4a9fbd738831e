#include "runtime/client/forward/trampolines.h"

// Every name of the driver's interface is a weak symbol that jumps to the address in its entry. The library's own
// definitions of the same names are strong and replace it. An entry starts as the address of wm_forward_first, which
// keeps the arguments, calls wm_forward_load, which loads the driver, and jumps again.
extern "C" __attribute__((visibility("hidden"))) void wm_forward_first();

// NOLINTBEGIN(hicpp-no-assembler)
#if defined(__aarch64__)
// x16 and x17 may be changed between a call and the function it reaches.
#define WM_TRAMPOLINE(name)                                                         \
  asm(".data\n.balign 8\n.hidden wm_entry_" #name "\nwm_entry_" #name               \
      ": .xword wm_forward_first\n"                                                 \
      ".text\n.balign 8\n.weak " #name "\n.type " #name ", %function\n" #name       \
      ":\n"                                                                         \
      "hint #34\nadrp x16, wm_entry_" #name "\nadd x16, x16, :lo12:wm_entry_" #name \
      "\nldr x17, [x16]\nbr x17\n"                                                  \
      ".size " #name ", . - " #name "\n");
asm(".text\n.balign 8\n.hidden wm_forward_first\n.type wm_forward_first, %function\nwm_forward_first:\n"
    "hint #34\n"
    "stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
    "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstp x8, x16, [sp, "
    "#80]\n"
    "stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
    "bl wm_forward_load\n"
    "ldp q6, q7, [sp, #192]\nldp q4, q5, [sp, #160]\nldp q2, q3, [sp, #128]\nldp q0, q1, [sp, #96]\n"
    "ldp x8, x16, [sp, #80]\nldp x6, x7, [sp, #64]\nldp x4, x5, [sp, #48]\nldp x2, x3, [sp, #32]\nldp x0, x1, [sp, "
    "#16]\n"
    "ldp x29, x30, [sp], #224\n"
    "ldr x17, [x16]\nbr x17\n"
    ".size wm_forward_first, . - wm_forward_first\n");
#elif defined(__x86_64__)
// r11 may be changed between a call and the function it reaches.
#define WM_TRAMPOLINE(name)                                                    \
  asm(".data\n.balign 8\n.hidden wm_entry_" #name "\nwm_entry_" #name          \
      ": .quad wm_forward_first\n"                                             \
      ".text\n.balign 16\n.weak " #name "\n.type " #name ", @function\n" #name \
      ":\n"                                                                    \
      "endbr64\nleaq wm_entry_" #name "(%rip), %r11\njmp *(%r11)\n.size " #name ", . - " #name "\n");
asm(".text\n.balign 16\n.hidden wm_forward_first\n.type wm_forward_first, @function\nwm_forward_first:\n"
    "endbr64\n"
    "pushq %rbp\nmovq %rsp, %rbp\nsubq $208, %rsp\nandq $-16, %rsp\n"
    "movq %rdi, (%rsp)\nmovq %rsi, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rcx, 24(%rsp)\nmovq %r8, 32(%rsp)\n"
    "movq %r9, 40(%rsp)\nmovq %rax, 48(%rsp)\nmovq %r11, 56(%rsp)\n"
    "movaps %xmm0, 64(%rsp)\nmovaps %xmm1, 80(%rsp)\nmovaps %xmm2, 96(%rsp)\nmovaps %xmm3, 112(%rsp)\n"
    "movaps %xmm4, 128(%rsp)\nmovaps %xmm5, 144(%rsp)\nmovaps %xmm6, 160(%rsp)\nmovaps %xmm7, 176(%rsp)\n"
    "call wm_forward_load\n"
    "movaps 176(%rsp), %xmm7\nmovaps 160(%rsp), %xmm6\nmovaps 144(%rsp), %xmm5\nmovaps 128(%rsp), %xmm4\n"
    "movaps 112(%rsp), %xmm3\nmovaps 96(%rsp), %xmm2\nmovaps 80(%rsp), %xmm1\nmovaps 64(%rsp), %xmm0\n"
    "movq 56(%rsp), %r11\nmovq 48(%rsp), %rax\nmovq 40(%rsp), %r9\nmovq 32(%rsp), %r8\nmovq 24(%rsp), %rcx\n"
    "movq 16(%rsp), %rdx\nmovq 8(%rsp), %rsi\nmovq (%rsp), %rdi\n"
    "movq %rbp, %rsp\npopq %rbp\njmp *(%r11)\n.size wm_forward_first, . - wm_forward_first\n");
#else
#error "no trampolines for this processor"
#endif

#define WM_CUDA(name, since, parameters) WM_TRAMPOLINE(name)
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) WM_TRAMPOLINE(name) WM_TRAMPOLINE(name##suffix)
#define WM_CUDA_REFUSED(name, since) WM_TRAMPOLINE(name)
#include "runtime/client/cuda/interface/functions.def"
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
#undef WM_CUDA_REFUSED
// NOLINTEND(hicpp-no-assembler)

#define WM_ENTRY(name) extern "C" __attribute__((visibility("hidden"))) void* wm_entry_##name;
#define WM_CUDA(name, since, parameters) WM_ENTRY(name)
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) WM_ENTRY(name) WM_ENTRY(name##suffix)
#define WM_CUDA_REFUSED(name, since) WM_ENTRY(name)
#include "runtime/client/cuda/interface/functions.def"
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
#undef WM_CUDA_REFUSED

namespace wm::forward {

void*& trampoline_entry(std::size_t index) {
  static void** const entries[] = {
#define WM_CUDA(name, since, parameters) &wm_entry_##name,
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) &wm_entry_##name, &wm_entry_##name##suffix,
#define WM_CUDA_REFUSED(name, since) &wm_entry_##name,
#include "runtime/client/cuda/interface/functions.def"
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
#undef WM_CUDA_REFUSED
  };
  return *entries[index];
}

}  // namespace wm::forward
