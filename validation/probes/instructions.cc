// Instructions: how long until a dependent one, and how many a cycle an SM takes.
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "probes/probe.h"

namespace wm::validation {
namespace {

constexpr std::uint32_t kRepeat = 16;  // copies of the statement in the loop's body
constexpr std::uint32_t kChains = 6;   // independent ones of a thread, for rates
constexpr std::uint32_t kThreads = 1024;

// One dependent step of a chain; @ is its register's number, and no compiler can know its other operands.
struct Form {
  std::string_view name;
  std::string_view step;
  char bank;  // kind of its register: r, d (64 bits), f, F (double)
  std::uint32_t operations = 1;
};
constexpr std::array kForms{
    Form{"fma.f32", "fma.rn.f32 %f@, %f@, %f1, %f2;", 'f'},
    Form{"add.f32", "add.rn.f32 %f@, %f@, %f1;", 'f'},
    Form{"mul.f32", "mul.rn.f32 %f@, %f@, %f1;", 'f'},
    Form{"min.f32", "min.f32 %f@, %f@, %f1;\nmax.f32 %f@, %f@, %f2;", 'f', 2},
    Form{"add.xor.s32", "add.s32 %r@, %r@, %r8;\nxor.b32 %r@, %r@, %r9;", 'r', 2},
    Form{"mad.lo.s32", "mad.lo.s32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"mad.hi.u32", "mad.hi.u32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"mad.wide.u32", "mad.wide.u32 %rd@, %r8, %r9, %rd@;", 'd'},
    Form{"shl.add.b32", "shl.b32 %r@, %r@, %r8;\nadd.s32 %r@, %r@, %r9;", 'r', 2},
    Form{"min.max.s32", "min.s32 %r@, %r@, %r8;\nmax.s32 %r@, %r@, %r9;", 'r', 2},
    Form{"setp.selp", "setp.lt.s32 %p@, %r@, %r8;\nselp.b32 %r@, %r@, %r9, %p@;", 'r', 2},
    Form{"popc.b32", "popc.b32 %r@, %r@;\nadd.s32 %r@, %r@, %r9;", 'r', 2},
    Form{"cvt.s32.f32", "cvt.rzi.s32.f32 %r@, %f@;\nadd.s32 %r@, %r@, %r8;\ncvt.rn.f32.s32 %f@, %r@;", 'f', 3},
    Form{"ex2.approx.f32", "ex2.approx.ftz.f32 %f@, %f@;", 'f'},
    Form{"rcp.approx.f32", "rcp.approx.ftz.f32 %f@, %f@;\nadd.rn.f32 %f@, %f@, %f1;", 'f', 2},
    Form{"rsqrt.approx.f32", "rsqrt.approx.ftz.f32 %f@, %f@;", 'f'},
    Form{"sin.approx.f32", "sin.approx.f32 %f@, %f@;", 'f'},
    Form{"sqrt.approx.f32", "sqrt.approx.f32 %f@, %f@;", 'f'},
    Form{"div.full.f32", "div.full.f32 %f@, %f1, %f@;", 'f'},
    Form{"div.rn.f32", "div.rn.f32 %f@, %f@, %f1;", 'f'},
    Form{"div.s32", "div.s32 %r@, %r9, %r@;", 'r'},
    Form{"rem.u32", "rem.u32 %r@, %r9, %r@;\nor.b32 %r@, %r@, %r8;", 'r'},
    Form{"add.s64", "add.s64 %rd@, %rd@, %rd8;\nxor.b64 %rd@, %rd@, %rd9;", 'd', 2},
    Form{"fma.f64", "fma.rn.f64 %fd@, %fd@, %fd1, %fd2;", 'F'},
    Form{"add.f64", "add.rn.f64 %fd@, %fd@, %fd1;", 'F'},
    Form{"shfl.bfly", "shfl.sync.bfly.b32 %r@, %r@, %r9, 31, -1;\nadd.s32 %r@, %r@, %r8;", 'r', 2},
    // One class each, whose neighbours the assembler cannot combine, and pairs of classes.
    Form{"add.s32", "add.s32 %r@, %r@, %r8;", 'r'},
    Form{"lop3.b32", "lop3.b32 %r@, %r@, %r8, %r9, 0xe8;", 'r'},
    Form{"shf.wrap.b32", "shf.l.wrap.b32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"prmt.b32", "prmt.b32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"mul.lo.s32", "mul.lo.s32 %r@, %r@, %r9;", 'r'},
    Form{"mul.lo.s64", "mul.lo.s64 %rd@, %rd@, %rd9;", 'd'},
    Form{"mul.hi.u64", "mul.hi.u64 %rd@, %rd@, %rd9;", 'd'},
    Form{"dp4a", "dp4a.s32.s32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"bfe.u32", "bfe.u32 %r@, %r@, %r8, %r9;", 'r'},
    Form{"brev.b32", "brev.b32 %r@, %r@;\nadd.s32 %r@, %r@, %r9;", 'r', 2},
    Form{"clz.b32", "clz.b32 %r@, %r@;\nadd.s32 %r@, %r@, %r9;", 'r', 2},
    Form{"mad.lop3", "mad.lo.s32 %r@, %r@, %r8, %r9;\nlop3.b32 %r@, %r@, %r8, %r9, 0xe8;", 'r', 2},
    Form{"add.mad", "add.s32 %r@, %r@, %r8;\nmad.lo.s32 %r@, %r@, %r9, %r9;", 'r', 2},
    Form{"fma.lop3",
         "fma.rn.f32 %f@, %f@, %f1, %f2;\nmov.b32 %r@, %f@;\nlop3.b32 %r@, %r@, %r8, %r9, 0xe8;\nmov.b32 %f@, %r@;",
         'f', 2},
    Form{"fma.mad",
         "fma.rn.f32 %f@, %f@, %f1, %f2;\nmov.b32 %r@, %f@;\nmad.lo.s32 %r@, %r@, %r9, %r8;\nmov.b32 %f@, %r@;", 'f',
         2},
    Form{"fma.ex2", "fma.rn.f32 %f@, %f@, %f1, %f2;\nex2.approx.ftz.f32 %f@, %f@;", 'f', 2},
    Form{"fma4.rsqrt",
         "fma.rn.f32 %f@, %f@, %f1, %f2;\nfma.rn.f32 %f@, %f@, %f1, %f2;\nfma.rn.f32 %f@, %f@, %f1, %f2;\nfma.rn.f32 "
         "%f@, %f@, %f1, %f2;\nrsqrt.approx.ftz.f32 %f@, %f@;",
         'f', 5},
    Form{"rsqrt.approx", "rsqrt.approx.f32 %f@, %f@;", 'f'},
    Form{"ex2.approx", "ex2.approx.f32 %f@, %f@;", 'f'},
    Form{"lg2.approx", "lg2.approx.f32 %f@, %f@;\nadd.rn.f32 %f@, %f@, %f1;", 'f', 2},
    Form{"tanh.approx", "tanh.approx.f32 %f@, %f@;", 'f'},
    Form{"sqrt.rn", "sqrt.rn.f32 %f@, %f@;", 'f'},
    Form{"rcp.rn", "rcp.rn.f32 %f@, %f@;", 'f'},
    Form{"cvt.rn.f32.s32", "cvt.rn.f32.s32 %f@, %r@;\nmov.b32 %r@, %f@;", 'f'},
    Form{"cvt.f64.f32", "cvt.f64.f32 %fd@, %f@;\ncvt.rn.f32.f64 %f@, %fd@;", 'f', 2},
    Form{"cvt.f16.f32", "{\n.reg .b16 %h;\ncvt.rn.f16.f32 %h, %f@;\ncvt.f32.f16 %f@, %h;\n}", 'f', 2},
    Form{"fma.f16x2", "fma.rn.f16x2 %r@, %r@, %r8, %r9;", 'r'},
    Form{"mul.f64", "mul.rn.f64 %fd@, %fd@, %fd1;", 'F'},
    Form{"div.f64", "div.rn.f64 %fd@, %fd@, %fd1;", 'F'},
    Form{"sqrt.f64", "sqrt.rn.f64 %fd@, %fd@;", 'F'},
    Form{"setp.f32.selp", "setp.lt.f32 %p@, %f@, %f1;\nselp.f32 %f@, %f@, %f2, %p@;", 'f', 2},
    Form{"shfl.only", "shfl.sync.bfly.b32 %r@, %r@, 1, 31, -1;", 'r'},
    Form{"ballot", "setp.ne.u32 %p@, %r@, %r8;\nvote.sync.ballot.b32 %r@, %p@, -1;", 'r', 2},
    Form{"match.any", "match.any.sync.b32 %r@, %r@, -1;", 'r'},
    Form{"redux.add", "redux.sync.add.s32 %r@, %r@, -1;", 'r'},
    Form{"bar.warp", "bar.warp.sync -1;\nadd.s32 %r@, %r@, %r8;", 'r', 2},
    Form{"atom.shared.add", "atom.shared.add.u32 %r@, [%r83], %r8;\nadd.s32 %r83, %r83, %r@;", 'r'},
};

std::string body_of(const Form& form, std::uint32_t chains) {
  std::string body;
  for (std::uint32_t i = 0; i < kRepeat; ++i)
    for (std::uint32_t c = 0; c < chains; ++c) {
      const std::string number = std::to_string(20 + c);
      for (const char ch : form.step) ch == '@' ? body += number : body += ch;
      body += '\n';
    }
  return body;
}

// Operands come from memory, all the same to every thread.
std::string before_of(std::uint32_t chains) {
  std::string text =
      "ld.global.u32 %r8, [%rd1];\nld.global.u32 %r9, [%rd1+8];\ncvt.rn.f32.u32 %f1, %r9;\n"
      "cvt.rn.f32.u32 %f2, %r8;\ncvt.u64.u32 %rd8, %r8;\ncvt.u64.u32 %rd9, %r9;\n"
      "cvt.f64.f32 %fd1, %f1;\ncvt.f64.f32 %fd2, %f2;\n"
      "mov.u32 %r83, s;\nshl.b32 %r84, %r4, 2;\nadd.s32 %r83, %r83, %r84;\nmov.u32 %r84, 0;\n"
      "st.shared.u32 [%r83], %r84;\n";
  for (std::uint32_t c = 20; c < 20 + chains; ++c)
    text += fmt::format(
        "add.s32 %r{0}, %r4, {1};\ncvt.rn.f32.u32 %f{0}, %r{0};\ncvt.u64.u32 %rd{0}, %r{0};\n"
        "cvt.f64.f32 %fd{0}, %f{0};\n",
        c, c - 19);
  return text;
}

// Keeps every chain alive: its end goes to memory.
std::string after_of(const Form& form, std::uint32_t chains) {
  std::string text = "mul.wide.u32 %rd90, %r1, 8;\nadd.s64 %rd90, %rd1, %rd90;\n";
  const char* type = form.bank == 'f' ? "f32" : form.bank == 'F' ? "f64" : form.bank == 'd' ? "u64" : "u32";
  const char* prefix = form.bank == 'f' ? "f" : form.bank == 'F' ? "fd" : form.bank == 'd' ? "rd" : "r";
  for (std::uint32_t c = 0; c < chains; ++c)
    text += fmt::format("st.global.{} [%rd90+{}], %{}{};\n", type, 16 + c * 8192, prefix, 20 + c);
  return text;
}

void add_form(std::vector<Probe>& to, const Form& form) {
  const std::vector<std::uint64_t> data = [] {
    std::vector<std::uint64_t> d(8192 + kChains * 1024);
    d[0] = 0;  // %r8
    d[1] = 1;  // %r9
    return d;
  }();
  const std::string name(form.name);
  const std::uint32_t shared = 4 * kThreads;
  Probe latency = make_probe("latency." + name, "cycles",
                             probe_module(before_of(1), body_of(form, 1), after_of(form, 1), shared), 1, 32, data, 64);
  latency.work = 2.0 * 64 * kRepeat * form.operations;
  to.push_back(latency);
  const std::uint32_t chains = form.name == "atom.shared.add" ? 1 : kChains;
  Probe rate = make_probe("rate." + name, "operations/cycle/SM",
                          probe_module(before_of(chains), body_of(form, chains), after_of(form, chains), shared), 1,
                          kThreads, data, 16);
  rate.work = 2.0 * 16 * kRepeat * chains * kThreads * form.operations;
  rate.rate = true;
  to.push_back(rate);
}

// Shared memory: a chain of loads, and loads of which `degree` lanes meet in one bank.
void add_shared(std::vector<Probe>& to) {
  const std::string before =
      "mov.u32 %r20, s;\nmov.u32 %r21, %r20;\nshl.b32 %r22, %r4, 2;\nadd.s32 %r22, %r22, %r20;\n"
      "st.shared.u32 [%r22], %r20;\n";
  std::string chain;
  for (std::uint32_t i = 0; i < kRepeat; ++i) chain += "ld.shared.u32 %r21, [%r21];\n";
  Probe latency =
      make_probe("latency.ld.shared", "cycles", probe_module(before, chain, "st.global.u32 [%rd1+16], %r21;\n", 4096),
                 1, 32, {0, 0, 0}, 64);
  latency.work = 2.0 * 64 * kRepeat;
  to.push_back(latency);
  for (const std::uint32_t degree : {1U, 2U, 4U, 8U, 16U, 32U}) {
    std::string body;
    for (std::uint32_t i = 0; i < kRepeat; ++i) body += fmt::format("ld.shared.u32 %r{}, [%r22+{}];\n", 30 + i, i * 4);
    for (std::uint32_t i = 0; i < kRepeat; ++i) body += fmt::format("xor.b32 %r21, %r21, %r{};\n", 30 + i);
    body += "add.s32 %r22, %r22, %r23;\n";
    const std::string start = fmt::format(
        "ld.global.u32 %r23, [%rd1];\nmov.u32 %r20, s;\nmov.u32 %r21, 0;\nand.b32 %r22, %r4, 31;\n"
        "mul.lo.s32 %r22, %r22, {};\nadd.s32 %r22, %r22, %r20;\n",
        4 * degree);
    Probe p = make_probe(fmt::format("shared.conflict.{}", degree), "cycles",
                         probe_module(start, body,
                                      "mul.wide.u32 %rd10, %r4, 4;\nadd.s64 %rd10, %rd1, %rd10;\n"
                                      "st.global.u32 [%rd10+16], %r21;\n",
                                      4096 + 64),
                         1, 512, std::vector<std::uint64_t>(1024), 16);
    p.work = 2.0 * 16 * kRepeat * 512 / 32;
    to.push_back(p);
  }
}

}  // namespace

void add_instruction_probes(std::vector<Probe>& to) {
  for (const Form& form : kForms) add_form(to, form);
  add_shared(to);
  std::string barriers;
  for (std::uint32_t i = 0; i < kRepeat; ++i) barriers += "bar.sync 0;\n";
  for (const std::uint32_t threads : {32U, 256U, 1024U}) {
    Probe p = make_probe(fmt::format("barrier.{}", threads), "cycles", probe_module("", barriers, ""), 1, threads,
                         {0, 0}, 64);
    p.work = 2.0 * 64 * kRepeat;
    to.push_back(p);
  }
}

}  // namespace wm::validation
