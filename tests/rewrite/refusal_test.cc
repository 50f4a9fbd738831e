// Programs that are not rewritten, and the reason given for each.
#include <gmock/gmock.h>

#include "rewrite/ask.h"

namespace wm::rewrite {
namespace {

using ::testing::HasSubstr;

TEST(Refused, SubGroups) {
  EXPECT_EQ(reason("#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
                   "kernel void k(global int* x) { x[0] = sub_group_reduce_add(1); }",
                   "-cl-std=CL2.0"),
            "uses sub-groups (sub_group_reduce_add)");
}

TEST(Refused, ThroughAHelper) {
  EXPECT_EQ(reason("int h(void) { return get_sub_group_size(); }\nkernel void k(global int* x) { x[0] = h(); }",
                   "-cl-std=CL2.0"),
            "calls 'h', which uses sub-groups (get_sub_group_size)");
}

TEST(Refused, DeviceEnqueueAndBlocks) {
  EXPECT_THAT(reason("kernel void k(global int* x) {\n"
                     "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ x[0] = 1; });\n}",
                     "-cl-std=CL2.0"),
              HasSubstr("enqueues work on the device"));
}

TEST(Refused, Pipes) {
  EXPECT_THAT(reason("kernel void k(read_only pipe int p, global int* x) { read_pipe(p, x); }", "-cl-std=CL2.0"),
              HasSubstr("pipe"));
}

TEST(Refused, InlineAssembly) {
  EXPECT_EQ(reason("kernel void k(global int* x) { __asm__ volatile(\"\"); x[0] = 1; }"), "uses inline assembly");
}

// The original and the rewritten program would each have one of their own.
TEST(Refused, VariablesOfTheProgram) {
  constexpr const char* kWhy = "uses a variable of the program in global memory";
  EXPECT_EQ(reason("global int n;\nkernel void k(global int* x) { x[0] = n++; }", "-cl-std=CL2.0"), kWhy);
  EXPECT_EQ(reason("kernel void k(global int* x) { static global int n = 3; x[0] = n++; }", "-cl-std=CL2.0"), kWhy);
  EXPECT_EQ(reason("int n[4];\nint next(void) { return n[0]++; }\nkernel void k(global int* x) { x[0] = next(); }",
                   "-cl-std=CL2.0"),
            std::string("calls 'next', which ") + kWhy);
  EXPECT_EQ(reason("constant int n = 4;\nkernel void k(global int* x) { x[get_global_id(0)] = n; }", "-cl-std=CL2.0"),
            "");
}

TEST(Refused, FunctionsOfAnotherProgram) {
  EXPECT_EQ(reason("int elsewhere(int a);\nkernel void k(global int* x) { x[0] = elsewhere(1); }"),
            "calls 'elsewhere', which is defined in another program");
}

TEST(Refused, LocalAndPrivateTogether) {
  EXPECT_EQ(reason("kernel void k(global int* x) { local int *p = 0, t; t = 1; x[0] = t; }"),
            "declares local and private variables together");
}

TEST(Refused, FunctionsDeclaredTogether) {
  EXPECT_EQ(reason("int a(int), b(int);\nint a(int x) { return x; }\nint b(int x) { return x; }\n"
                   "kernel void k(global int* x) { x[0] = a(1) + b(2); }"),
            "calls 'a', which is declared together with another function");
}

TEST(RefusedPrograms, ThatClangDoesNotTake) {
  const Reply reply = ask("kernel void k(global int* x) {\n  x[0] = nothing;\n}");
  EXPECT_EQ(reply.refusal, "program.cl:2:10: use of undeclared identifier 'nothing'");
  EXPECT_TRUE(reply.source.empty());
  EXPECT_THAT(ask("#error stop\n").refusal, HasSubstr("stop"));
  EXPECT_THAT(ask("#include \"absent.h\"\n").refusal, HasSubstr("absent.h"));
}

TEST(RefusedPrograms, InCppOrWithOurNames) {
  EXPECT_EQ(ask("kernel void k() {}", "-cl-std=CLC++").refusal, "C++ for OpenCL is not rewritten");
  EXPECT_EQ(ask("int wm__x(void) { return 1; }").refusal, "the program uses names that begin with wm__");
}

// A loop in a kernel of global pointers; where it may wait the reason names its line.
bool waits(const std::string& loop) {
  const std::string why = reason(
      "int try(global int* l) { return atomic_xchg(l, 1); }\n"
      "kernel void k(global int* p, volatile global int* v, global int* lock, global float* f, uint n) {\n"
      "  local int t[4]; int i = get_local_id(0); int done = 0;\n  " +
      loop + "\n}");
  if (why.empty()) return false;
  EXPECT_EQ(why, "may wait for another group (the loop in line 4)") << loop;
  return true;
}

TEST(Waiting, OnAnAtomic) {
  EXPECT_TRUE(waits("while (atomic_cmpxchg(lock, 0, 1) != 0) ;"));
  EXPECT_TRUE(waits("do { done = atomic_xchg(lock, 1); } while (done);"));
  EXPECT_TRUE(waits("for (;;) { if (atomic_add(p, 0) == (int)n) break; }"));
  EXPECT_TRUE(waits("while (!done) { if (atomic_xchg(lock, 1) == 0) { f[0] += 1; atomic_xchg(lock, 0); done = 1; } }"));
  EXPECT_TRUE(waits("while (try(lock) != 0) ;"));
  EXPECT_TRUE(waits("int none = 0; while (atomic_cmpxchg(lock, none, 1) != none) ;"));
  EXPECT_TRUE(waits("while ((i = atomic_inc(p)) < (int)n) f[i] = 1;"));  // it need not wait, but that is not seen
}

TEST(Waiting, OnALoad) {
  EXPECT_TRUE(waits("while (*v == 0) ;"));
  EXPECT_TRUE(waits("while (p[i] == 0) ;"));
  EXPECT_TRUE(waits("do { done = p[n]; mem_fence(CLK_GLOBAL_MEM_FENCE); } while (done == 0);"));
}

TEST(Waiting, NotInLoopsThatEndByThemselves) {
  EXPECT_FALSE(waits("for (int j = 0; j < p[0]; ++j) f[j] = j;"));
  EXPECT_FALSE(waits("while (p[i] != 0) i = p[i];"));
  EXPECT_FALSE(waits("for (int j = 0; j < 4; ++j) atomic_add(&p[j], j);"));
  EXPECT_FALSE(waits("for (int j = 0; j < 4; ++j) if (atomic_inc(&p[j]) == 0) f[j] = 1;"));
  EXPECT_FALSE(waits("while (t[0] != 0) { barrier(CLK_LOCAL_MEM_FENCE); if (i == 0) t[0] = 0; }"));
  EXPECT_FALSE(waits("while (atomic_xchg(&t[0], 0) != 0) ;"));  // local memory: its own group's doing
  EXPECT_FALSE(waits("while (p[0] > 3) p[0] -= 1;"));
}

TEST(Waiting, NotInAnUpdateByCompareAndSwap) {
  EXPECT_FALSE(waits("int old, want; do { old = *v; want = old * 3; } while (atomic_cmpxchg(v, old, want) != old);"));
  EXPECT_FALSE(
      waits("int old = *v; for (;;) { const int seen = atomic_cmpxchg(v, old, old + 7); if (seen == old) break; old = "
            "seen; }"));
  EXPECT_FALSE(
      waits("union { int i; float f; } a, b; do { a.f = f[0]; b.f = a.f + 1; } while (atomic_cmpxchg((volatile global "
            "int*)f, a.i, b.i) != a.i);"));
  // The same, but it starts over while another holds the place.
  EXPECT_TRUE(waits("int old; do { old = *v; if (old < 0) continue; } while (atomic_cmpxchg(v, old, -1) != old);"));
}

TEST(Waiting, JumpsAroundAtomicsAreNotUnderstood) {
  EXPECT_EQ(reason("kernel void k(global int* l) { again: if (atomic_xchg(l, 1) != 0) goto again; }"),
            "jumps by goto around atomics");
}

}  // namespace
}  // namespace wm::rewrite
