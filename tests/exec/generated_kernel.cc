#include "exec/generated_kernel.h"

#include <array>

#include "base/random.h"

namespace wm::exec {
namespace {

constexpr int kRegisters = 12;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string module() {
    std::string body = prologue();
    const int phases = 1 + static_cast<int>(random_.below(3));
    for (int phase = 0; phase < phases; ++phase) {
      statements(body, 6 + static_cast<int>(random_.below(14)), 2);
      exchange(body);
    }
    statements(body, 6, 2);
    return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n" + declarations() +
           body + epilogue() + "}\n";
  }

 private:
  static std::string declarations() {
    return ".reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n.shared .align 16 .b32 tile[260];\n"
           ".local .align 16 .b32 own[4];\n";
  }

  // %d1: the thread's words of `out`; %r20: of the tile; %d2, %d3, %d4: the thread's words of the tile, of local memory
  // and of `out` as generic addresses; %r21: the thread.
  static std::string prologue() {
    std::string text =
        "ld.param.u64 %d0, [out];\nmov.u32 %r21, %tid.x;\nmov.u32 %r22, %ctaid.x;\nmov.u32 %r23, %ntid.x;\n"
        "mad.lo.u32 %r24, %r22, %r23, %r21;\nmul.wide.u32 %d1, %r24, 128;\nadd.u64 %d1, %d1, %d0;\n"
        "shl.b32 %r20, %r21, 4;\nmov.u32 %r25, tile;\nadd.u32 %r20, %r20, %r25;\ncvt.u64.u32 %d5, %r20;\n"
        "cvta.shared.u64 %d2, %d5;\nmov.u64 %d6, own;\ncvta.local.u64 %d3, %d6;\nmov.u64 %d4, %d1;\n";
    for (int i = 0; i < kRegisters; ++i)
      text += "mad.lo.u32 %r" + std::to_string(i) + ", %r24, " + std::to_string(2654435761U * (i + 1U) | 1U) + ", " +
              std::to_string(i * 977) + ";\n";
    for (int i = 0; i < 4; ++i) {
      const std::string at = std::to_string(4 * i);
      text += "st.shared.u32 [%r20+" + at + "], %r" + std::to_string(i) + ";\nst.local.u32 [own+" + at + "], %r" +
              std::to_string(i + 4) + ";\nst.global.u32 [%d1+" + at + "], %r" + std::to_string(i + 8) + ";\n";
    }
    return text +
           "setp.ne.u32 %p0, %r21, 0;\n@%p0 bra STARTED;\nst.shared.u32 [tile+1024], 0;\nSTARTED:\nbar.sync 0;\n";
  }

  static std::string epilogue() {
    std::string text = "bar.sync 0;\nld.shared.u32 %r26, [tile+1024];\nst.global.u32 [%d1+124], %r26;\n";
    for (int i = 0; i < 4; ++i) {
      const std::string at = std::to_string(4 * i);
      text += "ld.shared.u32 %r26, [%r20+" + at + "];\nst.global.u32 [%d1+" + std::to_string(16 + 4 * i) +
              "], %r26;\nld.local.u32 %r26, [own+" + at + "];\nst.global.u32 [%d1+" + std::to_string(32 + 4 * i) +
              "], %r26;\n";
    }
    for (int i = 0; i < kRegisters; ++i)
      text += "st.global.u32 [%d1+" + std::to_string(48 + 4 * i) + "], %r" + std::to_string(i) + ";\n";
    return text + "ret;\n";
  }

  std::string reg() { return "%r" + std::to_string(random_.below(kRegisters)); }
  std::string offset() { return std::to_string(4 * random_.below(4)); }

  // One of the thread's own words: the address, and the space to write before the type (empty for a generic address).
  struct Place {
    std::string space;
    std::string address;
  };
  Place place() {
    const std::string at = "+" + offset() + "]";
    switch (random_.below(6)) {
      case 0:
        return {".shared", "[%r20" + at};
      case 1:
        return {".local", "[own" + at};
      case 2:
        return {".global", "[%d1" + at};
      case 3:
        return {"", "[%d2" + at};
      case 4:
        return {"", "[%d3" + at};
      default:
        return {"", "[%d4" + at};
    }
  }
  Place atomic_place() {
    for (;;) {
      Place p = place();
      if (p.space != ".local" && p.address.substr(0, 4) != "[%d3") return p;
    }
  }

  void statements(std::string& body, int count, int depth) {
    for (int i = 0; i < count; ++i) statement(body, depth);
  }

  void statement(std::string& body, int depth) {
    const std::string guard = random_.below(6) == 0 ? "@%p" + std::to_string(random_.below(3)) + " " : "";
    switch (random_.below(depth > 0 ? 16 : 15)) {
      case 0:
      case 1:
      case 2: {
        const Place p = place();
        body += guard + "ld" + p.space + ".u32 " + reg() + ", " + p.address + ";\n";
        break;
      }
      case 3:
      case 4:
      case 5: {
        const Place p = place();
        body += guard + "st" + p.space + ".u32 " + p.address + ", " + reg() + ";\n";
        break;
      }
      case 6: {
        const Place p = place();
        body += guard + "ld.volatile" + p.space + ".u32 " + reg() + ", " + p.address + ";\n";
        break;
      }
      case 7: {
        const Place p = place();
        body += guard + "st.volatile" + p.space + ".u32 " + p.address + ", " + reg() + ";\n";
        break;
      }
      case 8: {
        static constexpr std::array<const char*, 6> kOperations{"add.u32", "exch.b32", "xor.b32",
                                                                "max.u32", "dec.u32",  "inc.u32"};
        const Place p = atomic_place();
        body += guard + "atom" + p.space + "." + kOperations[random_.below(kOperations.size())] + " " + reg() + ", " +
                p.address + ", " + reg() + ";\n";
        break;
      }
      case 9:
        body += guard + "red.shared.add.u32 [tile+1024], " + reg() + ";\n";
        break;
      case 10:
        chain(body);
        break;
      case 11:
        body += "setp.lt.u32 %p" + std::to_string(random_.below(3)) + ", " + reg() + ", " + reg() + ";\n";
        break;
      case 15:
        branch(body, depth);
        break;
      default: {
        static constexpr std::array<const char*, 4> kArithmetic{"add.u32", "sub.u32", "xor.b32", "mul.lo.u32"};
        body +=
            guard + kArithmetic[random_.below(kArithmetic.size())] + " " + reg() + ", " + reg() + ", " + reg() + ";\n";
      }
    }
  }

  // Extended-precision additions and subtractions, one after the other, also mixed.
  void chain(std::string& body) {
    static constexpr std::array<const char*, 3> kFirst{"add.cc", "sub.cc", "mad.lo.cc"};
    static constexpr std::array<const char*, 2> kNext{"addc", "subc"};
    const std::size_t first = random_.below(kFirst.size());
    body += std::string(kFirst[first]) + ".u32 " + reg() + ", " + reg() + ", " + reg() +
            (first == 2 ? ", " + reg() : "") + ";\n";
    const int length = 1 + static_cast<int>(random_.below(3));
    for (int i = 0; i < length; ++i)
      body += std::string(kNext[random_.below(kNext.size())]) + (i + 1 < length ? ".cc" : "") + ".u32 " + reg() + ", " +
              reg() + ", " + reg() + ";\n";
  }

  void branch(std::string& body, int depth) {
    const std::string label = std::to_string(labels_++);
    body += "setp.gt.u32 %p3, " + reg() + ", " + reg() + ";\n@%p3 bra ELSE" + label + ";\n";
    statements(body, 2 + static_cast<int>(random_.below(4)), depth - 1);
    body += "bra JOIN" + label + ";\nELSE" + label + ":\n";
    statements(body, 2 + static_cast<int>(random_.below(4)), depth - 1);
    body += "JOIN" + label + ":\n";
  }

  // Every thread reads a word of another thread of its block.
  void exchange(std::string& body) {
    const std::string step = std::to_string(1 + random_.below(kGeneratedThreads - 1));
    body += "bar.sync 0;\nadd.u32 %r27, %r21, " + step + ";\nand.b32 %r27, %r27, " +
            std::to_string(kGeneratedThreads - 1) +
            ";\nshl.b32 %r27, %r27, 4;\nadd.u32 %r27, %r27, %r25;\nld.shared.u32 " + reg() + ", [%r27+" + offset() +
            "];\nbar.sync 0;\n";
  }

  Random random_;
  int labels_ = 0;
};

}  // namespace

std::string generated_kernel(std::uint64_t seed) { return Generator(seed).module(); }

}  // namespace wm::exec
