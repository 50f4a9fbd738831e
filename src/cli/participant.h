// A kernel of a co-run as a word of the command line: NAME[:key=value]…
//
//   goal=0.9        of its rate alone; or ipc=120, a rate in thread instructions a cycle
//   priority=2      larger goes first
//   share=2         relative weight
//   size=medium     small, medium or large
//   arrive=50000    cycles
//   launches=0      runs of the application; 0: again and again to the end
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ptx_origin.h"
#include "kernels/benchmark.h"
#include "lab/corun.h"

namespace wm::cli {

// `size` where the word names none.
Result<lab::Participant> parse_participant(const std::string& word, zoo::Size size, const PtxOrigin& origin);

}  // namespace wm::cli
