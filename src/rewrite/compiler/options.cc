#include "rewrite/compiler/options.h"

#include <algorithm>
#include <array>

#include "rewrite/build_options.h"

namespace wm::rewrite {
namespace {

constexpr std::array<std::string_view, 9> kForClang{"-cl-single-precision-constant",
                                                    "-cl-fast-relaxed-math",
                                                    "-cl-finite-math-only",
                                                    "-cl-unsafe-math-optimizations",
                                                    "-cl-no-signed-zeros",
                                                    "-cl-mad-enable",
                                                    "-cl-uniform-work-group-size",
                                                    "-w",
                                                    "-Werror"};
// Options that permit an optimisation or ask for none, and those of the extension cl_nv_compiler_options. Code without
// them is correct with them.
constexpr std::array<std::string_view, 9> kIgnored{"-cl-denorms-are-zero",
                                                   "-cl-fp32-correctly-rounded-divide-sqrt",
                                                   "-cl-strict-aliasing",
                                                   "-cl-opt-disable",
                                                   "-cl-kernel-arg-info",
                                                   "-cl-no-subgroup-ifp",
                                                   "-g",
                                                   "-cl-nv-verbose",
                                                   "-cl-nv-cstd=CL1.2"};
constexpr std::array<std::string_view, 3> kLanguages{"CL1.0", "CL1.1", "CL1.2"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_ignored(const std::string& word) {
  return contains(kIgnored, word) || word.starts_with("-cl-nv-maxrregcount") || word.starts_with("-cl-nv-opt-level");
}

// Why the word is no option; empty where it is.
std::string read_word(CompileRequest::Kind kind, const std::string& word, CompilerOptions& options) {
  const bool links = kind == CompileRequest::Kind::link;
  if (links && word == "-create-library") {
    options.library = true;
    return {};
  }
  if (links && word == "-enable-link-options") return {};
  if (word.starts_with("-cl-std=")) {
    const std::string language = word.substr(8);
    if (!contains(kLanguages, language)) {
      return "'" + word + "': this compiler has OpenCL C 1.0 to 1.2";
    }
    options.arguments.push_back(word);
    return {};
  }
  if (contains(kForClang, word)) {
    options.arguments.push_back(word);
    return {};
  }
  return is_ignored(word) ? std::string() : "unknown option '" + word + "'";
}

}  // namespace

CompilerOptions read_compiler_options(CompileRequest::Kind kind, const std::string& text) {
  CompilerOptions options;
  const std::vector<std::string> words = split_build_options(text);
  for (std::size_t i = 0; i < words.size() && options.refusal.empty(); ++i) {
    const std::string& word = words[i];
    const bool preprocessor = word.starts_with("-D") || word.starts_with("-I") || word.starts_with("-U");
    if (preprocessor && kind != CompileRequest::Kind::link) {
      const bool apart = word.size() == 2 && i + 1 < words.size();
      options.arguments.push_back(apart ? word + words[++i] : word);
    } else {
      options.refusal = read_word(kind, word, options);
    }
  }
  return options;
}

}  // namespace wm::rewrite
