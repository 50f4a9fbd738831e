// wm: the command line. Every command lives in a file of its own; here they meet.
#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char** argv) {
  CLI::App app{"Shares one GPU among many kernels.", "wm"};
  app.set_version_flag("--version", "wm " WM_VERSION);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "wm: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
