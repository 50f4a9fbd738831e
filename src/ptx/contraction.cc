#include "ptx/contraction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/analysis.h"
#include "ptx/def_use.h"

namespace wm::ptx {
namespace {

constexpr std::uint64_t kSign32 = 0x80000000ULL;
constexpr std::uint64_t kSign64 = 0x8000000000000000ULL;

bool names_rounding(const Instruction& i) {
  return i.has(Suffix::rn) || i.has(Suffix::rz) || i.has(Suffix::rm) || i.has(Suffix::rp);
}

bool is_contractible_type(Type type) {
  return type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::f16x2 || type == Type::bf16 ||
         type == Type::bf16x2;
}

bool names_register(const Operand& operand) { return operand.kind == Operand::Kind::reg; }

bool is_product(const Instruction& i) {
  return i.opcode == Opcode::mul && i.types.size() == 1 && is_contractible_type(i.type()) && !i.guard.present &&
         !names_rounding(i) && !i.has(Suffix::sat) && i.operands.size() == 3 && names_register(i.operands[0]);
}

bool is_sum(const Instruction& i) {
  return (i.opcode == Opcode::add || i.opcode == Opcode::sub) && i.types.size() == 1 &&
         is_contractible_type(i.type()) && !names_rounding(i) && i.operands.size() == 3 &&
         names_register(i.operands[0]);
}

// A `mov` or `neg` of a product.
bool is_alias(const Instruction& i, const Instruction& product) {
  if (i.guard.present || i.operands.size() != 2 || !names_register(i.operands[0]) || !names_register(i.operands[1]))
    return false;
  if (i.opcode == Opcode::mov) return true;
  return i.opcode == Opcode::neg && i.type() == product.type() && i.has(Suffix::ftz) == product.has(Suffix::ftz);
}

bool writes(const Instruction& i, std::uint32_t reg) {
  bool found = false;
  for_each_definition(i, [&](std::uint32_t r) { found = found || r == reg; });
  return found;
}

bool reads(const Instruction& i, std::uint32_t reg) {
  bool found = false;
  for_each_use(i, [&](std::uint32_t r) { found = found || r == reg; });
  return found;
}

// An operand of an addition that is a product.
struct Use {
  std::uint32_t sum = 0;    // the instruction
  std::size_t operand = 0;  // 1 or 2
  bool negated = false;     // an odd number of `neg` lies between
};

struct Product {
  std::uint32_t at = 0;
  std::vector<Use> uses;
  std::vector<std::uint32_t> aliases;  // `mov` and `neg` instructions between
};

class Contraction {
 public:
  explicit Contraction(const Function& function)
      : function_(function), flow_(control_flow(function)), live_(liveness(function, flow_)) {}

  Function run() {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) find_products(b);
    if (products_.empty()) return function_;
    Function result = function_;
    removed_.resize(function_.body.size());
    for (const Product& product : products_) remove_if_unused(product);
    for (const auto& [sum, chosen] : fused_) fuse(result, sum, chosen);
    compact(result);
    return result;
  }

 private:
  struct Chosen {
    std::size_t product = 0;  // in products_
    Use use;
  };

  void find_products(std::uint32_t b) {
    const BasicBlock& block = flow_.blocks[b];
    const std::size_t first = products_.size();
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      if (!is_product(function_.body[i])) continue;
      Product product{.at = i, .uses = {}, .aliases = {}};
      if (gather_uses(product, b, i, false) && !product.uses.empty()) products_.push_back(std::move(product));
    }
    // Where both operands of an addition are products, the first operand is fused.
    for (std::size_t p = first; p < products_.size(); ++p) {
      for (const Use& use : products_[p].uses) {
        const auto [at, fresh] = fused_.try_emplace(use.sum, Chosen{p, use});
        if (!fresh && use.operand < at->second.use.operand) at->second = {p, use};
      }
    }
  }

  // Adds the uses of the result of instruction `definition` to `product`; false if one of them forbids the contraction.
  bool gather_uses(Product& product, std::uint32_t b, std::uint32_t definition, bool negated) {
    const Instruction& mul = function_.body[product.at];
    const std::uint32_t reg = function_.body[definition].operands[0].index;
    const BasicBlock& block = flow_.blocks[b];
    for (std::uint32_t i = definition + 1; i < block.end; ++i) {
      const Instruction& user = function_.body[i];
      if (reads(user, reg) && !take_use(product, b, i, reg, negated, mul)) return false;
      if (writes(user, reg)) return !user.guard.present;
    }
    const auto& live = live_.live_out[b];
    return !std::binary_search(live.begin(), live.end(), reg);
  }

  bool take_use(Product& product, std::uint32_t b, std::uint32_t i, std::uint32_t reg, bool negated,
                const Instruction& mul) {
    const Instruction& user = function_.body[i];
    if (is_alias(user, mul)) {
      product.aliases.push_back(i);
      return gather_uses(product, b, i, negated != (user.opcode == Opcode::neg));
    }
    if (!is_sum(user) || user.type() != mul.type() || user.has(Suffix::ftz) != mul.has(Suffix::ftz)) return false;
    const auto is_reg = [&](const Operand& o) { return names_register(o) && o.index == reg; };
    if (is_reg(user.operands[1]) == is_reg(user.operands[2])) return false;
    product.uses.push_back({i, is_reg(user.operands[1]) ? std::size_t{1} : std::size_t{2}, negated});
    return true;
  }

  void remove_if_unused(const Product& product) {
    const bool all = std::all_of(product.uses.begin(), product.uses.end(), [&](const Use& use) {
      const Chosen& chosen = fused_.at(use.sum);
      return products_[chosen.product].at == product.at && chosen.use.operand == use.operand;
    });
    if (!all) return;
    removed_[product.at] = true;
    for (const std::uint32_t alias : product.aliases) removed_[alias] = true;
  }

  void fuse(Function& result, std::uint32_t sum, const Chosen& chosen) {
    const Product& product = products_[chosen.product];
    const Instruction& add = function_.body[sum];
    const bool subtract = add.opcode == Opcode::sub;
    const bool second = chosen.use.operand == 2;
    Instruction fma;
    fma.opcode = Opcode::fma;
    fma.suffixes = {Suffix::rn};
    for (const Suffix s : {Suffix::ftz, Suffix::sat})
      if (add.has(s)) fma.suffixes.push_back(s);
    fma.types = add.types;
    fma.guard = add.guard;
    fma.source = add.source;
    fma.position = add.position;
    fma.operands = {add.operands[0], operand_at(result, product.at, sum, 1), operand_at(result, product.at, sum, 2),
                    add.operands[second ? 1 : 2]};
    if ((subtract && second) != chosen.use.negated)
      negate(fma.operands[names_register(fma.operands[1]) ? 1 : 2], add.type());
    if (subtract && !second) negate(fma.operands[3], add.type());
    result.body[sum] = std::move(fma);
  }

  static void negate(Operand& operand, Type type) {
    if (names_register(operand))
      operand.negated = !operand.negated;
    else
      operand.bits ^= type == Type::f64 ? kSign64 : kSign32;
  }

  // Factor `index` of the product at `mul`, as the addition at `sum` must read it: a copy where the register is written
  // in between.
  Operand operand_at(Function& result, std::uint32_t mul, std::uint32_t sum, std::size_t index) {
    Operand operand = function_.body[mul].operands[index];
    if (!names_register(operand)) return operand;
    bool changed = false;
    for (std::uint32_t i = mul; i < sum; ++i)
      changed = changed || (!removed_[i] && writes(function_.body[i], operand.index));
    if (changed) operand.index = copy_of(result, mul, operand.index);
    return operand;
  }

  std::uint32_t copy_of(Function& result, std::uint32_t mul, std::uint32_t reg) {
    const auto known = copies_.find({mul, reg});
    if (known != copies_.end()) return known->second;
    const auto fresh = static_cast<std::uint32_t>(result.registers.size());
    result.registers.push_back(result.registers[reg]);
    result.registers.back().name = fmt::format("%wm_factor{}", fresh);
    copies_[{mul, reg}] = fresh;
    return fresh;
  }

  // Removes the products that are no longer used and inserts the copies before the place of their product.
  void compact(Function& result) {
    std::vector<Instruction> body;
    std::vector<std::uint32_t> place(result.body.size() + 1);
    for (std::uint32_t i = 0; i < result.body.size(); ++i) {
      place[i] = static_cast<std::uint32_t>(body.size());
      for (const auto& [key, fresh] : copies_)
        if (key.first == i) body.push_back(move_of(result, key.second, fresh, result.body[i]));
      if (!removed_[i]) body.push_back(std::move(result.body[i]));
    }
    place.back() = static_cast<std::uint32_t>(body.size());
    result.body = std::move(body);
    for (Label& label : result.labels) label.at = place[label.at];
    for (Pragma& pragma : result.pragmas) pragma.at = place[pragma.at];
  }

  static Instruction move_of(const Function& result, std::uint32_t from, std::uint32_t to, const Instruction& near) {
    static constexpr std::array kTypes{Type::b16, Type::b32, Type::b64};
    const int width = bits(result.registers[from].type);
    Instruction move;
    move.opcode = Opcode::mov;
    move.types = {*std::find_if(kTypes.begin(), kTypes.end(), [&](Type t) { return bits(t) == width; })};
    move.source = near.source;
    move.position = near.position;
    move.operands.resize(2);
    move.operands[0].kind = move.operands[1].kind = Operand::Kind::reg;
    move.operands[0].index = to;
    move.operands[1].index = from;
    return move;
  }

  const Function& function_;
  const ControlFlow flow_;
  const Liveness live_;
  std::vector<Product> products_;
  std::map<std::uint32_t, Chosen> fused_;                                    // by the addition's index
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> copies_;  // (product, register) to its copy
  std::vector<bool> removed_;
};

}  // namespace

Function contracted(const Function& function) { return Contraction(function).run(); }

Module contracted(Module module) {
  for (Function& function : module.functions) function = contracted(function);
  return module;
}

}  // namespace wm::ptx
