// wm kernels: the zoo as a list, and one benchmark's details.
#include <fmt/format.h>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/subject.h"
#include "cli/output/facts.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "ptx/parse.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct KernelsOptions {
  std::string name;
  std::string json;
  std::string ptx_from = "clang";
};

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

Json json_of(const Subject& s) {
  Json kernels = Json::array();
  for (const zoo::Kernel& kernel : s.kernels) kernels.push_back({{"name", kernel.name}, {"entry", kernel.entry}});
  return {{"name", s.name}, {"about", s.about}, {"suite", s.suite}, {"aliases", s.aliases}, {"kernels", kernels}};
}

Result<int> list(const KernelsOptions& options, const PtxOrigin& origin) {
  const auto subjects = find_subjects({}, origin);
  if (!subjects) return subjects.error();
  Table table({"name", "alias", "suite", "kernels", "about"});
  Json items = Json::array();
  for (const Subject& s : *subjects) {
    table.add({Cell(s.name, Style::bold), join(s.aliases), s.suite, std::to_string(s.kernels.size()), s.about});
    items.push_back(json_of(s));
  }
  const Output output(options.json);
  output.say(table.fitted(terminal_width()));
  output.say("\n'wm kernels NAME' says more about one, 'wm kernels check' runs them.\n");
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

// The launches of a kernel at one size; consecutive equal launches are counted together.
struct Geometry {
  std::string entry;
  gpu::Dim3 grid;
  gpu::Dim3 block;
  std::size_t shared = 0;
  std::uint64_t launches = 0;
};

std::vector<Geometry> geometries_of(const gpu::Application& application) {
  std::vector<Geometry> found;
  for (const gpu::Step& step : application.steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr) continue;
    std::size_t shared = launch->dynamic_shared_bytes;
    for (const gpu::Argument& argument : launch->arguments) {
      if (const auto* local = std::get_if<gpu::LocalMemory>(&argument)) shared += local->bytes;
    }
    const auto same = [&](const Geometry& g) {
      return g.entry == launch->kernel && g.grid == launch->grid && g.block == launch->block && g.shared == shared;
    };
    auto it = std::find_if(found.begin(), found.end(), same);
    if (it == found.end()) it = found.insert(found.end(), {launch->kernel, launch->grid, launch->block, shared, 0});
    ++it->launches;
  }
  return found;
}

std::string text_of(const gpu::Dim3& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{} x {}", d.x, d.y) : std::to_string(d.x);
}

// The entries of `subject` that were asked for, under the names the lists print.
std::map<std::string, std::string> chosen_kernels(const Subject& subject) {
  std::map<std::string, std::string> names;  // by entry
  for (const zoo::Kernel& k : subject.kernels) {
    if (subject.kernel.empty() || k.name == subject.kernel) names[k.entry] = k.name;
  }
  return names;
}

// Four different grids are shown; a graph search has one grid per level.
constexpr std::size_t kGridsShown = 4;

std::uint64_t bytes_of(const gpu::Application& application) {
  std::uint64_t bytes = 0;
  for (const gpu::Buffer& b : application.buffers) bytes += b.bytes;
  return bytes;
}

// Most benchmarks have no blocks that would be too long at `large`.
bool has_short_blocks(const Subject& subject) {
  const auto shape = [&](zoo::Size size) {
    const gpu::Application application = subject.make(size).application;
    std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>> launches;
    for (const Geometry& g : geometries_of(application))
      launches.emplace_back(g.entry, g.grid.count(), g.block.count(), g.launches);
    return std::pair(launches, bytes_of(application));
  };
  return shape(zoo::Size::short_blocks) != shape(zoo::Size::large);
}

void add_size(const Subject& subject, zoo::Size size, Table& table, Json& json) {
  const zoo::Case c = subject.make(size);
  const std::uint64_t bytes = bytes_of(c.application);
  auto names = chosen_kernels(subject);
  // Some benchmarks have another kernel with short blocks.
  if (size == zoo::Size::short_blocks && subject.kernel.empty())
    for (const Geometry& g : geometries_of(c.application)) names.emplace(g.entry, g.entry);
  const std::string size_name = subject.own ? "own" : name(size);
  Json launches = Json::array();
  std::map<std::string, std::size_t> shown;
  for (const Geometry& g : geometries_of(c.application)) {
    const auto known = names.find(g.entry);
    if (known == names.end()) continue;
    launches.push_back({{"kernel", known->second},
                        {"grid", {g.grid.x, g.grid.y, g.grid.z}},
                        {"block", {g.block.x, g.block.y, g.block.z}},
                        {"dynamic_shared_bytes", g.shared},
                        {"launches", g.launches}});
    const std::size_t nth = ++shown[g.entry];
    if (nth < kGridsShown) {
      table.add({size_name, known->second, text_of(g.grid), text_of(g.block), grouped(g.launches),
                 scaled(static_cast<double>(bytes))});
    } else if (nth == kGridsShown) {
      table.add({size_name, known->second, "…", "", "", ""});
    }
  }
  json.push_back({{"size", size_name}, {"buffer_bytes", bytes}, {"launches", launches}});
}

Result<int> details(const KernelsOptions& options, const PtxOrigin& origin) {
  const auto subject = find_subject(options.name, origin);
  if (!subject) return subject.error();
  const auto module = ptx::parse(subject->ptx, subject->ptx_file);
  if (!module) return module.error();

  const auto names = chosen_kernels(*subject);
  std::vector<KernelFacts> facts;
  Json kernels = Json::array();
  for (KernelFacts& f : facts_of(*module)) {
    const auto known = names.find(f.name);
    if (known == names.end()) continue;
    kernels.push_back(wm::cli::json_of(f));
    kernels.back()["entry"] = f.name;
    kernels.back()["name"] = known->second;
    f.name = known->second;
    facts.push_back(std::move(f));
  }

  Table sizes({"size", "kernel", "grid", "block", "launches", "bytes"});
  Json geometry = Json::array();
  std::vector<zoo::Size> all{zoo::Size::small, zoo::Size::medium, zoo::Size::large};
  if (!subject->own && has_short_blocks(*subject)) all.push_back(zoo::Size::short_blocks);
  for (const zoo::Size size : subject->own ? std::vector{zoo::Size::small} : all)
    add_size(*subject, size, sizes, geometry);

  const Output output(options.json);
  output.say(fmt::format("{}: {}\n", styled(Style::bold, subject->name), subject->about));
  output.say(fmt::format("suite {}{}\n\n", subject->suite,
                         subject->aliases.empty() ? "" : ", also called " + join(subject->aliases)));
  output.say(table_of(facts).to_string() + "\n" + sizes.to_string());
  Json item = json_of(*subject);
  item["kernels"] = kernels;
  item["sizes"] = geometry;
  if (auto done = output.items(Json::array({item})); !done) return done.error();
  return 0;
}

Result<int> run_kernels(const KernelsOptions& options) {
  const auto origin = PtxOrigin::parse(options.ptx_from);
  if (!origin) return origin.error();
  return options.name.empty() ? list(options, *origin) : details(options, *origin);
}

}  // namespace

void add_kernels(const Command& wm) {
  auto options = std::make_shared<KernelsOptions>();
  const Command kernels = wm.add("kernels", "The benchmark zoo: what there is, one kernel's details, checks",
                                 "wm kernels\nwm kernels mri-q\nwm kernels check --size medium");
  kernels.option("name", options->name, "A benchmark, one kernel of it (histo/main), or your own kernel's YAML");
  kernels.option("--ptx-from", options->ptx_from, "clang (the build's), nvcc, opencl, or a folder of NAME.ptx",
                 {.show_default = true});
  kernels.json(options->json);
  add_kernels_check(kernels);
  kernels.run([options] { return run_kernels(*options); });
}

}  // namespace wm::cli
