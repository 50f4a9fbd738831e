// Figures for readers: the document of a page (web/README.md). claims.h has the claims as tables.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lab/report/figure.h"

namespace wm::lab {

// The figures with all their runs, from which the page draws plots, claims and the matrix of policies and workloads.
nlohmann::ordered_json report_document(const std::vector<Figure>& figures, const std::string& title,
                                       const std::string& about, const std::string& command);

// 0.884 with unit "%" is "88.4%"; other values have three digits.
std::string value_text(double value, const std::string& unit);

}  // namespace wm::lab
