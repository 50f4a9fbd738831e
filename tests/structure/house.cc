#include "structure/house.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>

namespace wm::structure {
namespace {

namespace fs = std::filesystem;

// The floors; a room that is not here is an offence of its own.
const std::map<std::string, int>& floors() {
  static const std::map<std::string, int> table{{"base", 0}, {"gpu", 1},     {"ptx", 1},     {"policy", 2}, {"exec", 2},
                                                {"sim", 3},  {"rewrite", 3}, {"runtime", 4}, {"lab", 4},    {"cli", 5}};
  return table;
}

bool is_code(const fs::path& path) {
  static const std::set<std::string> endings{".h", ".cc", ".cl", ".cu", ".inc"};
  return endings.contains(path.extension().string());
}

// Files below root/folder, as paths relative to root, sorted: the order of a directory is not ours to rely on.
std::vector<fs::path> files_below(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(root / folder)) return files;
  for (auto it = fs::recursive_directory_iterator(root / folder); it != fs::recursive_directory_iterator(); ++it) {
    if (it->is_directory() && (it->path().filename() == "build" || it->path().filename() == ".git")) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && it->path().filename() != ".git") {  // a worktree's .git is a file
      files.push_back(fs::relative(it->path(), root));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void each_line(const fs::path& path, const std::function<void(int, const std::string&)>& visit) {
  std::ifstream in(path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) visit(number, line);
}

// The room a path of the tree, or of an include, lies in: its first folder, "zoo" for kernels/.
std::string room_of(const fs::path& path) {
  auto part = path.begin();
  if (part == path.end()) return {};
  if (*part == "kernels") return "zoo";
  if (*part == "src") ++part;
  return part == path.end() ? std::string{} : part->string();
}

std::optional<std::string> included(const std::string& line) {
  static const std::regex pattern(R"(^\s*#\s*include\s*"([^"]+)\")");
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return std::nullopt;
  return match[1].str();
}

// Why `room` may not include `other`; empty when it may.
std::string objection(const std::string& room, const std::string& other) {
  const auto floor = [](const std::string& name) { return std::to_string(floors().at(name)); };
  if (room == other) return {};
  if (room == "zoo") return other == "base" || other == "gpu" ? "" : "the zoo includes " + other;
  if (other == "zoo") return floors().at(room) >= 3 ? "" : room + " (floor " + floor(room) + ") includes the zoo";
  if (floors().at(other) < floors().at(room)) return {};
  return room + " (floor " + floor(room) + ") includes " + other + " (floor " + floor(other) + ")";
}

Offences includes_of(const fs::path& root, const fs::path& file) {
  Offences offences;
  const std::string room = room_of(file);
  each_line(root / file, [&](int number, const std::string& line) {
    const auto path = included(line);
    if (!path) return;
    const std::string place = file.string() + ":" + std::to_string(number) + ": ";
    if (path->starts_with("..")) {
      offences.push_back(place + "includes by a path that climbs: " + *path);
      return;
    }
    // A name without a folder is a neighbour's (an OpenCL header, say); one with an unknown folder is a library's.
    const std::string other = path->find('/') == std::string::npos ? room : room_of(*path);
    if (other != "zoo" && !floors().contains(other)) return;
    if (const std::string why = objection(room, other); !why.empty()) offences.push_back(place + why);
  });
  return offences;
}

void append(Offences& all, const Offences& more) { all.insert(all.end(), more.begin(), more.end()); }

std::vector<fs::path> folders_of(const fs::path& root, const std::string& parent) {
  std::vector<fs::path> folders;
  if (!fs::exists(root / parent)) return folders;
  for (const auto& entry : fs::directory_iterator(root / parent)) {
    if (entry.is_directory()) folders.push_back(fs::relative(entry.path(), root));
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> code_of(const fs::path& root) {
  std::vector<fs::path> code;
  for (const char* top : {"src", "kernels", "tests", "bench", "fuzz", "validation", "examples"}) {
    for (const fs::path& file : files_below(root, top)) {
      if (is_code(file)) code.push_back(file);
    }
  }
  return code;
}

}  // namespace

Offences wrong_includes(const fs::path& root) {
  Offences offences;
  for (const fs::path& folder : folders_of(root, "src")) {
    if (!floors().contains(folder.filename().string())) offences.push_back(folder.string() + ": a room with no floor");
  }
  for (const char* top : {"src", "kernels"}) {
    for (const fs::path& file : files_below(root, top)) {
      const bool placed = room_of(file) == "zoo" || floors().contains(room_of(file));
      if (is_code(file) && placed) append(offences, includes_of(root, file));
    }
  }
  return offences;
}

namespace {

bool begins_with_a_comment(const fs::path& file) {
  bool comment = false;
  each_line(file, [&](int number, const std::string& line) {
    if (number == 1) comment = line.starts_with("// ");
  });
  return comment;
}

}  // namespace

Offences folders_without_readme(const fs::path& root) {
  Offences offences;
  for (const char* parent : {"src", "kernels"}) {
    for (const fs::path& folder : folders_of(root, parent)) {
      const std::string name = folder.filename().string();
      if (fs::exists(root / folder / (name + ".cl"))) {  // a benchmark is two files that speak for themselves
        for (const char* extension : {".cl", ".cc"}) {
          const fs::path file = folder / (name + extension);
          if (!begins_with_a_comment(root / file)) offences.push_back(file.string() + ": does not say what it is");
        }
        continue;
      }
      int lines = 0;
      each_line(root / folder / "README.md", [&](int number, const std::string&) { lines = number; });
      if (lines == 0) offences.push_back(folder.string() + ": no README.md");
      if (lines > 60) offences.push_back(folder.string() + "/README.md: longer than a page");
    }
  }
  return offences;
}

Offences unguarded_headers(const fs::path& root) {
  Offences offences;
  for (const fs::path& file : code_of(root)) {
    if (file.extension() != ".h") continue;
    bool guarded = false;
    each_line(root / file, [&](int, const std::string& line) { guarded = guarded || line == "#pragma once"; });
    if (!guarded) offences.push_back(file.string() + ": no #pragma once");
  }
  return offences;
}

Offences long_files(const fs::path& root) {
  Offences offences;
  for (const fs::path& file : code_of(root)) {
    int lines = 0;
    each_line(root / file, [&](int number, const std::string&) { lines = number; });
    if (lines >= 500) offences.push_back(file.string() + ": " + std::to_string(lines) + " lines");
  }
  return offences;
}

namespace {

// Spelt in halves, so that this file does not offend against itself. The flag says that it must be a word of its own.
struct Forbidden {
  std::string text;
  bool word;
};
const std::vector<Forbidden>& forbidden() {
  static const std::vector<Forbidden> list{
      {std::string("/wo") + "rk/", false},    {std::string("/tm") + "p/wt", false},
      {std::string("../sha") + "red", false}, {std::string("/far") + "m/", false},
      {std::string("TO") + "DO", true},       {std::string("FIX") + "ME", true},
      {std::string("XX") + "X", true},        {std::string("DISAB") + "LED_", false}};
  return list;
}

bool is_text(const fs::path& file) {
  static const std::set<std::string> endings{"",      ".md", ".txt", ".cmake", ".yaml",
                                             ".json", ".py", ".ptx", ".sh",    ".csv"};
  return is_code(file) || endings.contains(file.extension().string());
}

bool stands_alone(const std::string& text, std::size_t at, std::size_t length) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  return (at == 0 || !letter(at - 1)) && !letter(at + length);
}

}  // namespace

Offences forbidden_words(const fs::path& root) {
  Offences offences;
  for (const fs::path& file : files_below(root, ".")) {
    if (!is_text(file)) continue;
    std::ifstream in(root / file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const Forbidden& bad : forbidden()) {
      for (auto at = text.find(bad.text); at != std::string::npos; at = text.find(bad.text, at + 1)) {
        if (bad.word && !stands_alone(text, at, bad.text.size())) continue;
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        offences.push_back(file.string() + ":" + std::to_string(line) + ": says '" + bad.text + "'");
      }
    }
  }
  return offences;
}

}  // namespace wm::structure
