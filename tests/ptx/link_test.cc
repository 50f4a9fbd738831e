// Modules that were compiled separately become one: declarations meet definitions, internal names stay apart.
#include "ptx/link.h"

#include <gtest/gtest.h>
#include <set>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Module module(const std::string& text) {
  auto parsed = parse(".version 7.5\n.target sm_75\n.address_size 64\n" + text, "part.ptx");
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return *std::move(parsed);
}

const Function& function(const Module& m, const std::string& name) {
  for (const Function& f : m.functions)
    if (f.name == name) return f;
  ADD_FAILURE() << "no function " << name;
  return m.functions.front();
}

constexpr const char* kCaller = R"(
.extern .func (.param .b32 r) helper (.param .b32 x);
.extern .global .align 4 .u32 total;
.global .align 4 .u32 own = 1;
.visible .entry kernel(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.global.u32 %r1, [total]; ld.global.u32 %r2, [own];
{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), helper, (x); ld.param.b32 %r3, [r]; }
ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r3; ret;
})";

constexpr const char* kCallee = R"(
.visible .global .align 4 .u32 total = 40;
.global .align 4 .u32 own = 2;
.global .align 8 .u64 pointer = own;
.visible .func (.param .b32 r) helper (.param .b32 x)
{
.reg .b32 %r<4>;
ld.param.b32 %r1, [x]; ld.global.u32 %r2, [own]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;
})";

TEST(Link, ADeclarationMeetsTheDefinitionInAnotherPart) {
  for (const bool caller_first : {true, false}) {
    const auto linked =
        caller_first ? link({module(kCaller), module(kCallee)}) : link({module(kCallee), module(kCaller)});
    ASSERT_TRUE(linked) << linked.error().what;
    EXPECT_EQ(linked->functions.size(), 2U);
    EXPECT_EQ(linked->variables.size(), 4U);  // total, pointer, and two that are called own
    const Function* helper = &function(*linked, "helper");
    EXPECT_FALSE(helper->declaration);
    bool calls_helper = false;
    for (const Instruction& i : function(*linked, "kernel").body) {
      for (const Operand& o : i.operands) {
        if (o.kind == Operand::Kind::function) calls_helper = &linked->functions[o.index] == helper;
      }
    }
    EXPECT_TRUE(calls_helper);
  }
}

TEST(Link, EachDeclarationMeetsItsOwnDefinition) {
  const auto linked =
      link({module(".visible .global .u32 a = 1; .visible .global .u32 b = 2; .visible .global .u32 c = 3;"),
            module(R"(.extern .global .u32 c; .extern .global .u32 b;
.visible .entry kernel() { .reg .b32 %r<4>; ld.global.u32 %r1, [b]; ld.global.u32 %r2, [c]; ret; })")});
  ASSERT_TRUE(linked) << linked.error().what;
  std::vector<std::string> read;
  for (const Instruction& i : function(*linked, "kernel").body)
    for (const Operand& o : i.operands)
      if (o.kind == Operand::Kind::address) read.push_back(linked->variables[o.elements[0].index].name);
  EXPECT_EQ(read, (std::vector<std::string>{"b", "c"}));
}

TEST(Link, InternalVariablesOfTheSameNameStayApart) {
  const auto linked = link({module(kCaller), module(kCallee)});
  ASSERT_TRUE(linked);
  const auto own_in = [&](const std::string& name) {
    for (const Instruction& i : function(*linked, name).body) {
      for (const Operand& o : i.operands) {
        if (o.kind != Operand::Kind::address || o.elements.empty()) continue;
        const Operand& base = o.elements[0];
        if (base.kind != Operand::Kind::variable || base.scope != Operand::Scope::module) continue;
        const Variable& v = linked->variables[base.index];
        if (v.name.starts_with("own")) return static_cast<int>(v.initial[0]);
      }
    }
    return 0;
  };
  EXPECT_EQ(own_in("kernel"), 1);
  EXPECT_EQ(own_in("helper"), 2);
  for (const Variable& v : linked->variables) {
    if (v.name != "pointer") continue;
    EXPECT_EQ(v.relocations[0].symbol, "own$1");
  }
}

TEST(Link, TwoDefinitionsAreAnErrorUnlessOneIsWeak) {
  const std::string strong = ".visible .global .u32 x = 1;", weak = ".weak .global .u32 x = 2;";
  const auto twice = link({module(strong), module(strong)});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().what.find("'x' is defined in two parts"), std::string::npos);
  const auto linked = link({module(weak), module(strong), module(weak)});
  ASSERT_TRUE(linked);
  ASSERT_EQ(linked->variables.size(), 1U);
  EXPECT_EQ(linked->variables[0].initial[0], 1);
}

TEST(Link, ADeclarationWithoutDefinitionStaysOnce) {
  const std::string text = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);";
  const auto linked = link({module(text), module(text)});
  ASSERT_TRUE(linked);
  ASSERT_EQ(linked->functions.size(), 1U);
  EXPECT_TRUE(linked->functions[0].declaration);
}

TEST(Link, TheNewestPartGivesVersionAndTarget) {
  const auto part = [](const char* version, const char* target) {
    return *parse(std::string(".version ") + version + "\n.target " + target + "\n.address_size 64\n", "part.ptx");
  };
  const auto linked = link({part("7.5", "sm_75"), part("8.1", "sm_90"), part("8.0", "sm_80")});
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->version_major, 8U);
  EXPECT_EQ(linked->version_minor, 1U);
  EXPECT_EQ(linked->targets, (std::vector<std::string>{"sm_90"}));
  EXPECT_EQ(linked->address_size, 64U);
}

TEST(Link, SourceLinesKeepTheirFiles) {
  const auto part = [](const std::string& name) {
    return module(".file 1 \"" + name + "1.cu\"\n.file 2 \"" + name + "2.cu\"\n.visible .entry " + name +
                  "() {\n.reg .b32 %r<2>;\nmov.b32 %r1, 0;\n.loc 1 5 1\nmov.b32 %r1, 1;\n.loc 2 1 1\nret;\n}");
  };
  const auto linked = link({part("a"), part("b"), part("c")});
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->files, (std::vector<std::string>{"", "a1.cu", "a2.cu", "b1.cu", "b2.cu", "c1.cu", "c2.cu"}));
  for (const char* name : {"a", "b", "c"}) {
    const auto& body = function(*linked, name).body;
    EXPECT_EQ(body[0].source.line, 0U);
    EXPECT_EQ(linked->files[body[0].source.file], "") << "it has no line";
    EXPECT_EQ(linked->files[body[1].source.file], std::string(name) + "1.cu");
    EXPECT_EQ(linked->files[body[2].source.file], std::string(name) + "2.cu");
  }
}

// Both parts have an internal function f and a table with its address.
TEST(Link, TablesAndInitialValuesFollowTheirFunctions) {
  const auto part = [](const std::string& name) {
    return module(".func g() { ret; }\n.func f() { ret; }\n.global .u64 " + name + "_table = f;\n.visible .entry " +
                  name +
                  "() {\n.reg .b64 %rd<2>;\nt: .calltargets f;\nmov.u64 %rd1, f;\ncall %rd1, t;\ncall f;\nret;\n}");
  };
  const auto linked = link({part("a"), part("b")});
  ASSERT_TRUE(linked) << linked.error().what;
  std::set<std::string> of_tables, of_calls, of_values;
  for (const char* name : {"a", "b"}) {
    const Function& kernel = function(*linked, name);
    of_tables.insert(linked->functions[kernel.call_tables[0].functions[0]].name);
    for (const Instruction& i : kernel.body)
      for (const Operand& o : i.operands)
        if (o.kind == Operand::Kind::function) of_calls.insert(linked->functions[o.index].name);
  }
  for (const Variable& v : linked->variables) of_values.insert(v.relocations[0].symbol);
  EXPECT_EQ(of_tables.size(), 2U);
  EXPECT_EQ(of_calls, of_tables);
  EXPECT_EQ(of_values, of_tables);
}

// A name that an internal symbol gets must not be one that a later part uses.
TEST(Link, ANewNameIsNoOtherPartsName) {
  const auto linked =
      link({module(".global .u32 x = 1;"), module(".global .u32 x = 2;"), module(".visible .global .u32 x$1 = 3;")});
  ASSERT_TRUE(linked) << linked.error().what;
  std::set<std::string> names;
  for (const Variable& v : linked->variables) names.insert(v.name);
  EXPECT_EQ(names.size(), 3U);
  for (const Variable& v : linked->variables) EXPECT_EQ(v.name == "x$1", v.initial[0] == 3) << v.name;
}

}  // namespace
}  // namespace wm::ptx
