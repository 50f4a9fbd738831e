// Memory that a thread asks for: alloca on its stack, malloc and free on the heap.
#include "exec/device_heap.h"
#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Alloca, EveryThreadHasItsOwnMemoryOfItsOwnSize) {
  const std::string body = R"(
    .reg .b64 %top, %p;
    add.u32 %r0, %thread, 1;
    mul.wide.u32 %d0, %r0, 4;
    stacksave.u64 %top;
    alloca.u64 %p, %d0, 16;
    and.b64 %d1, %p, 15;
    cvt.u32.u64 %r4, %d1;
    mov.u32 %r1, 0;
  FILL:
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d1, %d1, %p;
    st.local.u32 [%d1], %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, %r0;
    @%p0 bra FILL;
    mov.u32 %r2, 0;
  SUM:
    sub.u32 %r1, %r1, 1;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d1, %d1, %p;
    ld.local.u32 %r3, [%d1];
    add.u32 %r2, %r2, %r3;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra SUM;
    stackrestore.u64 %top;
    alloca.u64 %d2, 4, 4;
    setp.le.u64 %p1, %d2, %p;
    @%p1 add.u32 %r2, %r2, 1000;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%at], %r2;
    ret;)";
  // The second alloca is above the first one, since the stack was restored.
  EXPECT_EQ(words(body), table(32, [](auto i) { return i * (i + 1) / 2; }));
}

TEST(Alloca, EndsWithItsFunctionAndIsBounded) {
  Snippet s;
  s.text = kernel(R"(
    mov.u32 %r0, 0;
  LOOP:
    call.uni take, ();
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 100;
    @%p0 bra LOOP;
    st.global.u32 [%at], %r0;
    ret;)",
                  R"(.func take() {
    .reg .b64 %p;
    alloca.u64 %p, 4096;
    st.local.u32 [%p], 1;
    ret;
  })");
  EXPECT_EQ(words("", s), table(32, [](auto) { return 100; }));
  s.text = kernel("alloca.u64 %d0, 1000000;\nst.local.u32 [%d0], 1;\nret;");
  EXPECT_NE(run(s).error.find("alloca of 1000000 bytes"), std::string::npos) << run(s).error;
}

constexpr const char* kHeap = R"(.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
)";

TEST(Heap, ThreadsAllocateUseAndFree) {
  Snippet s;
  s.grid = {2, 1, 1};
  s.text = kernel(R"(
    .param .b64 n; .param .b64 p;
    mov.u32 %r0, 0;
  ROUND:
    st.param.b64 [n], 4096;
    call.uni (p), malloc, (n);
    ld.param.b64 %d0, [p];
    setp.eq.u64 %p0, %d0, 0;
    @%p0 bra FULL;
    st.u32 [%d0+4092], %thread;
    ld.global.u32 %r1, [%d0+4092];
    st.param.b64 [p], %d0;
    call.uni free, (p);
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 300;
    @%p1 bra ROUND;
    add.u32 %r1, %r1, %r0;
    st.global.u32 [%at], %r1;
  FULL:
    ret;)",
                  kHeap);
  EXPECT_EQ(words("", s), table(32, [](auto i) { return i + 300; }));
}

TEST(Heap, GivesNullWhenItIsFullAndRefusesForeignAddresses) {
  DeviceHeap heap(0x1000);
  EXPECT_EQ(heap.allocate(0, 0, 1), 0U);
  const std::uint64_t all = heap.allocate(DeviceHeap::kBytes, 0, 1);
  EXPECT_EQ(all, 0x1000U);
  EXPECT_EQ(heap.allocate(1, 0, 1), 0U);
  EXPECT_TRUE(heap.free(all, 0));
  EXPECT_EQ(heap.allocate(DeviceHeap::kBytes, 0, 1), all);
  EXPECT_TRUE(heap.free(0, 0));
  EXPECT_FALSE(heap.free(0x10, 0));
}

TEST(Heap, SmsAllocateApartFromEachOther) {
  DeviceHeap heap(0);
  const std::uint64_t a = heap.allocate(100, 0, 4), b = heap.allocate(100, 1, 4);
  EXPECT_EQ(heap.allocate(10, 0, 4), a + 112);
  EXPECT_EQ(b, DeviceHeap::kBytes / 4);
  EXPECT_EQ(heap.allocate(DeviceHeap::kBytes / 2, 2, 4), 0U);
}

}  // namespace
}  // namespace wm::exec
