// Kernels with barriers in branches, loops and switches that depend on a group's data, around branches and loops that
// divide the group.
//
// A kernel is a sequence of steps. In a step an item reads all of one local array and writes its own element of the
// other; a barrier ends the step, and the arrays change places. Everything with barriers inside has an even number of
// steps on each path, so that the arrays have the same places behind it.
#include <fmt/format.h>

#include "base/random.h"
#include "rewrite/generator.h"

namespace wm::rewrite {
namespace {

std::uint32_t scrambled(std::uint32_t number) {
  number *= 2654435761U;
  number ^= number >> 15;
  return number * 2246822519U;
}

class BranchingGenerator {
 public:
  BranchingGenerator(std::uint64_t seed, bool one_sided)
      : random_(seed * 6151 + (one_sided ? 57 : 43)), one_sided_(one_sided) {
    constexpr std::array<std::uint32_t, 6> kSizes{16, 32, 64, 20, 7, 3};
    items_ = kSizes[random_.below(kSizes.size())];
  }

  Generated make() {
    Generated out;
    std::string body;
    if (one_sided_) body = joined({without_barriers(), one_sided(0), without_barriers()});
    for (std::uint32_t i = one_sided_ ? random_.below(2) : 1 + random_.below(2); i > 0; --i) body += phase(0);
    out.source = fmt::format("#define LS {}u\n", items_) + helper() + kernel(body);
    out.options = fmt::format("-cl-std=CL1.2 -DEXTRA={}u", random_.below(1000));
    fill_application(out);
    return out;
  }

 private:
  bool chance(std::uint32_t one_in) { return random_.below(one_in) == 0; }
  std::string number(std::uint32_t below) { return std::to_string(random_.below(below)) + "u"; }
  std::string pick(std::initializer_list<std::string> choices) {
    return choices.begin()[random_.below(static_cast<std::uint32_t>(choices.size()))];
  }

  // The same for every item of a group; the local array is not written before the next barrier.
  std::string uniform() {
    return pick({"in[(group + " + number(50) + ") & 4095u]", read_ + "[" + number(items_) + "]", "(group + EXTRA)",
                 "in[" + read_ + "[" + number(items_) + "] & 4095u]"});
  }
  std::string dividing() {
    return pick({fmt::format("t < {}u", items_ / 2), "(t & 1u) != 0u", "(x & 1u) != 0u", "(in[t] & 1u) != 0u",
                 "t == 0u", fmt::format("t % {}u == 0u", 2 + random_.below(3)), fmt::format("t >= {}u", items_ / 2)});
  }
  std::string value() {
    return pick({"x", "y", "t", "g", read_ + "[(t + " + number(9) + ") % LS]", read_ + "[(x + t) % LS]",
                 "in[(y + g) & 4095u]", write_ + "[t]"});
  }

  // Without barriers.
  std::string statement(int depth) {
    switch (random_.below(depth < 3 ? 7 : 4)) {
      case 0:
        return "x = x * 3u + " + value() + ";\n";
      case 1:
        return joined({"y ^= ", value(), " + ", number(99), ";\n"});
      case 2:
        return write_ + "[t] = x + " + value() + ";\n";
      case 3:
        return write_ + "[t] ^= y;\n";
      case 4:
        return joined({"for (uint i = 0; i < ", pick({"3u", "(x & 3u)", "(t & 7u)", "5u"}), "; ++i) {\n",
                       statement(depth + 1), "x += i;\n}\n"});
      case 5:
        return joined({"if (", dividing(), ") {\n", statement(depth + 1), statement(depth + 1), "} else {\n",
                       statement(depth + 1), "}\n"});
      default:
        return joined({"switch (x & 3u) {\ncase 0:\n", statement(depth + 1), "case 1:\n", statement(depth + 1),
                       "break;\ndefault: y += t;\n}\n"});
    }
  }

  std::string divided() {
    return joined(
        {"if (", dividing(), ") {\n", statement(0), statement(0), "} else {\n", statement(0), statement(0), "}\n"});
  }

  std::string step() {
    std::string text;
    if (!chance(5)) text = divided();
    if (!chance(3)) text += statement(0);
    std::swap(read_, write_);
    return text + "barrier(CLK_LOCAL_MEM_FENCE);\n";
  }

  // An even number of steps, or a branch of them.
  std::string inside(int depth) { return depth == 0 && chance(3) ? phase(1) : joined({step(), step()}); }

  // Statements without barriers belong to the step around them.
  std::string without_barriers() {
    const std::string bound = pick({"3u", "(in[group] & 3u) + 1u", "(t & 7u)", "(" + uniform() + " & 3u)"});
    switch (random_.below(4)) {
      case 0:
        return {};
      case 1:
        return divided();
      case 2:
        return statement(0);
      default:
        return "for (uint k = 0; k < " + bound + "; ++k) {\n" + divided() + "y += k;\n}\n";
    }
  }

  std::string with_barriers(int depth) {
    const std::string wait = "barrier(CLK_LOCAL_MEM_FENCE);\n";
    switch (random_.below(5)) {
      case 0:
        return wait;
      case 1:
        return divided() + wait;
      case 2:
        return joined({"for (uint p = 0; p < (in[group] & 3u); ++p) {\n", divided(), wait, without_barriers(), "}\n"});
      case 3:
        return joined({"for (uint p = 0; p < 3u; ++p) {\n", step(), step(), "}\n"});
      default:
        return inside(depth);
    }
  }

  // A branch or a case without barriers beside one with barriers. Both begin and end alike, which LLVM may merge.
  std::string one_sided(int depth) {
    const std::string condition = "(" + uniform() + " & 1u) != 0u";
    const std::string first = without_barriers();
    const std::string last = without_barriers();
    const std::string quiet = first + without_barriers() + last;
    const std::string loud = first + with_barriers(depth) + last;
    switch (random_.below(6)) {
      case 0:
        return "if (" + condition + ") {\n" + loud + "} else {\n" + quiet + "}\n";
      case 1:
        return "if (" + condition + ") {\n" + quiet + "} else {\n" + loud + "}\n";
      case 2:
        return "if (" + condition + ") {\n" + quiet + "} else if (" + uniform() + " % 3u == 0u) {\n" + loud +
               "} else {\n" + last + "}\n";
      case 3:
        return joined({"switch (", uniform(), " % 3u) {\ncase 0:\n", quiet, "break;\ncase 1:\n", loud,
                       pick({"break;\n", "break;\ndefault:;\n" + last}), "}\n"});
      case 4:
        return "if (" + uniform() + " % 5u == 0u) {\n" + quiet + "out[g] = x;\nreturn;\n}\n" + loud;
      default:
        return joined({"for (uint r = 0; r < 3u; ++r) {\nif (", uniform(), " % 3u == r) {\n", quiet,
                       pick({"continue;\n", "break;\n"}), "}\n", loud, "}\n"});
    }
  }

  std::string phase(int depth) {
    if (one_sided_ && chance(3)) return one_sided(depth);
    const std::string condition = "(" + uniform() + " & 1u) != 0u";
    switch (random_.below(depth == 0 ? 7 : 5)) {
      case 0:
        return loop(depth);
      case 1:
        return joined({"if (", condition, ") {\n", inside(depth), "} else {\n", inside(depth), "}\n"});
      case 2:
        return "if (" + condition + ") {\n" + inside(depth) + "}\n";
      case 3:
        return joined({"switch (", uniform(), " % 3u) {\ncase 0:\n", inside(depth), "break;\ncase 1:\n", inside(depth),
                       pick({"break;\n", "{ break; }\n"}), "default:\n", inside(depth), "}\n"});
      case 4:
        return fmt::format("x += exchange({}, {}, t, {});\n", read_, write_, uniform());
      case 5:
        return joined({"if (", uniform(), " % 5u == 0u) {\nout[g] = x;\nreturn;\n}\n", inside(depth)});
      default:
        return joined({step(), step()});
    }
  }

  std::string loop(int depth) {
    const std::string q = "q" + std::to_string(depth);
    const std::string bound = pick({"3u", "2u", "(in[group] & 3u) + 1u"});
    std::string text = fmt::format("for (uint {0} = 0; {0} < {1}; ++{0}) {{\n", q, bound);
    if (chance(3)) text += joined({"if (", uniform(), " % 4u == ", q, ") ", pick({"continue", "break"}), ";\n"});
    text += inside(depth);
    if (chance(4)) text += joined({"if (", uniform(), " % 3u == 0u) break;\n", inside(depth)});
    return text + "}\n";
  }

  // Two steps on either path; the arrays have their places again behind it.
  static std::string helper() {
    return "uint exchange(local uint* a, local uint* b, uint t, uint choice) {\n"
           "  uint sum = 0;\n"
           "  if (choice % 3u != 0u) {\n"
           "    if (t % 3u == 0u) b[t] += a[(t + 1u) % LS]; else for (uint i = 0; i < (t & 3u); ++i) sum += a[(t + i) "
           "% LS];\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n"
           "    if (choice % 3u == 1u) a[t] = b[(t + choice % LS) % LS];\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n"
           "    return sum;\n"
           "  }\n"
           "  b[t] ^= choice;\n"
           "  barrier(CLK_LOCAL_MEM_FENCE);\n"
           "  if ((t & 1u) == 0u) a[t] += b[(t + 3u) % LS];\n"
           "  barrier(CLK_LOCAL_MEM_FENCE);\n"
           "  return a[t];\n"
           "}\n";
  }

  static std::string kernel(const std::string& body) {
    return "kernel void generated(global const uint* restrict in, global uint* out) {\n"
           "local uint A[LS];\nlocal uint B[LS];\n"
           "const uint t = get_local_id(0), g = get_global_id(0), group = get_group_id(0);\n"
           "uint x = in[g & 4095u], y = in[(g + 77u) & 4095u];\n"
           "A[t] = x;\nB[t] = y;\nbarrier(CLK_LOCAL_MEM_FENCE);\n" +
           body + "out[g] = x ^ (y * 7u) ^ A[t] ^ (B[t] << 1);\n}\n";
  }

  void fill_application(Generated& out) {
    const std::uint32_t groups = 9 + random_.below(15);
    std::vector<std::uint32_t> in(4096);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = scrambled(i);
    gpu::Application& app = out.application;
    const auto input = app.add("in", in);
    const auto output = app.add("out", std::vector<std::uint32_t>(groups * std::size_t{items_}));
    app.upload(input);
    app.upload(output);
    gpu::Launch launch{"generated", {groups, 1, 1}, {items_, 1, 1}, {}, 0};
    launch.arguments = {gpu::buffer(input), gpu::buffer(output)};
    app.launch(std::move(launch));
    app.download(output);
  }

  Random random_;
  bool one_sided_;
  std::uint32_t items_ = 1;
  std::string read_ = "A";
  std::string write_ = "B";
};

}  // namespace

Generated generate_branching(std::uint64_t seed) { return BranchingGenerator(seed, false).make(); }
Generated generate_one_sided(std::uint64_t seed) { return BranchingGenerator(seed, true).make(); }

}  // namespace wm::rewrite
