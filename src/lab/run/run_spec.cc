#include "lab/run/run_spec.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/json.h"
#include "base/nearest.h"
#include "lab/run/digest.h"
#include "policy/registry.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const KernelSpec& k) {
  const KernelSpec defaults;
  Json j = {{"name", k.name}, {"size", k.size}, {"launches", k.launches}};
  if (k.goal) j["goal"] = *k.goal;
  if (k.goal_ipc) j["goal_ipc"] = *k.goal_ipc;
  if (k.goal_time) j["goal_time_ps"] = k.goal_time->count;
  if (k.goal_rate) j["goal_rate"] = *k.goal_rate;
  if (k.priority != defaults.priority) j["priority"] = k.priority;
  if (k.share != defaults.share) j["share"] = k.share;
  if (k.blocks_per_sm != defaults.blocks_per_sm) j["blocks_per_sm"] = k.blocks_per_sm;
  if (k.arrive != defaults.arrive) j["arrive"] = k.arrive.count;
  if (k.application) j["application"] = true;
  if (k.process != defaults.process) j["process"] = k.process;
  if (k.saturation != defaults.saturation) j["saturation"] = k.saturation;
  if (!k.requests.arrivals.empty()) j["arrivals"] = k.requests.arrivals;
  if (!k.requests.service_class.empty()) j["class"] = k.requests.service_class;
  if (k.requests.deadline) j["deadline_ps"] = k.requests.deadline->count;
  return j;
}

Json json_of(const PolicySpec& p) {
  auto sorted = p.parameters;
  std::sort(sorted.begin(), sorted.end());
  Json parameters = Json::object();
  for (const auto& [name, value] : sorted) parameters[name] = value;
  return {{"name", p.name}, {"parameters", parameters}};
}

// Reads fields of an object and remembers which exist, so that a misspelt field is an error and not a default.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  template <typename T>
  void read(const char* name, T& out) {
    known_.emplace_back(name);
    if (object_.contains(name)) out = object_.at(name).get<T>();
  }
  template <typename T>
  void read(const char* name, std::optional<T>& out) {
    known_.emplace_back(name);
    if (object_.contains(name)) out = object_.at(name).get<T>();
  }
  const Json& required(const char* name) {
    known_.emplace_back(name);
    return object_.at(name);
  }
  [[nodiscard]] Result<void> finish() const {
    for (const auto& [key, ignored] : object_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        return Error{fmt::format("unknown field '{}'{}", key, did_you_mean(key, known_))};
    return {};
  }

 private:
  const Json& object_;
  std::vector<std::string> known_;
};

Result<KernelSpec> kernel_from(const Json& j) {
  KernelSpec k;
  Fields fields(j);
  k.name = fields.required("name").get<std::string>();
  std::optional<std::uint64_t> time_ps;
  std::optional<std::uint64_t> deadline_ps;
  fields.read("size", k.size);
  fields.read("launches", k.launches);
  fields.read("goal", k.goal);
  fields.read("goal_ipc", k.goal_ipc);
  fields.read("goal_time_ps", time_ps);
  fields.read("goal_rate", k.goal_rate);
  fields.read("priority", k.priority);
  fields.read("share", k.share);
  fields.read("blocks_per_sm", k.blocks_per_sm);
  fields.read("arrive", k.arrive.count);
  fields.read("application", k.application);
  fields.read("process", k.process);
  fields.read("saturation", k.saturation);
  fields.read("arrivals", k.requests.arrivals);
  fields.read("class", k.requests.service_class);
  fields.read("deadline_ps", deadline_ps);
  if (deadline_ps) k.requests.deadline = Picoseconds{*deadline_ps};
  if (time_ps) k.goal_time = Picoseconds{*time_ps};
  if (auto read = fields.finish(); !read) return read.error();
  return k;
}

Result<RunSpec> spec_from(const Json& j) {
  RunSpec spec;
  Fields fields(j);
  const int schema = fields.required("schema").get<int>();
  if (schema != RunSpec::kSchema)
    return Error{fmt::format("a run specification of schema {}; this wm reads schema {}", schema, RunSpec::kSchema)};
  fields.read("gpu", spec.gpu);
  fields.read("machine", spec.machine);
  for (const Json& kernel : fields.required("kernels")) {
    auto k = kernel_from(kernel);
    if (!k) return k.error();
    spec.kernels.push_back(*std::move(k));
  }
  const Json& policy = fields.required("policy");
  Fields policy_fields(policy);
  spec.policy.name = policy_fields.required("name").get<std::string>();
  for (const auto& [name, value] : policy_fields.required("parameters").items())
    spec.policy.parameters.emplace_back(name, value.get<std::string>());
  if (auto read = policy_fields.finish(); !read) return read.error();
  fields.read("cycles", spec.cycles);
  fields.read("match_instructions", spec.match_instructions);
  fields.read("seed", spec.seed);
  fields.read("runs", spec.runs);
  fields.read("warm", spec.warm);
  fields.read("from", spec.from);
  if (auto read = fields.finish(); !read) return read.error();
  return spec;
}

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:./,+") ==
                     std::string::npos;
  return plain ? " " + word : " '" + word + "'";
}

// A number of launches is left out only where the command line has the same default: a kernel by itself runs once.
std::string kernel_word(const KernelSpec& k, const RunSpec& run, const std::string& common_size) {
  std::string word = k.name;
  if (k.launches != 1 || run.cycles != 0 || run.kernels.size() > 1) word += fmt::format(":launches={}", k.launches);
  if (k.goal) word += fmt::format(":goal={}", *k.goal);
  if (k.goal_ipc) word += fmt::format(":ipc={}", *k.goal_ipc);
  if (k.goal_time) word += fmt::format(":time={}ps", k.goal_time->count);
  if (k.goal_rate) word += fmt::format(":rate={}", *k.goal_rate);
  if (k.priority != 0) word += fmt::format(":priority={}", k.priority);
  if (k.share != 1) word += fmt::format(":share={}", k.share);
  if (k.blocks_per_sm != 0) word += fmt::format(":blocks={}", k.blocks_per_sm);
  if (k.arrive.count != 0) word += fmt::format(":arrive={}", k.arrive.count);
  if (k.process != 0) word += fmt::format(":process={}", k.process);
  if (k.saturation != 1) word += fmt::format(":saturation={}", k.saturation);
  if (!k.requests.arrivals.empty()) word += ":" + k.requests.arrivals;
  if (!k.requests.service_class.empty()) word += ":class=" + k.requests.service_class;
  if (k.requests.deadline) word += fmt::format(":deadline={}ps", k.requests.deadline->count);
  if (!k.application && k.size != common_size) word += ":size=" + k.size;
  return word;
}

}  // namespace

Result<PolicySpec> PolicySpec::parse(std::string_view text) {
  PolicySpec spec;
  const std::string_view all = text;
  std::size_t end = text.find(':');
  spec.name = text.substr(0, end);
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find(':');
    const std::string_view part = text.substr(0, end);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return Error{fmt::format("'{}' in '{}' is not parameter=value", part, all)};
    spec.parameters.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return spec;
}

std::string PolicySpec::to_string() const {
  std::string text = name;
  for (const auto& [parameter, value] : parameters) text += fmt::format(":{}={}", parameter, value);
  return text;
}

Result<PolicySpec> PolicySpec::resolved() const {
  const auto choice = policy::choose(to_string());
  if (!choice) return choice.error();
  PolicySpec spec{name, {}};
  for (const auto& [parameter, value] : choice->values.all()) {
    const auto& table = choice->entry->info.parameters;
    const auto at =
        std::find_if(table.begin(), table.end(), [&, &p = parameter](const auto& t) { return t.name == p; });
    if (value.empty() || (at != table.end() && at->added_later && at->initial_text() == value)) continue;
    spec.parameters.emplace_back(parameter, value);
  }
  return spec;
}

Json to_json(const RunSpec& spec) {
  Json kernels = Json::array();
  for (const KernelSpec& k : spec.kernels) kernels.push_back(json_of(k));
  Json j = {{"schema", RunSpec::kSchema},     {"gpu", spec.gpu},       {"machine", spec.machine}, {"kernels", kernels},
            {"policy", json_of(spec.policy)}, {"cycles", spec.cycles}, {"seed", spec.seed}};
  if (spec.match_instructions) j["match_instructions"] = true;
  if (spec.warm != 0) j["warm"] = spec.warm;
  if (spec.from != 0) j["from"] = spec.from;
  if (spec.runs != 0) j["runs"] = spec.runs;
  return j;
}

Result<RunSpec> run_spec_from_json(const std::string& text, const std::string& file) {
  try {
    auto spec = spec_from(Json::parse(text));
    if (!spec) return Error{spec.error().what, {file}};
    return spec;
  } catch (const nlohmann::json::exception& e) {
    return Error{fmt::format("not a run specification: {}", e.what()), {file}};
  }
}

std::string command_of(const RunSpec& spec) {
  const std::string size = spec.kernels.empty() ? KernelSpec{}.size : spec.kernels.front().size;
  std::string text = "wm sim --gpu" + quoted(spec.gpu);
  for (const KernelSpec& k : spec.kernels)
    text += (k.application ? " --app" : " --kernel") + quoted(kernel_word(k, spec, size));
  text += " --policy" + quoted(spec.policy.to_string());
  if (spec.machine != RunSpec{}.machine) text += " --machine" + quoted(spec.machine);
  if (spec.cycles != 0) text += fmt::format(" --cycles {}", spec.cycles);
  if (spec.runs != 0) text += fmt::format(" --runs {}", spec.runs);
  text += " --size " + size;
  if (spec.match_instructions) text += " --match-instructions";
  if (spec.warm != 0) text += fmt::format(" --warm {}", spec.warm);
  if (spec.from != 0) text += fmt::format(" --from {}", spec.from);
  return text + fmt::format(" --seed {}", spec.seed);
}

std::string key_of(const RunSpec& spec, const std::string& gpu_digest) {
  Json j = to_json(spec);
  j["gpu"] = gpu_digest;
  return Digest{}.add("RunSpec").add(j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)).hex();
}

}  // namespace wm::lab
