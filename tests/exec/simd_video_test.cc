// vadd2 to vset4: two or four integers in one register.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

std::uint32_t video(const std::string& instruction, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  Snippet s;
  s.block = {1, 1, 1};
  s.out_words = 1;
  s.text = kernel("mov.u32 %r1, " + std::to_string(a) + ";\nmov.u32 %r2, " + std::to_string(b) + ";\nmov.u32 %r3, " +
                  std::to_string(c) + ";\n" + instruction + " %r4, %r1, %r2, %r3;\nst.global.u32 [%out], %r4;\nret;");
  const Outcome o = run(s);
  EXPECT_EQ(o.error, "") << instruction;
  return o.out.empty() ? 0 : o.out[0];
}

TEST(SimdVideo, SumsWrapOrSaturateToTheDestinationsType) {
  EXPECT_EQ(video("vadd4.u32.u32.u32", 0xff01807f, 0x02ff8001), 0x01000080U);
  EXPECT_EQ(video("vadd4.u32.u32.u32.sat", 0xff01807f, 0x02ff8001), 0xffffff80U);
  EXPECT_EQ(video("vadd4.s32.s32.s32.sat", 0x7f80017f, 0x0180ff01), 0x7f80007fU);
  EXPECT_EQ(video("vadd2.s32.s32.s32.sat", 0x7fff8000, 0x0001ffff), 0x7fff8000U);
  EXPECT_EQ(video("vadd2.u32.u32.u32", 0xffff0001, 0x00020003), 0x00010004U);
}

TEST(SimdVideo, DifferencesAveragesAndExtremes) {
  EXPECT_EQ(video("vsub4.s32.s32.s32.sat", 0x80017f00, 0x0102ff05), 0x80ff7ffbU);
  EXPECT_EQ(video("vsub4.u32.u32.u32.sat", 0x05010080, 0x0602ff01), 0x0000007fU);
  EXPECT_EQ(video("vabsdiff4.u32.u32.u32", 0x05ff0080, 0x0601ff01), 0x01feff7fU);
  EXPECT_EQ(video("vabsdiff4.u32.u32.u32.add", 0x05ff0080, 0x0601ff01, 100), 100U + 1 + 0xfe + 0xff + 0x7f);
  EXPECT_EQ(video("vavrg4.u32.u32.u32", 0x05ff0080, 0x0601ff02), 0x06808041U);
  EXPECT_EQ(video("vavrg2.s32.s32.s32", 0xfffd0003, 0xfffe0004), 0xfffd0004U) << "-5 / 2 is -3, 7 / 2 is 4";
  EXPECT_EQ(video("vmin4.s32.s32.s32", 0x80017f00, 0x0102ff05), 0x8001ff00U);
  EXPECT_EQ(video("vmax4.u32.u32.u32", 0x80017f00, 0x0102ff05), 0x8002ff05U);
  EXPECT_EQ(video("vmax2.s32.s32.s32", 0x80010005, 0x00020004), 0x00020005U);
}

TEST(SimdVideo, OperandsSelectElementsAndMasksKeepTheThirdSource) {
  const auto selected = [](const std::string& instruction) {
    Snippet s;
    s.block = {1, 1, 1};
    s.out_words = 1;
    s.text = kernel("mov.u32 %r1, 0x04030201;\nmov.u32 %r2, 0x40302010;\nmov.u32 %r3, 0xaabbccdd;\n" + instruction +
                    "\nst.global.u32 [%out], %r4;\nret;");
    return words("", s).at(0);
  };
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4, %r1.b0123, %r2, %r3;"), 0x41322314U);
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4, %r1.b7777, %r2.b4000, %r3;"), 0x50414141U);
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4.b20, %r1, %r2, %r3;"), 0xaa33cc11U);
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4.b321, %r1, %r2, %r3;"), 0x443322ddU);
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4.b310, %r1, %r2, %r3;"), 0x44bb2211U);
  EXPECT_EQ(selected("vadd4.u32.u32.u32 %r4.b3210, %r1, %r2, %r3;"), 0x44332211U);
  EXPECT_EQ(selected("vadd4.u32.u32.u32.add %r4.b20, %r1, %r2, %r3;"), 0xaabbccddU + 0x33 + 0x11);
  EXPECT_EQ(selected("vadd2.u32.u32.u32 %r4, %r1.h01, %r2.h12, %r3;"), 0x06042413U);
  EXPECT_EQ(selected("vsub2.u32.u32.u32 %r4.h1, %r1.h33, %r2, %r3;"), 0x0000ccddU);
}

TEST(SimdVideo, ComparisonsGiveOneAndCount) {
  EXPECT_EQ(video("vset4.u32.u32.eq", 0x01020304, 0x01000300), 0x01000100U);
  EXPECT_EQ(video("vset4.u32.u32.ne.add", 0x01020304, 0x01000300, 10), 12U);
  EXPECT_EQ(video("vset4.s32.s32.lt", 0xff7f0080, 0x00000000), 0x01000001U);
  EXPECT_EQ(video("vset2.u32.u32.ge", 0xffff0000, 0x00010001), 0x00010000U);
}

}  // namespace
}  // namespace wm::exec
