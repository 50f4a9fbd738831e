// wm test: the tests live in the source tree, where ./wm builds and runs them before this program is asked.
#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace wm::cli {

void add_test(CLI::App& app, Action& chosen) {
  CLI::App* test = app.add_subcommand("test", "Set up, build, and run every test that needs no GPU");
  test->footer("Example:\n  ./wm test");
  test->callback(
      [&chosen] { chosen = []() -> Result<int> { return Error{"tests run from the source tree: ./wm test"}; }; });
}

}  // namespace wm::cli
