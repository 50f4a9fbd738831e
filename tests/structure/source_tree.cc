#include "structure/source_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace wm::structure {

namespace fs = std::filesystem;

namespace {

bool is_skipped_folder(const fs::path& folder) {
  const fs::path name = folder.filename();
  return name == "build" || name == ".git" || name == "node_modules";
}

std::string_view without_leading_blanks(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

}  // namespace

bool is_code(const fs::path& path) {
  static constexpr std::array kEndings{".h", ".cc", ".cl", ".cu", ".inc"};
  const std::string ending = path.extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::vector<fs::path> files_below(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(root / folder)) return files;
  for (auto it = fs::recursive_directory_iterator(root / folder); it != fs::recursive_directory_iterator(); ++it) {
    if (it->is_directory() && is_skipped_folder(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && it->path().filename() != ".git") {  // in a git worktree .git is a file
      files.push_back(it->path().lexically_relative(root).lexically_normal());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> code_files(const fs::path& root) {
  std::vector<fs::path> code;
  for (const char* top : {"src", "kernels", "tests", "bench", "fuzz", "validation", "examples"}) {
    for (const fs::path& file : files_below(root, top)) {
      if (is_code(file)) code.push_back(file);
    }
  }
  return code;
}

std::vector<fs::path> folders_of(const fs::path& root, const std::string& parent) {
  std::vector<fs::path> folders;
  if (!fs::exists(root / parent)) return folders;
  for (const auto& entry : fs::directory_iterator(root / parent)) {
    if (entry.is_directory()) folders.push_back(entry.path().lexically_relative(root).lexically_normal());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void for_each_line(const fs::path& path, const std::function<void(int, std::string_view)>& visit) {
  std::ifstream in(path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) visit(number, line);
}

std::optional<std::string> included_path(std::string_view line) {
  std::string_view rest = without_leading_blanks(line);
  if (!rest.starts_with('#')) return std::nullopt;
  rest = without_leading_blanks(rest.substr(1));
  if (!rest.starts_with("include")) return std::nullopt;
  rest = without_leading_blanks(rest.substr(7));
  if (!rest.starts_with('"')) return std::nullopt;
  return std::string(rest.substr(1, rest.find('"', 1) - 1));
}

bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  return (at == 0 || !letter(at - 1)) && !letter(at + length);
}

}  // namespace wm::structure
