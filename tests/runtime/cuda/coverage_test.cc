// docs/reference/cuda.md lists the functions of the table; WM_UPDATE_DOCS=1 writes it.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "tree.h"

namespace wm::cuda {
namespace {

struct TableLine {
  std::string name;
  int since;
  std::string variant;
};

const std::vector<TableLine>& implemented() {
  static const std::vector<TableLine> lines{
#define WM_CUDA(name, since, parameters) {#name, since, ""},
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) {#name, since, #suffix},
#include "runtime/client/cuda/interface/functions.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
  };
  return lines;
}

const std::vector<std::string>& refused() {
  static const std::vector<std::string> names{
#define WM_CUDA_REFUSED(name, since) #name,
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA_REFUSED
  };
  return names;
}

const std::vector<std::string>& runtime_implemented() {
  static const std::vector<std::string> names{
#define WM_RUNTIME(name) #name,
#include "runtime/client/cudart/implemented.def"
#undef WM_RUNTIME
  };
  return names;
}

const std::vector<std::string>& runtime_refused() {
  static const std::vector<std::string> names{
#define WM_RUNTIME_REFUSED(name) #name,
#include "runtime/client/cudart/refused.def"
#undef WM_RUNTIME_REFUSED
  };
  return names;
}

std::string page() {
  std::ostringstream text;
  text
      << "# CUDA driver and runtime API of the simulated GPU\n\n"
      << "This page is generated from the table that the driver is built from "
         "(`src/runtime/client/cuda/interface/`).\n\n"
      << "## Implemented\n\n`since` is the CUDA version of the signature; `variant` the suffix of a second entry point "
         "whose default\nstream is the calling thread's own.\n\n| function | since | variant |\n|---|---|---|\n";
  for (const TableLine& line : implemented()) {
    text << "| `" << line.name << "` | " << line.since / 1000 << "." << line.since % 1000 / 10 << " | "
         << (line.variant.empty() ? "" : "`" + line.variant + "`") << " |\n";
  }
  text << "\n## Refused\n\nThese are exported, print their name once and return `CUDA_ERROR_NOT_SUPPORTED`.\n\n";
  for (const std::string& name : refused()) text << "- `" << name << "`\n";
  text
      << "\n## Runtime API: implemented\n\n`libcudart.so.12` and `libcudart.so.13` (`src/runtime/client/cudart/`) have "
         "these.\n\n";
  for (const std::string& name : runtime_implemented()) text << "- `" << name << "`\n";
  text << "\n## Runtime API: refused\n\nThese are exported, print their name once and return "
          "`cudaErrorNotSupported`.\n\n";
  for (const std::string& name : runtime_refused()) text << "- `" << name << "`\n";
  return text.str();
}

TEST(CudaCoverage, ThePageListsTheFunctionsOfTheTable) {
  const std::string file = source_path("docs/reference/cuda.md");
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) std::ofstream(file) << page();
  std::ostringstream there;
  there << std::ifstream(file).rdbuf();
  EXPECT_EQ(there.str(), page()) << "WM_UPDATE_DOCS=1 writes the page";
}

TEST(CudaCoverage, NoFunctionIsListedTwice) {
  std::vector<std::string> names = refused();
  for (const TableLine& line : implemented()) {
    names.push_back(line.name);
    if (!line.variant.empty()) names.push_back(line.name + line.variant);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace wm::cuda
