// Which outputs of a run were compared with CPU references, in words.
#pragma once

#include <string>

#include "lab/run/compare.h"

namespace wm::cli {

// Notes on the runs that were verified and on kernels that completed none. Empty where the table says it all.
std::string verification_note(const lab::CorunResult& result);
std::string verification_note(const lab::Comparison& all);

// Reports wrong outputs on stderr; returns whether there are any.
bool report_wrong_outputs(const lab::CorunResult& result);
bool report_wrong_outputs(const lab::Comparison& all);

}  // namespace wm::cli
