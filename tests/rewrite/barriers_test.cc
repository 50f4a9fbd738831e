// Stores beside barriers and branches with barriers: the shape that PoCL 3.1 compiles correctly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "rewrite/ask.h"

namespace wm::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Barriers, AreFollowedByAStoreThatKeepsThemFromTheNextBranch) {
  const std::string text =
      ask("void f(local int* l) { wait_group_events(0, 0); work_group_barrier(CLK_LOCAL_MEM_FENCE); }\n"
          "kernel void k(local int* l, int n) { barrier(CLK_LOCAL_MEM_FENCE); if (n > 1) f(l); }",
          "-cl-std=CL2.0")
          .source;
  EXPECT_THAT(text,
              HasSubstr("{ *wm__mark = 0u; (barrier(CLK_LOCAL_MEM_FENCE), (void)(*wm__mark = 0u)); if (n > 1) { "));
  EXPECT_THAT(text, HasSubstr("(wait_group_events(0, 0), (void)(*wm__mark = 0u)); "
                              "(work_group_barrier(CLK_LOCAL_MEM_FENCE), (void)(*wm__mark = 0u));"));
  EXPECT_THAT(text, HasSubstr("wm__body_k(l, n, wm__next + 4);"));
  EXPECT_THAT(ask("kernel void k(global int* x) { x[0] = 1; }").source, Not(HasSubstr("wm__mark")));
}

// The new text of a kernel's statement: W is the store of a word, H that of half a word, B a barrier with its store.
std::string marked(const std::string& statement) {
  std::string text =
      ask("kernel void k(local int* l, int n) { l[0] = n; " + statement + " l[1] = n; barrier(1); }").source;
  const std::size_t from = text.find("l[0] = n; ") + 10;
  text = text.substr(from, text.find(" l[1] = n;") - from);
  text = std::regex_replace(text, std::regex(R"(\(barrier\(1\), \(void\)\(\*wm__mark = 0u\)\);)"), "B");
  text = std::regex_replace(text, std::regex(R"(wm__mark\[[0-9]+\] = 0u;)"), "W");
  return std::regex_replace(text, std::regex(R"(\*\(__local ushort\*\)\(wm__mark \+ [0-9]+\) = 0;)"), "H");
}

TEST(Barriers, InBranchesHaveAStoreAtEachEndOfTheBranch) {
  EXPECT_EQ(marked("if (n) barrier(1);"), "if (n) { W B W } else { H } W");
  EXPECT_EQ(marked("if (n) { barrier(1); } else { l[n] = n; }"), "if (n) { W B W } else { W l[n] = n; H } W");
  EXPECT_EQ(marked("if (n) { l[n] = n; } else if (l[n]) barrier(1);"),
            "if (n) { W l[n] = n; W } else { W if (l[n]) { W B W } else { H } W H } W");
  EXPECT_EQ(marked("if (n) if (l[n]) barrier(1);"), "if (n) { W if (l[n]) { W B W } else { H } W W } else { H } W");
}

TEST(Barriers, InLoopsAndSwitchesHaveAStoreBeforeEachWayOut) {
  EXPECT_EQ(
      marked("for (;;) { if (n) break; if (l[n]) continue; barrier(1); }"),
      "for (;;) { W if (n) { W { H break; } W } else { H } W if (l[n]) { W { H continue; } W } else { H } W B W } W");
  EXPECT_EQ(marked("do barrier(1); while (n);"), "do { W B  } while (n); W");
  EXPECT_EQ(marked("switch (n) { case 1: barrier(1); break; default: l[n] = n; break; }"),
            "switch (n) { W case 1: W B { H break; } default: W l[n] = n; { W break; } W } W");
}

TEST(Barriers, HaveAStoreBeforeReturns) {
  EXPECT_EQ(marked("if (n) return;"), "if (n) { W { H return; } W } else { H } W");
  EXPECT_EQ(marked("for (;;) { if (n) return; }"), "for (;;) { W if (n) { W { H return; } W } else { H } W W } W");
}

TEST(Barriers, DoNotChangeBranchesWithoutThem) {
  for (const char* statement : {"if (n) l[n] = n; else l[n] = 2;", "for (;;) if (l[n]) break; else continue;",
                                "switch (n) { case 1: l[n] = n; break; default: l[n] = 2; }"}) {
    EXPECT_EQ(marked(statement), statement);
  }
}

TEST(Barriers, StoresOfBranchesThatMeetDifferInWidthAndWord) {
  const std::string text =
      ask("kernel void k(int n) { if (n) { barrier(CLK_LOCAL_MEM_FENCE); } else { barrier(CLK_GLOBAL_MEM_FENCE); } }")
          .source;
  EXPECT_THAT(text, HasSubstr("wm__mark[1] = 0u; } else { wm__mark[4] = 0u; "));
  EXPECT_THAT(text, HasSubstr("*(__local ushort*)(wm__mark + 3) = 0; } wm__mark[5] = 0u;"));
}

TEST(Barriers, OfAKernelHaveWordsOfTheirOwn) {
  const Reply reply = ask("kernel void k(int n) { if (n) barrier(CLK_LOCAL_MEM_FENCE); }");
  EXPECT_THAT(reply.source, HasSubstr("__local uint wm__next[36];"));
  EXPECT_EQ(kernel_of(reply).extra_local_bytes, 4U * 36);
}

TEST(Barriers, ThatCannotBeKeptApartAreRefused) {
  EXPECT_EQ(reason("kernel void k(int n) { again: barrier(CLK_LOCAL_MEM_FENCE); if (n--) goto again; }"),
            "has a goto beside barriers");
  EXPECT_EQ(reason("int f(int n) { barrier(CLK_LOCAL_MEM_FENCE); return n; }\n"
                   "kernel void k(global int* x, int n) { x[0] = n > 1 && f(n) > 2; }"),
            "has a barrier in a part of an expression that may be skipped");
  const std::string falls = "has a switch with barriers in which a case continues in the next one";
  const auto choice = [](const std::string& cases) {
    return reason("kernel void k(local int* l, int n) { switch (n) { " + cases + " } barrier(1); }");
  };
  EXPECT_EQ(choice("case 0: barrier(1); l[n] = n; case 1: break; default: ;"), falls);
  EXPECT_EQ(choice("case 0: barrier(1); break; case 1: if (n) { case 2: l[n] = n; } break;"), falls);
  EXPECT_EQ(
      choice("case 0: case 1: barrier(1); break; case 2: { l[n] = n; break; } case 3: return; default: l[0] = n;"), "");
  EXPECT_EQ(choice("case 0: l[n] = n; case 1: break;"), "") << "no barrier in the switch";
  EXPECT_EQ(reason("kernel void k(global int* x, int n) { again: x[0] = n; if (n--) goto again; }"), "");
}

}  // namespace
}  // namespace wm::rewrite
