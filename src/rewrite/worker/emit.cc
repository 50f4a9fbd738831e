#include "rewrite/worker/emit.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "rewrite/worker/edits.h"

namespace wm::rewrite {
namespace {

// The parameters added to every function that uses its virtual group, in the order of Needs.
struct Parameter {
  const char* type;
  const char* name;
  const char* value;  // in the scheduling kernel
};
constexpr std::array<Parameter, Needs::kKinds> kParameters{{{"uint", "wm__g0", "wm__g0"},
                                                            {"uint", "wm__g1", "wm__g1"},
                                                            {"uint", "wm__g2", "wm__g2"},
                                                            {"uint", "wm__n0", "wm__r.groups[0]"},
                                                            {"uint", "wm__n1", "wm__r.groups[1]"},
                                                            {"uint", "wm__n2", "wm__r.groups[2]"},
                                                            {"ulong", "wm__o0", "wm__r.offset[0]"},
                                                            {"ulong", "wm__o1", "wm__r.offset[1]"},
                                                            {"ulong", "wm__o2", "wm__r.offset[2]"},
                                                            {"uint", "wm__dim", "wm__r.dimensions"},
                                                            {"__local uint*", "wm__mark", "wm__next + 4"}}};

constexpr const char* kRangeType =
    "typedef struct { uint groups[3]; uint chunk; ulong offset[3]; uint dimensions; uint unused; } wm__range;\n";

// For dimensions that are not constants. Implementations disagree on dimension 3 and above: the device's own function
// is called. Each program has its own set, since linked programs share one name space. They choose between values and
// have no branches: PoCL 3.1 compiles some branches that divide a group inside the worker's loop wrongly, or not at
// all. Its own `get_local_size` is a switch between three variables, which LLVM may turn into a table of their
// addresses; PoCL does not replace variables in tables, and the kernel binary cannot be loaded.
constexpr const char* kPickers =
    "size_t wm__local_id{0}(uint d) {{\n"
    "  const size_t l0 = get_local_id(0), l1 = get_local_id(1), l2 = get_local_id(2);\n"
    "  const size_t l3 = get_local_id(3);\n"
    "  return d == 0 ? l0 : d == 1 ? l1 : d == 2 ? l2 : l3;\n"
    "}}\n"
    "size_t wm__local_size{0}(uint d) {{\n"
    "  const size_t s0 = get_local_size(0), s1 = get_local_size(1), s2 = get_local_size(2);\n"
    "  const size_t s3 = get_local_size(3);\n"
    "  return d == 0 ? s0 : d == 1 ? s1 : d == 2 ? s2 : s3;\n"
    "}}\n"
    "size_t wm__group_id{0}(uint d, size_t g0, size_t g1, size_t g2) {{\n"
    "  const size_t g3 = get_group_id(3);\n"
    "  return d == 0 ? g0 : d == 1 ? g1 : d == 2 ? g2 : g3;\n"
    "}}\n"
    "size_t wm__num_groups{0}(uint d, size_t n0, size_t n1, size_t n2) {{\n"
    "  const size_t n3 = get_num_groups(3);\n"
    "  return d == 0 ? n0 : d == 1 ? n1 : d == 2 ? n2 : n3;\n"
    "}}\n"
    "size_t wm__global_offset{0}(uint d, size_t o0, size_t o1, size_t o2) {{\n"
    "  const size_t o3 = get_global_offset(3);\n"
    "  return d == 0 ? o0 : d == 1 ? o1 : d == 2 ? o2 : o3;\n"
    "}}\n"
    "size_t wm__global_size{0}(uint d, size_t n0, size_t n1, size_t n2) {{\n"
    "  const size_t s3 = get_global_size(3), s = wm__num_groups{0}(d, n0, n1, n2) * wm__local_size{0}(d);\n"
    "  return d > 2 ? s3 : s;\n"
    "}}\n"
    "size_t wm__global_id{0}(uint d, size_t g0, size_t g1, size_t g2, size_t o0, size_t o1, size_t o2) {{\n"
    "  const size_t i3 = get_global_id(3);\n"
    "  const size_t i = wm__group_id{0}(d, g0, g1, g2) * wm__local_size{0}(d) + wm__local_id{0}(d) +\n"
    "                   wm__global_offset{0}(d, o0, o1, o2);\n"
    "  return d > 2 ? i3 : i;\n"
    "}}\n";

// The master item takes the next virtual groups, as many as the chunk says, and tells the others through local memory;
// a worker whose index the control word excludes takes none and leaves. The barrier after the body lets all items be
// done with the group's local memory, and with wm__next, before either is used again.
constexpr const char* kSchedule =
    " {{\n"
    "  __local uint wm__next[{2}];\n"
    "{0}"
    "  for (;;) {{\n"
    "    if ((get_local_id(0) | get_local_id(1) | get_local_id(2)) == 0) {{\n"
    "      const uint wm__all = wm__r.groups[0] * wm__r.groups[1] * wm__r.groups[2];\n"
    "      uint wm__at = wm__all;\n"
    "      if (get_group_id(0) < wm__control[0]) wm__at = atomic_add(wm__queue, wm__r.chunk);\n"
    "      wm__next[3] = wm__at >= wm__all ? 0 : wm__all - wm__at < wm__r.chunk ? wm__all - wm__at : wm__r.chunk;\n"
    "      wm__next[0] = wm__at % wm__r.groups[0];\n"
    "      wm__at /= wm__r.groups[0];\n"
    "      wm__next[1] = wm__at % wm__r.groups[1];\n"
    "      wm__next[2] = wm__at / wm__r.groups[1];\n"
    "    }}\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    uint wm__g0 = wm__next[0], wm__g1 = wm__next[1], wm__g2 = wm__next[2], wm__left = wm__next[3];\n"
    "    (void)wm__g2;\n"
    "    if (wm__left == 0) break;\n"
    "    do {{\n"
    "      {1};\n"
    "      barrier(CLK_LOCAL_MEM_FENCE);\n"
    "      if (++wm__g0 == wm__r.groups[0]) {{\n"
    "        wm__g0 = 0;\n"
    "        if (++wm__g1 == wm__r.groups[1]) {{\n"
    "          wm__g1 = 0;\n"
    "          ++wm__g2;\n"
    "        }}\n"
    "      }}\n"
    "    }} while (--wm__left != 0);\n"
    "  }}\n"
    "}}\n";

void add_item(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

std::uint32_t fingerprint(const std::string& text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

class Emitter {
 public:
  Emitter(const Facts& facts, const Plan& plan)
      : facts_(facts), plan_(plan), suffix_(fmt::format("_{:08x}", fingerprint(facts.text))) {}

  std::string text() {
    struct Piece {
      std::size_t function;
      const Declaration* declaration;
    };
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < facts_.functions.size(); ++i) {
      for (const Declaration& d : facts_.functions[i].declarations) pieces.push_back({i, &d});
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return a.declaration->extent.begin < b.declaration->extent.begin;
    });
    std::string body;
    std::size_t at = 0;
    for (const Piece& piece : pieces) {
      const Span extent = piece.declaration->extent;
      if (extent.begin < at) continue;  // declared in the same statement as the previous one
      body += facts_.text.substr(at, extent.begin - at);
      body += text_of(piece.function, *piece.declaration);
      at = extent.end;
    }
    body += facts_.text.substr(at);
    return kRangeType + (picks_ ? fmt::format(fmt::runtime(kPickers), suffix_) : std::string{}) + body;
  }

 private:
  [[nodiscard]] const Function& function(std::size_t i) const { return facts_.functions[i]; }
  [[nodiscard]] const LocalVariable& variable(const LocalId& id) const {
    return function(id.function).locals[id.local];
  }
  [[nodiscard]] std::string threaded_name(std::size_t i) const {
    return (function(i).kernel ? "wm__body_" : "wm__") + function(i).name;
  }

  std::string text_of(std::size_t i, const Declaration& d) {
    const FunctionPlan& plan = plan_[i];
    std::string out;
    if (plan.original) out += facts_.text.substr(d.extent.begin, d.extent.end - d.extent.begin);
    if (plan.threaded) {
      if (plan.original) out += "\n";
      out += threaded(i, d);
    }
    if (plan.rewritten && d.definition) out += "\n" + scheduling_kernel(i, d);
    return out;
  }

  // The function with its ids, and a kernel's local variables, as further parameters.
  std::string threaded(std::size_t i, const Declaration& d) {
    const Function& f = function(i);
    Edits edits;
    edits.replace(d.name, threaded_name(i));
    if (f.kernel) {
      for (const Span& word : d.kernel_words) edits.replace(word, "");
    }
    std::string more;
    for (unsigned k = 0; k < Needs::kKinds; ++k) {
      if (plan_[i].needs.has(k)) add_item(more, fmt::format("{} {}", kParameters[k].type, kParameters[k].name));
    }
    for (const LocalId& id : plan_[i].locals) add_item(more, variable(id).parameter);
    if (!more.empty()) {
      if (d.no_parameters) {
        edits.replace({d.open + 1, d.close}, more);
      } else {
        edits.insert(d.close, ", " + more);
      }
    }
    if (d.definition) edit_body(i, edits);
    return edits.apply(facts_.text, d.extent);
  }

  void edit_body(std::size_t i, Edits& edits) {
    const Function& f = function(i);
    // First: an insertion at the beginning of a text that is replaced must precede the replacement.
    for (const Insertion& mark : f.marks) edits.insert(mark.at, mark.text);
    for (const QuerySite& site : f.queries) edit_query(site, edits);
    mark_barriers(f.barriers, edits);
    for (const CallSite& call : f.calls) {
      if (!plan_[call.callee].threaded) continue;
      edits.replace(call.name, threaded_name(call.callee));
      std::string more;
      for (unsigned k = 0; k < Needs::kKinds; ++k) {
        if (plan_[call.callee].needs.has(k)) add_item(more, kParameters[k].name);
      }
      for (const LocalId& id : plan_[call.callee].locals) add_item(more, variable(id).hoisted);
      if (!more.empty()) edits.insert(call.close, (call.has_arguments ? ", " : "") + more);
    }
    std::size_t last = facts_.text.size();
    for (const LocalVariable& local : f.locals) {
      if (local.statement.begin != last) edits.replace(local.statement, ";");
      last = local.statement.begin;
      for (const Span& use : local.uses) edits.replace(use, "(*" + local.hoisted + ")");
    }
  }

  // A store that the compiler can neither move nor remove follows every barrier. For each barrier that some path passes
  // by, as all do inside a worker's loop, PoCL 3.1 looks upwards for the branch that decides it, and adds a barrier
  // behind that branch; a block with a barrier and nothing else ends its search, so that the barrier is added to one
  // half of an `if` that divides the group. All items store the same value, so their order does not matter.
  static void mark_barriers(const std::vector<Span>& barriers, Edits& edits) {
    for (const Span& barrier : barriers) {
      edits.insert(barrier.begin, "(");
      edits.insert(barrier.end, ", (void)(*wm__mark = 0u))");
    }
  }

  void edit_query(const QuerySite& site, Edits& edits) {
    if (site.query == Query::work_dim) {
      edits.replace(site.call, "wm__dim");
    } else if (site.query == Query::global_linear_id) {
      edits.replace(site.call, linear_id());
    } else if (site.dimension) {
      if (*site.dimension < 3 && !is_local(site.query))
        edits.replace(site.call, constant_query(site.query, *site.dimension));
    } else {
      picks_ = true;
      const auto [name, more] = computed_query(site.query);
      edits.replace(site.name, name + suffix_);
      edits.insert(site.close, more);
    }
  }

  static std::string linear_id() {
    const auto id = [](int d) {
      return fmt::format("((size_t)wm__g{0} * get_local_size({0}) + get_local_id({0}))", d);
    };
    const auto size = [](int d) { return fmt::format("((size_t)wm__n{0} * get_local_size({0}))", d); };
    return fmt::format("(({2} * {4} + {1}) * {3} + {0})", id(0), id(1), id(2), size(0), size(1));
  }

  static std::string constant_query(Query query, unsigned d) {
    switch (query) {
      case Query::group_id:
        return fmt::format("((size_t)wm__g{})", d);
      case Query::num_groups:
        return fmt::format("((size_t)wm__n{})", d);
      case Query::global_size:
        return fmt::format("((size_t)wm__n{0} * get_local_size({0}))", d);
      case Query::global_offset:
        return fmt::format("((size_t)wm__o{})", d);
      default:
        return fmt::format("((size_t)wm__g{0} * get_local_size({0}) + get_local_id({0}) + (size_t)wm__o{0})", d);
    }
  }

  // The function that takes the call's place, and what it takes beside the dimension.
  static std::pair<std::string, std::string> computed_query(Query query) {
    switch (query) {
      case Query::group_id:
        return {"wm__group_id", ", wm__g0, wm__g1, wm__g2"};
      case Query::num_groups:
        return {"wm__num_groups", ", wm__n0, wm__n1, wm__n2"};
      case Query::global_offset:
        return {"wm__global_offset", ", wm__o0, wm__o1, wm__o2"};
      case Query::global_size:
        return {"wm__global_size", ", wm__n0, wm__n1, wm__n2"};
      case Query::local_id:
        return {"wm__local_id", ""};
      case Query::local_size:
        return {"wm__local_size", ""};
      default:
        return {"wm__global_id", ", wm__g0, wm__g1, wm__g2, wm__o0, wm__o1, wm__o2"};
    }
  }

  [[nodiscard]] std::string scheduling_kernel(std::size_t i, const Declaration& d) const {
    std::string parameters = d.no_parameters ? std::string{} : facts_.text.substr(d.open + 1, d.close - d.open - 1);
    add_item(parameters, "__global uint* wm__queue, __global const volatile uint* wm__control, wm__range wm__r");
    std::string locals;
    std::string values;
    for (const std::string& name : function(i).parameters) add_item(values, name);
    for (unsigned k = 0; k < Needs::kKinds; ++k) {
      if (plan_[i].needs.has(k)) add_item(values, kParameters[k].value);
    }
    for (const LocalId& id : plan_[i].locals) {
      locals += "  " + variable(id).declaration + ";\n";
      add_item(values, "&" + variable(id).hoisted);
    }
    std::string head = facts_.text.substr(d.extent.begin, d.open + 1 - d.extent.begin) + parameters +
                       facts_.text.substr(d.close, d.body - d.close);
    while (!head.empty() && (head.back() == ' ' || head.back() == '\n')) head.pop_back();
    return head + fmt::format(fmt::runtime(kSchedule), locals, fmt::format("{}({})", threaded_name(i), values),
                              scheduling_words(plan_[i]));
  }

  const Facts& facts_;
  const Plan& plan_;
  std::string suffix_;
  bool picks_ = false;
};

}  // namespace

std::string emit(const Facts& facts, const Plan& plan) { return Emitter(facts, plan).text(); }

}  // namespace wm::rewrite
