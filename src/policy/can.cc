#include "policy/can.h"

#include <array>

namespace wm::policy {
namespace {

struct Words {
  std::string_view name;
  std::string_view meaning;
};

// In the order of Can.
constexpr std::array kWords = {Words{"own_sms", "give an SM to one kernel"},
                               Words{"drain", "let the blocks on an SM end before another kernel has it"},
                               Words{"switch_context", "save the context of the blocks on an SM"},
                               Words{"switch_some", "save the context of some blocks of a kernel"},
                               Words{"cap_blocks", "limit a kernel's blocks on an SM"},
                               Words{"quotas", "limit a kernel's instructions on an SM"},
                               Words{"gate_power", "switch an SM off"},
                               Words{"order_launches", "say whose blocks start first"},
                               Words{"count_instructions", "count instructions per SM and kernel"},
                               Words{"sample_warps", "sample idle warps per SM and kernel"},
                               Words{"sample_stalls", "sample memory stalls per SM and kernel"},
                               Words{"count_traffic", "count L2 and DRAM traffic per SM and kernel"},
                               Words{"see_blocks", "tell of each block that ends"}};
static_assert(kWords.size() == static_cast<std::size_t>(kLastCan) + 1);

}  // namespace

std::string_view name(Can can) { return kWords[static_cast<std::size_t>(can)].name; }
std::string_view meaning(Can can) { return kWords[static_cast<std::size_t>(can)].meaning; }

std::string Cans::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (!has(static_cast<Can>(i))) continue;
    if (!text.empty()) text += ", ";
    text += kWords[i].name;
  }
  return text;
}

}  // namespace wm::policy
