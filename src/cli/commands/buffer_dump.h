// --dump: the contents of buffers after a run, as text, as JSON, or in files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/input/arguments.h"
#include "cli/output/output.h"
#include "gpu/application.h"
#include "gpu/element.h"

namespace wm::cli {

struct ChosenDump {
  Dump dump;
  std::size_t buffer = 0;
};

// Finds the buffers that `words` (NAME[:TYPE[:COUNT]] or NAME=FILE) name. `elements` are the buffers' own types.
Result<std::vector<ChosenDump>> choose_dumps(const std::vector<std::string>& words,
                                             const std::vector<gpu::Buffer>& buffers,
                                             const std::vector<gpu::Element>& elements);

// Writes the dumps that have a file; prints the others and adds them to item["buffers"].
Result<void> write_dumps(const std::vector<ChosenDump>& chosen, const std::vector<std::vector<std::byte>>& buffers,
                         const Output& output, nlohmann::ordered_json& item);

}  // namespace wm::cli
