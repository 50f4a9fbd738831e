// A figure as text: a table of its values, and its claims.
#pragma once

#include <string>

#include "lab/report/figure.h"

namespace wm::cli {

// `store`: the store that was asked for, for the command that fills it; empty: the default one.
std::string text_of(const lab::Figure& figure, const std::string& store = {});

}  // namespace wm::cli
