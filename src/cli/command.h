// How a command joins `wm`: its file adds options to the app and, when chosen, sets the action that main runs.
#pragma once

#include <functional>

#include "base/result.h"

namespace CLI {
class App;
}

namespace wm::cli {

// The exit code: 0 done, 1 something that was checked did not pass. An error is bad input: one line on stderr, exit 2.
using Action = std::function<Result<int>()>;

void add_demo(CLI::App& app, Action& chosen);
void add_test(CLI::App& app, Action& chosen);
void add_kernels(CLI::App& app, Action& chosen);
void add_kernels_check(CLI::App& kernels, Action& chosen);
void add_gpus(CLI::App& app, Action& chosen);
void add_policies(CLI::App& app, Action& chosen);
void add_sim(CLI::App& app, Action& chosen);
void add_ptx(CLI::App& app, Action& chosen);
void add_ptx_run(CLI::App& ptx, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);

// Parses and runs; the whole of main.
int run(int argc, const char* const* argv);

}  // namespace wm::cli
