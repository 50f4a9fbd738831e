#include "ptx/access.h"

#include "ptx/def_use.h"

namespace wm::ptx {

std::vector<Access> accesses(const Function& function, const ValueCost& cost) {
  std::vector<Access> all(function.body.size());
  const auto holds = [&](std::uint32_t r) { return cost.words(r) != 0 || function.registers[r].type == Type::pred; };
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (cost.vanishes(i)) continue;
    for_each_use(function.body[i], [&](std::uint32_t r) {
      if (holds(cost.root(r))) all[i].reads.push_back(cost.root(r));
    });
    for_each_definition(function.body[i], [&](std::uint32_t r) {
      if (holds(r)) all[i].writes.push_back(r);
    });
    all[i].may_keep = function.body[i].guard.present;
  }
  return all;
}

}  // namespace wm::ptx
