// wm man and wm completion: what the package installs, written from the commands themselves.
#include "cli/input/documentation.h"

#include <cstdio>
#include <memory>

#include "cli/commands/command.h"
#include "cli/commands/version.h"

namespace wm::cli {

void add_documentation(const Command& wm, const CLI::App& app) {
  const Command man = wm.add("man", "Print the manual page", "wm man | man -l -");
  man.run([&app]() -> Result<int> {
    std::fputs(man_page(app, version()).c_str(), stdout);
    return 0;
  });
  auto shell = std::make_shared<std::string>("bash");
  const Command completion = wm.add("completion", "Print the completion of a shell",
                                    "source <(wm completion bash)  # in this shell, or in ~/.bashrc");
  completion.option("shell", *shell, "bash", {.show_default = true});
  completion.run([&app, shell]() -> Result<int> {
    if (*shell != "bash") return Error{"no completion for '" + *shell + "'; there is one for bash"};
    std::fputs(bash_completion(app).c_str(), stdout);
    return 0;
  });
}

}  // namespace wm::cli
