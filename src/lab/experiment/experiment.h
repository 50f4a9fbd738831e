// A figure of a paper, or a user's own sweep, as data: experiments/<paper>/<figure>.yaml with the paper's paper.yaml
// beside it. docs/guide/own-experiment.md describes how to write one.
//
// Its cells are the combinations of GPUs, workloads, policies, goals and parameters under a protocol, which sets their
// number and length. Plots and claims are expressions over the cells' results. Every name is checked when the file is
// read: an unknown name is an error with file and line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment/expression.h"
#include "lab/experiment/workload.h"

namespace wm::lab {

struct LabelledPolicy {
  std::string label;   // as the paper calls it
  std::string policy;  // "quota:scheme=history"
  // blocks=* or blocks=full: a cell for every split of an SM, or for those that leave no room for another block; the
  // figure shows the best of them and of the other policies' runs. sms=*: a cell for every number of SMs; the figure
  // shows the fewest that meet the goal, or the run that is nearest to it.
  enum class Splits { none, all, full, sms };
  Splits splits = Splits::none;
};

struct Axis {
  std::string parameter;  // parameter of the policies that have it
  std::vector<std::string> values;
};

struct Protocol {
  std::string name;
  std::string about;  // describes what the protocol leaves out
  std::vector<std::string> gpus;
  std::vector<Workload> workloads;
  std::vector<LabelledPolicy> policies;
  std::vector<double> goals;              // empty: no kernel has one
  std::vector<std::size_t> goal_kernels;  // the kernels of a workload that have the goal, counted from 0
  std::vector<Axis> parameters;
  std::vector<std::uint32_t> blocks;  // limits of every kernel's blocks per SM, one cell for each; empty: no limit
  std::uint64_t cycles = 0;
  bool match_instructions = false;
  std::string size = "medium";
  std::vector<std::uint64_t> seeds{1};  // a cell for each; values are then means with confidence intervals
  std::uint32_t arrivals = 0;           // kernels arrive at cycles below this, drawn with the seed; 0: all at the start
  std::string machine = "cycle";        // on "block" the names of workloads are applications
  std::uint32_t runs = 0;               // runs of every application after which a simulation ends
  int first_priority = 0;               // priority of a workload's first application
};

struct Curve {
  std::string label;  // empty: the only one
  Expression value;
};

struct Plot {
  std::string kind = "bar";  // bar, line, point
  std::string x;             // a label, or "measure" where there are several curves
  std::string series;
  std::string facet;
  std::vector<Curve> y;
  std::string x_title;
  std::string y_title;
  std::string overall;  // the name of a last group that combines all values of x; empty: none
  std::optional<double> rule;
};

// A value that the paper reports, shown beside the measured one.
struct Reported {
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct Claim {
  std::string id;
  std::string says;
  double paper = 0;
  Expression measured;
  double within = 0;              // the distance from the paper's value that counts as "reproduced"
  bool relative = false;          // it was written as a part of the paper's value: "4%"
  std::optional<double> neutral;  // the value without any effect
  std::string unit;               // "%" shows fractions as percent
  std::string same_as;            // "fig6/dynamic": a claim of the same paper with, by arithmetic, the same measure
};

struct Experiment {
  std::string id;     // "qos-isca17/fig6a"
  std::string name;   // the argument of `wm lab run`: the id, or the path of a file
  std::string paper;  // the folder's name
  std::string cite;   // from paper.yaml
  std::string title;
  std::string section;
  std::string about;
  std::string file;
  Plot plot;
  std::vector<Reported> reported;
  std::vector<Claim> claims;
  std::vector<Protocol> protocols;

  [[nodiscard]] const Protocol* protocol(const std::string& name) const;
};

// "qos-isca17/fig6a" below `folder`, or a path that ends in .yaml.
Result<Experiment> load_experiment(const std::string& name, const std::string& folder, const Names& names);

// Every figure below `folder`, by name: "qos-isca17/fig6a".
std::vector<std::string> experiment_names(const std::string& folder);

// Labels a record of this experiment has, for axes and conditions.
std::vector<std::string> labels_of(const std::vector<Axis>& parameters);

}  // namespace wm::lab
