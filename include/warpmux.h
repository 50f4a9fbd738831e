/* Priorities and goals of a program's kernels, as policies see them. C and C++; link with -ldl where dlopen needs it.
 *
 * The calls reach warpmux's CUDA driver in the same process: all but wm_set_program_goal under `wm run --simulate`,
 * wm_set_priority and wm_set_program_goal under `wm serve --cuda`. Without it they do nothing and return 0, so a
 * program may always make them; otherwise they return 1. They hold for launches that follow. */
#ifndef WARPMUX_H
#define WARPMUX_H

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The entry of that name in warpmux's libcuda.so.1, or a null pointer. */
static inline void* wm_driver_entry(const char* name) {
  void* entry = dlsym(RTLD_DEFAULT, name);
  if (entry == 0) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver != 0) entry = dlsym(driver, name);
  }
  return entry;
}

/* Larger goes first, where the policy has priorities. It is added to the priorities of streams. */
static inline int wm_set_priority(int priority) {
  int (*set)(int) = (int (*)(int))wm_driver_entry("warpmux_set_priority");
  return set != 0 ? set(priority) : 0;
}

/* The goal of the program beside others on a real GPU, as of `wm run --goal`. WM_NO_GOAL takes it back. The daemon says
 * on its standard error if it refuses the goal, and why; `wm status` shows the goal that holds. */
enum wm_goal_kind {
  WM_NO_GOAL,
  WM_GOAL_P99,  /* microseconds from a launch on an idle device to the end of the synchronization */
  WM_GOAL_RATE, /* launches per second */
  WM_GOAL_PART  /* a part of the program's launch rate by itself, up to 1 */
};
static inline int wm_set_program_goal(enum wm_goal_kind kind, double value) {
  int (*set)(int, double) = (int (*)(int, double))wm_driver_entry("warpmux_set_program_goal");
  return set != 0 ? set((int)kind, value) : 0;
}

/* The rate that launches of a kernel must reach, in thread instructions per cycle; 0 takes the goal back. The name is
 * the entry's in PTX. */
static inline int wm_set_goal(const char* kernel, double ipc) {
  int (*set)(const char*, double) = (int (*)(const char*, double))wm_driver_entry("warpmux_set_goal");
  return set != 0 ? set(kernel, ipc) : 0;
}

/* The call of SMQoS (Parallel Computing 2022, table 1): the same for a __global__ function of a program of nvcc's. */
static inline int cudaSetQoS(const void* kernel, double ipc) {
  int (*set)(const void*, double) = (int (*)(const void*, double))wm_driver_entry("warpmux_set_kernel_goal");
  return set != 0 ? set(kernel, ipc) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
