// Properties of a kernel that follow from its PTX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output/table.h"
#include "ptx/analysis.h"
#include "ptx/ir.h"

namespace wm::cli {

struct KernelFacts {
  std::string name;  // name of the entry
  ptx::StaticCounts counts;
  ptx::RegisterDemand demand;
  std::uint64_t shared_bytes = 0;  // static, per block, of the kernel and all functions it calls
  std::uint64_t local_bytes = 0;   // per thread
  std::uint64_t parameter_bytes = 0;
};

KernelFacts facts_of(const ptx::Module& module, const ptx::Function& kernel);
std::vector<KernelFacts> facts_of(const ptx::Module& module);

Table table_of(const std::vector<KernelFacts>& facts);
nlohmann::ordered_json json_of(const KernelFacts& facts);

}  // namespace wm::cli
