#include "structure/rules.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <string_view>

namespace wm::structure {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxReadmeLines = 60;
constexpr int kMaxFileLines = 499;

bool begins_with_comment(const fs::path& file) {
  bool comment = false;
  for_each_line(file, [&](int number, std::string_view line) {
    if (number == 1) comment = line.starts_with("// ");
  });
  return comment;
}

int line_count(const fs::path& file) {
  int lines = 0;
  for_each_line(file, [&](int number, std::string_view) { lines = number; });
  return lines;
}

}  // namespace

Violations folders_without_readme(const fs::path& root) {
  Violations found;
  for (const char* parent : {"src", "kernels"}) {
    for (const fs::path& folder : folders_of(root, parent)) {
      const std::string name = folder.filename().string();
      if (fs::exists(root / folder / (name + ".cl"))) {  // a benchmark: its two files begin with a description
        for (const char* extension : {".cl", ".cc"}) {
          const fs::path file = folder / (name + extension);
          if (!begins_with_comment(root / file)) found.push_back(file.string() + ": does not begin with a description");
        }
        continue;
      }
      const int lines = line_count(root / folder / "README.md");
      if (lines == 0) found.push_back(folder.string() + ": no README.md");
      if (lines > kMaxReadmeLines) found.push_back(folder.string() + "/README.md: longer than a page");
    }
  }
  return found;
}

Violations unguarded_headers(const fs::path& root) {
  Violations found;
  for (const fs::path& file : code_files(root)) {
    if (file.extension() != ".h") continue;
    bool guarded = false;
    for_each_line(root / file, [&](int, std::string_view line) { guarded = guarded || line == "#pragma once"; });
    if (!guarded) found.push_back(file.string() + ": no #pragma once");
  }
  return found;
}

Violations long_files(const fs::path& root) {
  Violations found;
  for (const fs::path& file : code_files(root)) {
    const int lines = line_count(root / file);
    if (lines > kMaxFileLines) found.push_back(file.string() + ": " + std::to_string(lines) + " lines");
  }
  return found;
}

Violations broken_links(const fs::path& root) {
  Violations found;
  for (const fs::path& file : files_below(root, ".")) {
    if (file.extension() != ".md") continue;
    bool in_code = false;
    for_each_line(root / file, [&](int number, std::string_view line) {
      if (line.starts_with("```")) in_code = !in_code;
      if (in_code || line.starts_with("    ")) return;
      for (std::size_t at = line.find("]("); at != std::string_view::npos; at = line.find("](", at + 1)) {
        const std::string_view target = line.substr(at + 2, line.find_first_of(")#", at + 2) - at - 2);
        if (target.empty() || target.find("://") != std::string_view::npos) continue;
        if (fs::exists(root / file.parent_path() / target)) continue;
        found.push_back(file.string() + ":" + std::to_string(number) + ": link to " + std::string(target));
      }
    });
  }
  return found;
}

namespace {

// The texts are written in halves so that this file does not contain them. `word`: matches whole words only.
// As text.find(part, from); memmem searches the results, which are files of megabytes, several times faster.
std::size_t next_match(const std::string& text, const std::string& part, std::size_t from) {
  const void* at = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return at == nullptr ? std::string::npos : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

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

}  // namespace

namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether an identifier belongs to OpenCL (cl_event, CL_TRUE, clFinish) or to the CUDA driver (CUstream, cuInit).
bool is_driver_name(std::string_view name) {
  if (name.starts_with("cl_") || name.starts_with("CL_")) return true;
  if (name.size() < 3) return false;
  const bool upper = std::isupper(static_cast<unsigned char>(name[2])) != 0;
  const bool lower = std::islower(static_cast<unsigned char>(name[2])) != 0;
  return ((name.starts_with("cl") || name.starts_with("cu")) && upper) || (name.starts_with("CU") && lower);
}

// The first name of OpenCL or of the CUDA driver in a line of code, or the backend's header that it includes; empty:
// there is none.
std::string_view driver_type(std::string_view code) {
  for (const std::string_view text : {"<CL/", "runtime/device/opencl_", "runtime/device/cuda/"}) {
    if (code.find(text) != std::string_view::npos) return text;
  }
  for (std::size_t i = 0; i < code.size();) {
    const std::size_t begin = i;
    while (i < code.size() && is_word_char(code[i])) ++i;
    if (is_driver_name(code.substr(begin, i - begin))) return code.substr(begin, i - begin);
    if (i == begin) ++i;
  }
  return {};
}

}  // namespace

Violations driver_types_above_devices(const fs::path& root) {
  Violations found;
  for (const char* folder :
       {"arbiter", "program", "protocol", "schedule", "server", "session", "simulated", "simulated_server"}) {
    for (const fs::path& file : files_below(root, std::string("src/runtime/") + folder)) {
      if (!is_code(file)) continue;
      for_each_line(root / file, [&](int number, std::string_view line) {
        const std::string_view name = driver_type(line.substr(0, line.find("//")));
        if (!name.empty())
          found.push_back(file.string() + ":" + std::to_string(number) + ": names " + std::string(name));
      });
    }
  }
  return found;
}

Violations forbidden_words(const fs::path& root) {
  Violations found;
  for (const fs::path& file : files_below(root, ".")) {
    if (!is_text(file)) continue;
    const std::string text = read_text(root / file);
    for (const Forbidden& bad : forbidden()) {
      for (auto at = next_match(text, bad.text, 0); at != std::string::npos; at = next_match(text, bad.text, at + 1)) {
        if (bad.word && !is_whole_word(text, at, bad.text.size())) continue;
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        found.push_back(file.string() + ":" + std::to_string(line) + ": contains '" + bad.text + "'");
      }
    }
  }
  return found;
}

}  // namespace wm::structure
