#include "rewrite/generator.h"

#include <fmt/format.h>

#include "base/random.h"

namespace wm::rewrite {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, Leave out, bool divided)
      : leave_(out), divided_(divided), random_(seed * 7919 + (divided ? 29 : 17)) {}

  Generated make() {
    choose_shape();
    Generated out;
    std::string helpers = make_helpers();
    std::string body = make_body();
    out.source = "#define SALT " + number() + "\n#define MY_ID(d) get_global_id(d)\n#define GROUP get_group_id\n" +
                 prototypes_ + "typedef struct { uint a; uint2 b; } Pair;\n" + helpers + callee_ + kernel(body);
    out.options = "-cl-std=CL1.2 -DEXTRA=" + number() + "u";
    fill_application(out);
    if (chance(3)) out.offset = {random_.below(50), random_.below(9), random_.below(5)};
    return out;
  }

 private:
  bool chance(std::uint32_t one_in) { return random_.below(one_in) == 0; }
  std::string number() { return std::to_string(random_.below(1000) + 1); }
  std::string pick(std::initializer_list<std::string> choices) {
    return choices.begin()[random_.below(static_cast<std::uint32_t>(choices.size()))];
  }
  std::string variable() { return "v" + std::to_string(random_.below(4)); }

  void choose_shape() {
    const std::uint32_t dimensions = 1 + random_.below(3);
    const std::array<std::uint32_t, 6> widths{1, 4, 7, 8, 16, 32};
    block_ = {widths[random_.below(6)], 1, 1};
    grid_ = {1 + random_.below(12), 1, 1};
    if (dimensions > 1) {
      block_.y = 1 + random_.below(3);
      grid_.y = 1 + random_.below(4);
    }
    if (dimensions > 2) {
      block_.z = 1 + random_.below(2);
      grid_.z = 1 + random_.below(3);
    }
    // PoCL 3.1 executes code before a branch around barriers twice for the first item of a group that is one item wide
    // and several high, with or without workers.
    if (divided_ && block_.x == 1 && block_.count() > 1) block_.x = 2;
    items_ = static_cast<std::uint32_t>(block_.count());
    local_argument_ = chance(2);
    needs_size_ = chance(3);
  }

  // Any of the ids, the dimension a constant or, now and then, computed.
  std::string query() {
    const std::string some = leave_.fourth_dimension ? " % 3u)" : " & 3u)";
    const bool far = chance(8) && !leave_.fourth_dimension;
    const std::string d = chance(4) ? "(" + variable() + some : std::to_string(random_.below(far ? 5 : 3));
    return "(uint)" +
           pick({"get_global_id", "get_group_id", "get_num_groups", "get_global_size", "get_global_offset",
                 "get_local_id", "get_local_size", "GROUP", "MY_ID"}) +
           "(" + d + ")";
  }
  std::string constant_query() {
    return joined({"(uint)", pick({"get_global_id", "get_group_id", "get_num_groups", "get_global_size"}), "(",
                   std::to_string(random_.below(3)), ")"});
  }

  std::string expression() {
    switch (random_.below(7)) {
      case 0:
        return joined({variable(), " * ", number(), "u + ", variable()});
      case 1:
        return joined({variable(), " ^ (", variable(), " >> ", std::to_string(1 + random_.below(20)), ")"});
      case 2:
        return joined({query(), " + ", variable()});
      case 3:
        return joined({"(", variable(), " > ", number(), "u ? ", query(), " : ", variable(), " + SALT)"});
      case 4:
        return "in[(" + variable() + ") % n] + EXTRA";
      case 5:
        return helper_count_ == 0 ? query() : helper_call();
      default:
        return joined({"max(", variable(), ", ", query(), ") - min(", variable(), ", 77u)"});
    }
  }
  std::string helper_call() {
    return joined({"helper", std::to_string(random_.below(helper_count_)), "(", variable(), ", ", variable(), ")"});
  }

  std::string make_helpers() {
    std::string text;
    const std::uint32_t count = random_.below(4);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string head = fmt::format("uint helper{}(uint v0, uint v1)", i);
      if (chance(2)) prototypes_ += head + ";\n";
      std::string inner = chance(3) ? std::string("v0") : constant_query();
      if (i > 0 && chance(2)) inner += fmt::format(" + helper{}(v1, v0)", random_.below(i));
      text += head + " {\n  if (v0 == " + number() + "u) return v1 + (uint)GROUP(0);\n  return v0 * 3u + v1 + " +
              inner + ";\n}\n";
    }
    helper_count_ = count;
    if (chance(3) && !leave_.kernel_calls) {
      callee_ =
          "kernel void second(global uint* out, uint at, uint value) {\n"
          "  out[at] = value * 5u + (uint)get_group_id(0) + (uint)get_global_size(1);\n}\n";
    }
    return text;
  }

  std::string exchange(const std::string& array, const std::string& indent) {
    const std::string v = variable();
    return joined({indent,
                   array,
                   "[lid] = ",
                   v,
                   " + ",
                   query(),
                   ";\n",
                   indent,
                   "barrier(CLK_LOCAL_MEM_FENCE);\n",
                   indent,
                   v,
                   " += ",
                   array,
                   "[(lid * ",
                   number(),
                   "u + ",
                   number(),
                   "u) % items];\n",
                   indent,
                   "barrier(CLK_LOCAL_MEM_FENCE);\n"});
  }
  std::string array() { return local_argument_ && chance(2) ? "scratch" : pick({"tile", "wide[1]"}); }

  // The same for every item of a group.
  std::string uniform_condition() {
    return pick({"(get_group_id(0) & 1) == 0", "n % 3u == 1u", "(GROUP(1) + get_group_id(0)) % 3 == 0",
                 "get_num_groups(0) > 4", "get_global_offset(0) == 0"});
  }

  std::string statement() {
    switch (random_.below(12)) {
      case 0:
        return exchange(array(), "  ");
      case 1:
        return joined({"  if (", uniform_condition(), ") {\n", exchange(array(), "    "), "  }\n"});
      case 2:
        return joined({"  for (uint i = 0; i < ", std::to_string(1 + random_.below(4)), "u; ++i) {\n    ", variable(),
                       " += i;\n", exchange(array(), "    "), "  }\n"});
      case 3:
        return "  if (" + uniform_condition() + " && n > 3u) {\n    out[at] = v0 + v2 * 3u;\n    return;\n  }\n";
      case 4:
        return joined({"  atomic_add(&counters[", variable(), " % 16u], ", variable(), ");\n"});
      case 5:
        return joined({"  atomic_max(&counters[16u + ", query(), " % 8u], ", variable(), ");\n"});
      case 6:
        return "  for (uint c = lid; c < 8u; c += items) counts[c] = 0;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  "
               "atomic_inc(&counts[" +
               variable() +
               " & 7u]);\n  barrier(CLK_LOCAL_MEM_FENCE);\n  v1 += counts[lid & 7u];\n  "
               "barrier(CLK_LOCAL_MEM_FENCE);\n";
      case 7:
        return joined({"  switch (", variable(), " % 4u) {\n    case 0: v0 += ", expression(),
                       "; break;\n    case 1: v1 ^= ", expression(), ";\n    default: v2 += 9u;\n  }\n"});
      case 8:
        return "  { Pair p = {v0, (uint2)(v1, " + query() + ")}; v3 += p.a ^ p.b.y; v1 += (uint)sizeof(tile); }\n";
      case 9:
        return "  while (v2 > 1000u) v2 = v2 / 3u + (uint)get_local_id(0);\n";
      default:
        return joined({"  ", variable(), " = ", expression(), ";\n"});
    }
  }

  // Items below `half` update a row of `tile`, the others a column of `wide[1]`, both with a block in `wide[0]`.
  std::string divided_work() {
    const std::string half = pick({"items / 2u", "items / 2u", "1u", "items - 1u", "(items + 2u) / 3u"});
    const std::string rounds = std::to_string(2 + random_.below(9)) + "u", condition = "  if (lid < " + half + ") {\n";
    const std::string index = chance(2) ? "lid" : "lid - (" + half + ")";
    std::string text =
        joined({"  wide[0][lid] = ", variable(), " + ", query(), ";\n", condition, "    tile[lid] = ", variable(),
                ";\n  } else {\n    wide[1][", index, "] = ", variable(), ";\n  }\n  barrier(CLK_LOCAL_MEM_FENCE);\n"});
    const std::string row = "      for (uint j = 0; j < i; ++j) tile[lid] -= wide[0][(i * " + rounds +
                            " + j) % items] * (tile[lid] | 1u);\n";
    const std::string column = "      for (uint j = 0; j < i; ++j) wide[1][" + index + "] -= wide[1][" + index +
                               "] * wide[0][(j * " + rounds + " + i) % items];\n      wide[1][" + index +
                               "] /= (wide[0][i % items] & 15u) + 1u;\n";
    text += condition + "    for (uint i = 1; i < " + rounds + "; ++i)\n" + row +
            "  } else {\n    for (uint i = 0; i < " + rounds + "; ++i) {\n" + column +
            "    }\n  }\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
    return text + condition + "    v0 += tile[lid];\n  } else {\n    v1 ^= wide[1][" + index +
           "];\n  }\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
  }

  std::string make_body() {
    std::string text;
    const std::uint32_t count = 4 + random_.below(9);
    for (std::uint32_t i = 0; i < count; ++i) {
      text += statement();
      if (divided_ && (i == 0 || chance(3))) text += divided_work();
    }
    // Past the last barrier each item may leave by itself.
    if (chance(2)) text += "  if (v0 % 5u == 2u) {\n    out[at] = v1;\n    return;\n  }\n";
    text += callee_.empty() ? "  out[at] = v0 ^ v1 * 3u ^ v2 * 7u ^ v3;\n"
                            : "  second(out, at, v0 ^ v1 * 3u ^ v2 * 7u ^ v3);\n";
    return text;
  }

  std::string kernel(const std::string& body) const {
    std::string head =
        needs_size_ ? fmt::format("__attribute__((reqd_work_group_size({}, {}, {}))) ", block_.x, block_.y, block_.z)
                    : std::string{};
    head = (needs_size_ ? "__kernel " : "kernel ") + head +
           "void generated(global const uint* restrict in, global uint* out, global uint* counters, uint n";
    if (local_argument_) head += ", local uint* scratch";
    head += ") {\n";
    head += fmt::format("  local uint tile[{0}];\n  local uint counts[8], wide[2][{0}];\n", items_);
    head +=
        "  const uint lid = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
        "get_local_id(0));\n"
        "  const uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));\n"
        "  const uint at = (uint)(((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - "
        "get_global_offset(1)) * get_global_size(0) + MY_ID(0) - get_global_offset(0));\n"
        "  uint v0 = in[at % n], v1 = at * 11u + SALT, v2 = lid + EXTRA, v3 = (uint)get_group_id(0) * 31u + "
        "(uint)get_group_id(1) * 17u + (uint)get_group_id(2);\n";
    return head + body + "}\n";
  }

  void fill_application(Generated& out) {
    const auto total = static_cast<std::uint32_t>(grid_.count() * block_.count());
    std::vector<std::uint32_t> in(37 + random_.below(100));
    for (std::uint32_t& value : in) value = random_.below(100000);
    gpu::Application& app = out.application;
    const auto input = app.add("in", in);
    const auto output = app.add("out", std::vector<std::uint32_t>(total));
    const auto counters = app.add("counters", std::vector<std::uint32_t>(24));
    for (const auto buffer : {input, output, counters}) app.upload(buffer);
    gpu::Launch launch{"generated", grid_, block_, {}, 0};
    launch.arguments = {gpu::buffer(input), gpu::buffer(output), gpu::buffer(counters),
                        gpu::scalar(static_cast<std::uint32_t>(in.size()))};
    if (local_argument_) launch.arguments.emplace_back(gpu::LocalMemory{items_ * std::size_t{4}});
    app.launch(std::move(launch));
    app.download(output);
  }

  Leave leave_;
  bool divided_;
  Random random_;
  gpu::Dim3 block_;
  gpu::Dim3 grid_;
  std::uint32_t items_ = 1;
  std::uint32_t helper_count_ = 0;
  bool local_argument_ = false;
  bool needs_size_ = false;
  std::string prototypes_;
  std::string callee_;
};

}  // namespace

Generated generate(std::uint64_t seed, Leave out) { return Generator(seed, out, false).make(); }

Generated generate_divided(std::uint64_t seed, Leave out) { return Generator(seed, out, true).make(); }

}  // namespace wm::rewrite
