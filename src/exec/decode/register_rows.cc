#include "exec/decode/register_rows.h"

#include <algorithm>
#include <map>

namespace wm::exec {

namespace {

struct Lifetime {
  std::uint32_t reg = 0;
  std::uint32_t begin = 0xffffffffU;
  std::uint32_t end = 0;

  void cover(std::uint32_t at) {
    begin = std::min(begin, at);
    end = std::max(end, at);
  }
  [[nodiscard]] bool mentioned() const { return begin <= end; }
};

std::vector<Lifetime> lifetimes(const ptx::Function& function, const ptx::ControlFlow& flow,
                                const ptx::Liveness& live) {
  std::vector<Lifetime> all(function.registers.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].reg = i;
  for (std::uint32_t at = 0; at < function.body.size(); ++at) {
    const ptx::Instruction& instruction = function.body[at];
    if (instruction.guard.present) all[instruction.guard.reg].cover(at);
    for (const ptx::Operand& operand : instruction.operands)
      exec::for_each_register(operand, [&](const ptx::Operand& r) { all[r.index].cover(at); });
  }
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const ptx::BasicBlock& block = flow.blocks[b];
    if (block.begin == block.end) continue;
    for (const std::uint32_t r : live.live_in[b]) all[r].cover(block.begin);
    for (const std::uint32_t r : live.live_out[b]) all[r].cover(block.end - 1);
  }
  // Parameters passed in registers are live at the beginning of the function, results at its end.
  const auto last = static_cast<std::uint32_t>(function.body.size());
  const auto cover_named = [&](const std::vector<ptx::Variable>& list, std::uint32_t at) {
    for (const ptx::Variable& v : list)
      for (std::uint32_t r = 0; v.space == ptx::Space::reg && r < function.registers.size(); ++r)
        if (function.registers[r].name == v.name) all[r].cover(0), all[r].cover(at);
  };
  cover_named(function.parameters, 0);
  cover_named(function.results, last);
  return all;
}

}  // namespace

int lane_bytes(ptx::Type type) { return type == ptx::Type::pred ? 0 : ptx::bytes(type); }

std::uint32_t row_size(int bytes) {
  return bytes == 0 ? static_cast<std::uint32_t>(sizeof(Mask)) : static_cast<std::uint32_t>(bytes) * kLanes;
}

RegisterRows layout_registers(const ptx::Function& function, const ptx::ControlFlow& flow) {
  const ptx::Liveness live = ptx::liveness(function, flow);
  std::vector<Lifetime> order = lifetimes(function, flow, live);
  std::erase_if(order, [](const Lifetime& l) { return !l.mentioned(); });
  std::sort(order.begin(), order.end(), [](const Lifetime& a, const Lifetime& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.reg < b.reg;
  });

  struct Row {
    std::uint32_t number;
    std::uint32_t busy_until;
  };
  RegisterRows result;
  result.row_of.resize(function.registers.size());
  result.number.resize(function.registers.size(), 0);
  std::map<int, std::vector<Row>> rows_of_width;
  std::vector<int> width_of_row;
  for (const Lifetime& life : order) {
    const int width = lane_bytes(function.registers[life.reg].type);
    std::vector<Row>& rows = rows_of_width[width];
    const auto free = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.busy_until < life.begin; });
    if (free != rows.end()) {
      free->busy_until = life.end;
      result.number[life.reg] = free->number;
    } else {
      rows.push_back({result.rows, life.end});
      result.number[life.reg] = result.rows++;
      width_of_row.push_back(width);
    }
  }

  // Widest first keeps every row aligned to its lanes.
  std::vector<std::uint32_t> offset(result.rows);
  for (auto at = rows_of_width.rbegin(); at != rows_of_width.rend(); ++at) {
    for (const Row& row : at->second) {
      offset[row.number] = result.bytes;
      result.bytes += row_size(at->first);
    }
  }
  for (const Lifetime& life : order) result.row_of[life.reg] = {offset[result.number[life.reg]]};
  if (!live.live_in.empty()) result.undefined = live.live_in[0];
  return result;
}

}  // namespace wm::exec
