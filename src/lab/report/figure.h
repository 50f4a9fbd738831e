// A figure with its results: measured values beside those of the paper, and a verdict for each claim.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/experiment/experiment.h"
#include "lab/experiment/matrix.h"
#include "lab/store/exchange.h"

namespace wm::lab {

enum class Verdict { reproduced, direction, no, unknown };
const char* name(Verdict verdict);

struct JudgedClaim {
  const Claim* claim = nullptr;
  std::optional<double> measured;  // empty: its cells have not been run
  double half_width = 0;           // half of the confidence interval over seeds; 0: there is none
  Verdict verdict = Verdict::unknown;
};

// reproduced: within `within` of the paper's value. direction: at least a quarter of the paper's effect, which is its
// distance from `neutral`, and on the same side. no: neither.
Verdict judge(const Claim& claim, std::optional<double> measured);

// A bar or a point: labels of the plot's axes, and a value.
struct PlotRow {
  std::map<std::string, std::string> labels;
  double value = 0;
  double half_width = 0;  // half of the 95% confidence interval over seeds
  std::size_t seeds = 1;  // seeds that the value is the mean of; an interval needs two
  bool from_paper = false;
};

// Adds "low" and "high", the bounds of the row's confidence interval, and "seeds", where there are several.
void add_interval(const PlotRow& row, nlohmann::ordered_json& out);

struct Figure {
  const Experiment* experiment = nullptr;
  std::string protocol;
  std::size_t cells = 0;
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t stale = 0;                                         // cells done by other code, which are not confirmed
  std::set<std::string> confirmed;                               // keys of cells of older code that count as current
  std::set<Confirmation> confirmations;                          // the records by which they do
  std::map<std::string, std::size_t> versions;                   // cells done, by version of the machine's code
  std::vector<std::unique_ptr<nlohmann::ordered_json>> results;  // stable addresses, because records point to them
  Records records;
  std::vector<PlotRow> rows;
  std::vector<JudgedClaim> claims;
};

// Finds the results of the cells among `rows` by key.
Figure make_figure(const Experiment& experiment, const Protocol& protocol, const Matrix& matrix,
                   const std::map<std::string, const Row*>& rows, const Confirmations& confirmed = {});

// "62 of 1240 rows": the sizes of the samples that the records are based on.
std::string sampled_text(const std::set<Confirmation>& confirmations);

// {"figure":…, "claims":[…], "rows":[…]} as `wm lab show --json` prints it.
nlohmann::ordered_json json_of(const Figure& figure);

// Leaves every claim to the figure with the longest protocol that answers it; figures of one experiment may differ in
// their protocols. A protocol of which fewer cells were run than a shorter one has answers nothing.
void keep_longest(std::vector<Figure>& figures);

// The tolerance as readers see it: "4%" of the paper's value, "5 points" of percent, a distance, or "exact".
std::string tolerance_text(const Claim& claim);

// Rows by key, for make_figure; they must outlive it.
std::map<std::string, const Row*> index(const Results& results);

}  // namespace wm::lab
