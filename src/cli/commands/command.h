// The commands: each file adds its own to `wm`, with options and the action that main runs when it is chosen.
#pragma once

#include "cli/input/options.h"

namespace CLI {
class App;
}

namespace wm::cli {

void add_demo(const Command& wm);
void add_test(const Command& wm);
void add_kernels(const Command& wm);
void add_kernels_check(const Command& kernels);
void add_gpus(const Command& wm);
void add_policies(const Command& wm);
void add_sim(const Command& wm);
void add_compare(const Command& wm);
void add_validate(const Command& wm);
void add_lab(const Command& wm);
void add_lab_run(const Command& lab);
void add_lab_confirm(const Command& lab);
void add_lab_show(const Command& lab);
void add_lab_report(const Command& lab);
void add_lab_exchange(const Command& lab);
void add_ptx(const Command& wm);
void add_ptx_run(const Command& ptx);
void add_ptx_rewrite(const Command& ptx);
void add_cl(const Command& wm);
#ifdef WM_RUNTIME
void add_cl_run(const Command& cl);
void add_bench_share(const Command& bench);
void add_bench_calls(const Command& bench);
#endif
void add_bench(const Command& wm);
void add_doctor(const Command& wm);
void add_documentation(const Command& wm, const CLI::App& app);
void add_bench_sim(const Command& bench);
void add_bench_policies(const Command& bench);
#ifdef WM_RUNTIME
void add_serve(const Command& wm);
void add_run(const Command& wm);
void add_status(const Command& wm);
void add_top(const Command& wm);
void add_control(const Command& wm);
void add_record(const Command& wm);
#endif

// Parses the command line and runs the chosen command.
int run(int argc, const char* const* argv);

}  // namespace wm::cli
