// wm: the command line. Every command has a file of its own in commands/; commands/app.cc collects them.
#include "cli/commands/command.h"

int main(int argc, char** argv) { return wm::cli::run(argc, argv); }
