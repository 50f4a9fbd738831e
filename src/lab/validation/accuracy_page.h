// The accuracy of the corpus as a Markdown page: summary and a row per case.
#pragma once

#include <string>
#include <vector>

#include "lab/validation/accuracy.h"

namespace wm::lab {

// `gpu` is the simulated GPU, `measured` and `simulated` are the comments that the data begin with.
std::string accuracy_page(const std::vector<CaseAccuracy>& cases, const std::string& gpu, const std::string& measured,
                          const std::string& simulated);

// "+12%", or "–" where there is nothing to compare with: no figure, or both sides at most `noise`.
std::string error_text(const std::optional<Compared>& figure, double noise = 0);

}  // namespace wm::lab
