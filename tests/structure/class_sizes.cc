#include "structure/class_sizes.h"

#include <algorithm>
#include <map>
#include <set>

#include "structure/class_scan.h"

namespace wm::structure {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxFields = 25;
constexpr std::size_t kMaxSources = 2;

struct Definition {
  fs::path header;
  int fields = 0;
  std::set<std::string> sources;
};

// "Outer::Inner" ends with "Inner", and a member definition may leave out namespaces or name them.
bool same_class(const std::string& defined, const std::string& used) {
  const auto ends = [](const std::string& name, const std::string& end) {
    return name == end || name.ends_with("::" + end);
  };
  return ends(used, defined) || ends(defined, used);
}

// The number of leading folders that two files share.
std::size_t shared_folders(const fs::path& a, const fs::path& b) {
  const auto [end, ignored] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::distance(a.begin(), end));
}

using Classes = std::multimap<std::string, Definition>;

// The class that a source's member functions belong to: of several with the name, the one with the nearest header.
Definition* owner(Classes& classes, const std::string& name, const fs::path& source) {
  Definition* best = nullptr;
  for (auto& [defined, definition] : classes) {
    if (!same_class(defined, name)) continue;
    if (best == nullptr || shared_folders(source, definition.header) > shared_folders(source, best->header)) {
      best = &definition;
    }
  }
  return best;
}

std::string line(const char* kind, const Definition& definition, const std::string& name, std::size_t count) {
  return std::string(kind) + " " + definition.header.string() + " " + name + " " + std::to_string(count);
}

}  // namespace

std::vector<std::string> large_classes(const fs::path& root) {
  Classes classes;
  std::vector<std::pair<fs::path, std::string>> members;
  for (const fs::path& file : files_below(root, "src")) {
    if (!is_code(file)) continue;
    const ScannedSource source = scan_source(read_text(root / file));
    for (const ClassDefinition& found : source.classes) classes.insert({found.name, {file, found.fields, {}}});
    for (const std::string& name : source.members_of) members.emplace_back(file, name);
  }
  for (const auto& [file, name] : members) {
    if (file.extension() != ".cc") continue;
    if (Definition* definition = owner(classes, name, file)) definition->sources.insert(file.string());
  }
  std::vector<std::string> found;
  for (const auto& [name, definition] : classes) {
    if (definition.fields > kMaxFields) {
      found.push_back(line("fields", definition, name, static_cast<std::size_t>(definition.fields)));
    }
    if (definition.sources.size() > kMaxSources) {
      found.push_back(line("sources", definition, name, definition.sources.size()));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

// "fields PATH CLASS COUNT" as the name of the exception and the count; cycles have no count.
std::pair<std::string, int> split(const std::string& text) {
  const std::size_t blank = text.rfind(' ');
  if (text.starts_with("cycle ") || blank == std::string::npos) return {text, 0};
  return {text.substr(0, blank), std::stoi(text.substr(blank + 1))};
}

}  // namespace

Violations unexpected(const std::vector<std::string>& found, const fs::path& exceptions) {
  std::map<std::string, int> allowed;
  for_each_line(exceptions, [&](int, std::string_view text) {
    if (!text.empty() && !text.starts_with('#')) allowed.insert(split(std::string(text)));
  });
  Violations violations;
  for (const std::string& text : found) {
    const auto [name, count] = split(text);
    const auto exception = allowed.find(name);
    if (exception == allowed.end()) {
      violations.push_back(text + ": too large, or an include cycle");
    } else if (count > exception->second) {
      violations.push_back(text + ": has grown from " + std::to_string(exception->second));
    } else if (count < exception->second) {
      violations.push_back(text + ": is smaller than its exception, " + std::to_string(exception->second));
    }
    if (exception != allowed.end()) allowed.erase(exception);
  }
  for (const auto& [name, count] : allowed) violations.push_back(name + ": the exception is not needed any more");
  return violations;
}

}  // namespace wm::structure
