// A kernel of a co-run as a word of the command line: NAME[:key=value]…
//
//   goal=0.9        a fraction of the isolated rate; or ipc=120, a rate in thread instructions per cycle;
//                   or time=2ms, or rate=500 (runs per second)
//   priority=2      a larger number is served first
//   share=2         relative weight
//   size=medium     small, medium, large or short_blocks
//   arrive=50000    cycles
//   launches=0      runs of the application; 0: it repeats to the end of the run
//   blocks=4        maximum number of resident blocks per SM
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/input/ptx_origin.h"
#include "kernels/benchmark.h"
#include "lab/run/participant.h"

namespace wm::cli {

// `size` and `launches` apply where the word names none.
Result<lab::KernelSpec> parse_kernel(const std::string& word, const std::string& size, std::uint32_t launches);

// Finds the program that the specification names, and prepares its inputs.
Result<lab::Participant> make_participant(const lab::KernelSpec& spec, const PtxOrigin& origin);

Result<lab::Participant> parse_participant(const std::string& word, zoo::Size size, const PtxOrigin& origin);

}  // namespace wm::cli
