// A figure for people: a table with bars, and its claims.
#pragma once

#include <string>

#include "lab/figure.h"

namespace wm::cli {

std::string text_of(const lab::Figure& figure);

// 0.884 with unit "%" as "88.4%", else with three digits.
std::string value_text(double value, const std::string& unit);

}  // namespace wm::cli
