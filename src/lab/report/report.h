// Figures for readers: the document of a page (web/README.md), and the claims as a table in Markdown.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lab/report/figure.h"

namespace wm::lab {

// Everything in the figures, with the runs behind them; the page draws plots, claims and the policy × workload matrix.
nlohmann::ordered_json report_document(const std::vector<Figure>& figures, const std::string& title,
                                       const std::string& about, const std::string& command);

// A document: a heading and a table a protocol and paper, of claim, paper, measured and verdict. `command` made it.
std::string claims_markdown(const std::vector<Figure>& figures, const std::string& command);

// 0.884 with unit "%" as "88.4%", else with three digits.
std::string value_text(double value, const std::string& unit);

}  // namespace wm::lab
