// Accesses of a block that has a GlobalPort, as in a timed run: they must give what a functional run gives.
#include <bit>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/loaded_kernel.h"

namespace wm::exec {
namespace {

// Steps the only block of `text` to its end. Atomics are applied at once; stores stay in the port until the end.
std::vector<std::uint32_t> through_port(const std::string& text, std::size_t words, PrintSink print = {}) {
  LoadedKernel kernel(text, words);
  Grid grid = kernel.grid({1, 1, 1}, {32, 1, 1});
  grid.print = std::move(print);
  GlobalPort port;
  Block block;
  block.port = &port;
  block.start(grid, {0, 0, 0});
  Step step;
  while (!block.done() && !block.fault()) {
    block.step(0, step);
    if (PendingAtomic* atomic = port.take_atomic()) {
      port.publish();
      atomic->apply(kAllLanes);
      atomic->complete();
      port.recycle(atomic);
    }
  }
  EXPECT_FALSE(block.fault().has_value()) << block.fault()->to_string();
  port.publish();
  return kernel.out();
}

std::vector<std::uint32_t> at_once(const std::string& text, std::size_t words) {
  Snippet snippet;
  snippet.text = text;
  snippet.out_words = words;
  return exec::words("", snippet);
}

// %d2: the thread's own word as a generic address: of shared memory in even lanes, of `out` in odd ones.
std::string mixed(const std::string& body) {
  return kernel(R"(
    .shared .align 8 .b32 tile[64];
    mov.u64 %d0, tile;
    cvta.shared.u64 %d0, %d0;
    mul.wide.u32 %d1, %thread, 8;
    add.u64 %d0, %d0, %d1;
    add.u64 %d1, %d1, %out;
    and.b32 %r0, %thread, 1;
    setp.eq.u32 %p0, %r0, 0;
    selp.b64 %d2, %d0, %d1, %p0;
    mul.lo.u32 %r1, %thread, 3;
    mov.u32 %r5, 0;
    st.u32 [%d0], %r5;
    st.global.u32 [%d1], %r5;
    )" + body);
}
constexpr const char* kResult = "\nst.global.u32 [%d1+4], %r7;\nld.u32 %r8, [%d2];\nst.global.u32 [%d1], %r8;\nret;";

TEST(PortAccess, ALoadOfSeveralSpacesSeesStoresThatAreNotPublished) {
  const std::string text =
      mixed(std::string("st.u32 [%d0], %r1;\nst.global.u32 [%d1], %r1;\nld.u32 %r7, [%d2];\n") + kResult);
  EXPECT_EQ(through_port(text, 64), at_once(text, 64));
  EXPECT_EQ(through_port(text, 64), table(64, [](auto i) { return i / 2 * 3; }));
}

TEST(PortAccess, AStoreToSeveralSpacesComesAfterEarlierStores) {
  const std::string text = mixed(std::string("st.u32 [%d2], %r1;\nld.global.u32 %r7, [%d1];\n") + kResult);
  EXPECT_EQ(through_port(text, 64), at_once(text, 64));
  EXPECT_EQ(through_port(text, 64), table(64, [](auto i) { return i % 4 == 1 ? 0 : i / 2 * 3; }));
}

TEST(PortAccess, AnAtomicOnSeveralSpacesSeesStoresThatAreNotPublished) {
  const std::string text =
      mixed(std::string("st.u32 [%d0], %r1;\nst.global.u32 [%d1], %r1;\natom.add.u32 %r7, [%d2], 5;\n") + kResult);
  EXPECT_EQ(through_port(text, 64), at_once(text, 64));
  EXPECT_EQ(through_port(text, 64), table(64, [](auto i) { return i / 2 * 3 + (i % 2 == 0 ? 5 : 0); }));
}

TEST(PortAccess, AnAtomicOnAVectorSeesStoresThatAreNotPublished) {
  const std::string text = kernel(R"(
    mul.wide.u32 %d1, %thread, 8;
    add.u64 %d1, %d1, %out;
    cvt.rn.f32.u32 %f0, %thread;
    add.f32 %f1, %f0, 0f3F800000;
    st.global.v2.f32 [%d1], {%f0, %f1};
    atom.global.add.v2.f32 {%f2, %f3}, [%d1], {%f0, %f0};
    setp.gt.u32 %p0, %thread, 15;
    @%p0 st.global.v2.f32 [%d1], {%f2, %f3};
    ret;)");
  const auto got = through_port(text, 64);
  EXPECT_EQ(got, at_once(text, 64));
  EXPECT_EQ(got, table(64, [](auto i) {
              const float thread = static_cast<float>(i / 2), second = static_cast<float>(i % 2);
              const float value = i / 2 > 15 ? thread + second : thread + second + thread;
              return std::bit_cast<std::uint32_t>(value);
            }));
}

// Output of blocks that run side by side must come in one order: the simulator asks for it between quanta.
TEST(PortAccess, PrintedTextComesWithPublishedStores) {
  const std::string text = kernel(R"(
    .local .align 8 .b8 args[8];
    .param .b64 a; .param .b64 b; .param .b32 r;
    setp.ne.u32 %p0, %thread, 0;
    @%p0 ret;
    mov.u32 %r0, 0x00006948;
    st.global.u32 [%at+8], %r0;
    add.u64 %d1, %at, 8;
    cvta.global.u64 %d1, %d1;
    st.local.u64 [args], %d1;
    mov.u64 %d2, args;
    cvta.local.u64 %d2, %d2;
    mov.u64 %d3, text;
    cvta.global.u64 %d3, %d3;
    st.param.b64 [a], %d3;
    st.param.b64 [b], %d2;
    call (r), vprintf, (a, b);
    ret;)",
                                  ".global .align 1 .b8 text[5] = {91, 37, 115, 93, 0};\n"
                                  ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n");
  std::string printed;
  through_port(text, 32, [&](std::string_view s) { printed += s; });
  EXPECT_EQ(printed, "[Hi]");
}

}  // namespace
}  // namespace wm::exec
