// A figure as text: a table of its values, and its claims.
#pragma once

#include <string>

#include "lab/report/figure.h"

namespace wm::cli {

std::string text_of(const lab::Figure& figure);

}  // namespace wm::cli
