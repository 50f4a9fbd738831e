#include "structure/layers.h"

#include <algorithm>
#include <sstream>

namespace wm::structure {

namespace fs = std::filesystem;

namespace {

constexpr int kLowestLayerWithZoo = 3;

// "client/opencl(protocol,host)" as its name and, if there are parentheses, the names in them.
std::pair<std::string, LayeredModule> parse_module(const std::string& text, int layer) {
  LayeredModule module{.layer = layer, .only = {}};
  const std::size_t open = text.find('(');
  if (open == std::string::npos) return {text, module};
  std::stringstream names(text.substr(open + 1, text.find(')') - open - 1));
  module.only.emplace();
  for (std::string name; std::getline(names, name, ',');) module.only->push_back(name);
  return {text.substr(0, open), module};
}

// Whether `path` is `folder` or lies below it.
bool lies_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The path of a file relative to `folder`, if it lies below it.
std::optional<std::string> below(const std::string& path, const std::string& folder) {
  if (!path.starts_with(folder + "/")) return std::nullopt;
  return path.substr(folder.size() + 1);
}

// An include path as a path of the tree: includes are relative to src/, those of the zoo to the root.
std::string tree_path(const std::string& include, const fs::path& includer) {
  if (include.find('/') == std::string::npos) return (includer.parent_path() / include).string();
  return include.starts_with("kernels/") ? include : "src/" + include;
}

std::string place(const fs::path& file, int line) { return file.string() + ":" + std::to_string(line) + ": "; }

void check_zoo(const LayerSection& top, const fs::path& file, int line, const std::string& target, Violations& found) {
  const bool in_zoo = lies_in(file.string(), "kernels");
  const bool of_zoo = lies_in(target, "kernels");
  if (in_zoo && lies_in(target, "src")) {
    const std::string module = top.module_of(*below(target, "src"));
    if (!module.empty() && module != "base" && module != "gpu")
      found.push_back(place(file, line) + "the zoo includes " + module);
  } else if (!in_zoo && of_zoo) {
    const auto path = below(file.string(), "src");
    const std::string module = path ? top.module_of(*path) : "";
    if (!module.empty() && top.modules().at(module).layer < kLowestLayerWithZoo) {
      found.push_back(place(file, line) + module + " includes the zoo");
    }
  }
}

void check_includes(const fs::path& root, const std::vector<LayerSection>& sections, const fs::path& file,
                    Violations& found) {
  for_each_line(root / file, [&](int line, std::string_view text) {
    const auto include = included_path(text);
    if (!include) return;
    if (include->starts_with("..")) {
      found.push_back(place(file, line) + "includes by a path that climbs: " + *include);
      return;
    }
    const std::string target = tree_path(*include, file);
    check_zoo(sections.front(), file, line, target, found);
    for (const LayerSection& section : sections) {
      const auto from = below(file.string(), section.folder());
      const auto to = below(target, section.folder());
      if (!from || !to) continue;
      const std::string why = section.objection(section.module_of(*from), section.module_of(*to));
      if (!why.empty()) found.push_back(place(file, line) + why);
    }
  });
}

Violations unplaced_files(const fs::path& root, const LayerSection& section) {
  Violations found;
  for (const fs::path& file : files_below(root, section.folder())) {
    if (!is_code(file)) continue;
    if (section.module_of(*below(file.string(), section.folder())).empty()) {
      found.push_back(file.string() + ": in no layer of " + section.folder());
    }
  }
  for (const auto& [name, module] : section.modules()) {
    if (fs::exists(root / section.folder()) && !fs::exists(root / section.folder() / name)) {
      found.push_back(section.folder() + "/" + name + ": has a layer and does not exist");
    }
  }
  return found;
}

}  // namespace

void LayerSection::add_layer(const std::string& line) {
  std::stringstream words(line);
  for (std::string word; words >> word;) modules_.insert(parse_module(word, layers_));
  ++layers_;
}

std::string LayerSection::module_of(const fs::path& path) const {
  std::string best;
  for (const auto& [name, module] : modules_) {
    if (lies_in(path.string(), name) && name.size() > best.size()) best = name;
  }
  if (best.empty() && modules_.contains(".") && !path.has_parent_path()) return ".";
  return best;
}

std::string LayerSection::objection(const std::string& module, const std::string& other) const {
  if (module == other || module.empty() || other.empty()) return {};
  const LayeredModule& user = modules_.at(module);
  const LayeredModule& used = modules_.at(other);
  if (user.only) {
    if (std::find(user.only->begin(), user.only->end(), other) != user.only->end()) return {};
    return module + " may not include " + other;
  }
  if (used.layer < user.layer) return {};
  return module + " (layer " + std::to_string(user.layer) + ") includes " + other + " (layer " +
         std::to_string(used.layer) + ")";
}

std::vector<LayerSection> read_layers(const fs::path& file) {
  std::vector<LayerSection> sections;
  for_each_line(file, [&](int, std::string_view text) {
    const std::string line(text.substr(0, text.find('#')));
    if (line.find_first_not_of(" \t") == std::string::npos) return;
    if (line.starts_with('[')) {
      sections.emplace_back(line.substr(1, line.find(']') - 1));
    } else if (!sections.empty()) {
      sections.back().add_layer(line);
    }
  });
  return sections;
}

Violations layer_violations(const fs::path& root, const std::vector<LayerSection>& sections) {
  Violations found;
  for (const LayerSection& section : sections) {
    const Violations unplaced = unplaced_files(root, section);
    found.insert(found.end(), unplaced.begin(), unplaced.end());
  }
  for (const char* top : {"src", "kernels"}) {
    for (const fs::path& file : files_below(root, top)) {
      if (is_code(file)) check_includes(root, sections, file, found);
    }
  }
  return found;
}

Violations undescribed_modules(const fs::path& page, const std::vector<LayerSection>& sections) {
  const std::string text = read_text(page);
  const auto names_folder = [&](const std::string& name) {
    return text.find("`" + name + "/") != std::string::npos || text.find("/" + name + "/") != std::string::npos;
  };
  Violations found;
  for (const LayerSection& section : sections) {
    for (const auto& [name, module] : section.modules()) {
      if (name == "." || names_folder(name)) continue;
      found.push_back(page.filename().string() + ": " + section.folder() + "/" + name + " is not described");
    }
  }
  return found;
}

namespace {

using Graph = std::map<std::string, std::vector<std::string>>;

// Tarjan's algorithm: the strongly connected components with more than one file.
class Components {
 public:
  explicit Components(const Graph& graph) : graph_(graph) {
    for (const auto& [file, includes] : graph_) {
      if (!visits_.contains(file)) visit(file);
    }
  }

  [[nodiscard]] const std::vector<std::vector<std::string>>& cycles() const { return cycles_; }

 private:
  struct Visit {
    int index = 0;
    int lowest = 0;
    bool on_stack = true;
  };

  void visit(const std::string& file) {
    const int index = static_cast<int>(visits_.size());
    visits_[file] = {index, index, true};
    stack_.push_back(file);
    for (const std::string& next : graph_.at(file)) {
      if (!graph_.contains(next)) continue;
      if (!visits_.contains(next)) visit(next);
      if (visits_.at(next).on_stack)
        visits_.at(file).lowest = std::min(visits_.at(file).lowest, visits_.at(next).lowest);
    }
    if (visits_.at(file).lowest == index) pop_component(file);
  }

  void pop_component(const std::string& root) {
    std::vector<std::string> component;
    do {
      component.push_back(stack_.back());
      visits_.at(stack_.back()).on_stack = false;
      stack_.pop_back();
    } while (component.back() != root);
    if (component.size() < 2) return;
    std::sort(component.begin(), component.end());
    cycles_.push_back(std::move(component));
  }

  const Graph& graph_;
  std::map<std::string, Visit> visits_;
  std::vector<std::string> stack_;
  std::vector<std::vector<std::string>> cycles_;
};

std::string without_extension(const fs::path& path) { return fs::path(path).replace_extension().string(); }

}  // namespace

Violations include_cycles(const fs::path& root) {
  Graph graph;
  for (const fs::path& file : files_below(root, "src")) {
    if (!is_code(file)) continue;
    auto& includes = graph[without_extension(file)];
    for_each_line(root / file, [&](int, std::string_view text) {
      if (const auto include = included_path(text)) includes.push_back(without_extension(tree_path(*include, file)));
    });
  }
  Violations found;
  const Components components(graph);
  for (const auto& cycle : components.cycles()) {
    std::string line = "cycle";
    for (const std::string& file : cycle) line += " " + file;
    found.push_back(line);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace wm::structure
