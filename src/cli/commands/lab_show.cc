// wm lab show: a figure in the terminal, measured beside reported, with a verdict for each claim.
#include <fmt/format.h>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/commands/lab.h"
#include "cli/output/lab_text.h"
#include "cli/output/output.h"

namespace wm::cli {
namespace {

struct LabShowOptions : Shown {
  std::string json;
};

Result<int> show(const LabShowOptions& o) {
  const auto figures = find_figures(o.figures);
  if (!figures) return figures.error();
  const auto results = find_results(o.store);
  if (!results) return results.error();
  const auto rows = lab::index(*results);
  const auto shown = shown_figures(*figures, o.protocol, rows, lab::Confirmations(results->confirmed));
  if (!shown) return shown.error();
  const Output output(o.json);
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  for (const lab::Figure& figure : *shown) {
    output.say(cli::text_of(figure, o.store) + "\n");
    documents.push_back(lab::json_of(figure));
  }
  if (o.json.empty()) return 0;
  if (auto done = documents.size() == 1 ? output.document(documents[0]) : output.items(documents); !done)
    return done.error();
  return 0;
}

}  // namespace

void add_lab_show(const Command& lab) {
  auto o = std::make_shared<LabShowOptions>();
  const Command command = lab.add("show", "Figures in the terminal, with a verdict for each claim",
                                  "wm lab show qos-isca17/fig6a\nwm lab show warped-slicer-isca16 --protocol paper");
  add_shown(command, *o);
  command.json(o->json);
  command.run([o] { return show(*o); });
}

}  // namespace wm::cli
