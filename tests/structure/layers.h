// The layers of the source tree, read from layers.txt, and the includes that break them.
//
// The file has a section for every folder whose parts are layered:
//
//     [src/runtime]
//     protocol host
//     device client/opencl(protocol)
//
// A line is a layer, the lowest first, and names its modules: folders below the section's folder, or "." for the files
// that lie in it directly. A module includes its own files and modules of lower lines. A list in parentheses replaces
// that rule: client/opencl includes protocol only. A file belongs to the longest name that matches its path.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "structure/source_tree.h"

namespace wm::structure {

struct LayeredModule {
  int layer = 0;
  std::optional<std::vector<std::string>> only;  // the modules it may include, where the list restricts them
};

// The modules of one folder by their names relative to it.
class LayerSection {
 public:
  explicit LayerSection(std::string folder) : folder_(std::move(folder)) {}

  // Adds the modules of the next layer, "device client/opencl(protocol)".
  void add_layer(const std::string& line);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // The module of a path below the section's folder ("runtime/device/a.h" for src/runtime); empty if none matches.
  [[nodiscard]] std::string module_of(const std::filesystem::path& path) const;
  // The reason why a file of `module` must not include one of `other`; empty if it may.
  [[nodiscard]] std::string objection(const std::string& module, const std::string& other) const;
  [[nodiscard]] const std::map<std::string, LayeredModule>& modules() const { return modules_; }

 private:
  std::string folder_;
  int layers_ = 0;
  std::map<std::string, LayeredModule> modules_;
};

std::vector<LayerSection> read_layers(const std::filesystem::path& file);

// Includes of a module in a higher layer or the same one, files and folders that no layer names, and named modules that
// do not exist. The benchmark zoo in kernels/ includes src/base and src/gpu only; modules from layer 3 on may include
// it.
Violations layer_violations(const std::filesystem::path& root, const std::vector<LayerSection>& sections);

// Modules that `page` does not name as folders: `device/` or `src/base/` in backquotes. The files that lie in a folder
// directly (".") have no name.
Violations undescribed_modules(const std::filesystem::path& page, const std::vector<LayerSection>& sections);

// Groups of files of one module (a folder of src/ that the first section names) that include each other in a cycle. A
// header and the source of the same name count as one.
Violations include_cycles(const std::filesystem::path& root);

}  // namespace wm::structure
