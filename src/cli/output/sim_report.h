// The result of a co-run as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "lab/run/corun.h"

namespace wm::cli {

// Whether the results of kernels are compared with references, or by the programs that launch them.
enum class Verification { by_reference, by_program };
std::string text_of(const lab::CorunResult& result, Verification verification = Verification::by_reference);
// The text that the kernels printed, under the name of each kernel where there are several.
std::string printed_by(const lab::CorunResult& result);

// A line that says so where kernels of a co-run ended before it did, since their rates then cover different spans.
std::string note_of_spans(const lab::CorunResult& result);
// A line that says how long a co-run of `kernels` is for which no length was given.
std::string note_of_length(std::size_t kernels);
nlohmann::ordered_json json_of(const lab::CorunResult& result);

}  // namespace wm::cli
