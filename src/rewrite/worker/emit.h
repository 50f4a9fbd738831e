// The new program's text, from the facts and the plan.
#pragma once

#include <string>

#include "rewrite/worker/facts.h"
#include "rewrite/worker/plan.h"

namespace wm::rewrite {

std::string emit(const Facts& facts, const Plan& plan);

}  // namespace wm::rewrite
