// wm test: the script ./wm of the source tree builds and runs the tests; this program only says so.

#include "cli/commands/command.h"

namespace wm::cli {

void add_test(const Command& wm) {
  wm.add("test", "Set up, build, and run every test that needs no GPU", "./wm test").run([]() -> Result<int> {
    return Error{"tests run from the source tree: ./wm test"};
  });
}

}  // namespace wm::cli
