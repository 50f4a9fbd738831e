// wm: the command line. Every command lives in a file of its own; app.cc is where they meet.
#include "cli/commands/command.h"

int main(int argc, char** argv) { return wm::cli::run(argc, argv); }
