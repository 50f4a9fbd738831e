// Man pages and shell completion, generated from the commands and options that the parser knows.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace wm::cli {

// The man page, as troff source, of `app` with all commands below it: wm(1).
std::string man_page(const CLI::App& app, const std::string& version);

// A script for bash that completes commands, options and the names of policies, kernels and GPUs.
std::string bash_completion(const CLI::App& app);

}  // namespace wm::cli
