#include "cli/input/participant.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

#include "base/nearest.h"
#include "base/number.h"
#include "cli/input/ptx_module.h"
#include "cli/input/subject.h"
#include "gpu/description.h"
#include "ptx/parse.h"

namespace wm::cli {
namespace {

struct Word {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
};

Result<Word> split(const std::string& text) {
  Word word;
  std::size_t from = text.find(':');
  word.name = text.substr(0, from);
  while (from != std::string::npos) {
    const std::size_t to = text.find(':', from + 1);
    const std::string part = text.substr(from + 1, to == std::string::npos ? to : to - from - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) return Error{fmt::format("kernel '{}': '{}' is not key=value", text, part)};
    word.settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    from = to;
  }
  return word;
}

Result<double> number(const std::string& key, const std::string& value, double low, double high) {
  const auto n = parse_double(value);
  if (!n || !(*n >= low && *n <= high))
    return Error{fmt::format("'{}' must be a number from {} to {}, not '{}'", key, low, high, value)};
  return *n;
}

Error whole_number_mistake(const std::string& key, const std::string& value) {
  return Error{fmt::format("'{}' must be a whole number from 0 to {}, not '{}'", key,
                           std::numeric_limits<std::uint32_t>::max(), value)};
}

Result<void> apply(const std::string& key, const std::string& value, lab::KernelSpec& p) {
  if (key == "size") {
    if (auto known = parse_size(value); !known) return known.error();
    p.size = value;
    return {};
  }
  const std::vector<std::string> known{"goal",   "ipc",      "time",     "rate",     "priority",  "share",
                                       "size",   "arrive",   "launches", "blocks",   "process",   "poisson",
                                       "bursts", "requests", "class",    "deadline", "saturation"};
  if (key == "goal" || key == "ipc") {
    const auto n = number(key, value, 1e-9, key == "goal" ? 1 : 1e9);
    if (!n) return n.error();
    (key == "goal" ? p.goal : p.goal_ipc) = *n;
  } else if (key == "time") {
    const auto t = parse_picoseconds(value);
    if (!t || t->count == 0) return Error{fmt::format("'time' must be a time such as 2ms, not '{}'", value)};
    p.goal_time = *t;
  } else if (key == "rate") {
    const auto n = number(key, value, 1e-3, 1e9);
    if (!n) return n.error();
    p.goal_rate = *n;
  } else if (key == "priority") {
    const auto n = parse_integer<int>(value);
    if (!n)
      return Error{fmt::format("'priority' must be a whole number from {} to {}, not '{}'",
                               std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), value)};
    p.priority = *n;
  } else if (key == "poisson" || key == "bursts" || key == "requests") {
    if (!p.requests.arrivals.empty()) return Error{"of poisson, bursts and requests only one"};
    p.requests.arrivals = key + "=" + value;
  } else if (key == "class") {
    p.requests.service_class = value;
  } else if (key == "deadline") {
    const auto t = parse_picoseconds(value);
    if (!t || t->count == 0) return Error{fmt::format("'deadline' must be a time such as 2ms, not '{}'", value)};
    p.requests.deadline = *t;
  } else if (key == "saturation") {
    const auto n = number(key, value, 0.01, 1);
    if (!n) return n.error();
    p.saturation = *n;
  } else if (key == "share") {
    const auto n = number(key, value, 1e-6, 1e6);
    if (!n) return n.error();
    p.share = *n;
  } else if (key == "process") {
    const auto n = parse_integer<std::uint32_t>(value);
    if (!n) return whole_number_mistake(key, value);
    if (*n == 0) return Error{"'process' counts from 1"};  // 0 is a process of its own
    p.process = *n;
  } else if (key == "arrive" || key == "launches" || key == "blocks") {
    const auto n = parse_integer<std::uint32_t>(value);
    if (!n) return whole_number_mistake(key, value);
    if (key == "arrive")
      p.arrive = Cycles{*n};
    else
      (key == "blocks" ? p.blocks_per_sm : p.launches) = *n;
  } else {
    return Error{fmt::format("unknown key '{}'{}", key, did_you_mean(key, known))};
  }
  return {};
}

}  // namespace

Result<lab::KernelSpec> parse_kernel(const std::string& text, const std::string& size, std::uint32_t launches) {
  const auto word = split(text);
  if (!word) return word.error();
  lab::KernelSpec spec;
  spec.name = word->name;
  spec.size = size;
  spec.launches = launches;
  std::set<std::string> seen;
  for (const auto& [key, value] : word->settings) {
    if (!seen.insert(key).second) return Error{fmt::format("kernel '{}': '{}' is given twice", word->name, key)};
    if (key == "size" && gpu::is_description(word->name))
      return Error{fmt::format("kernel '{}' has one size: 'size' is a setting of the zoo's kernels", word->name)};
    if (auto r = apply(key, value, spec); !r)
      return Error{fmt::format("kernel '{}': {}", word->name, r.error().to_string())};
  }
  if (!spec.requests.arrivals.empty() && spec.arrive.count != 0)
    return Error{fmt::format("'{}': 'arrive' has no meaning with requests, which arrive by themselves", word->name)};
  if (spec.goal.has_value() + spec.goal_ipc.has_value() + spec.goal_time.has_value() + spec.goal_rate.has_value() > 1)
    return Error{fmt::format("kernel '{}': of goal, ipc, time and rate only one", word->name)};
  return spec;
}

Result<lab::Participant> make_participant(const lab::KernelSpec& spec, const PtxOrigin& origin) {
  lab::Participant p;
  static_cast<lab::KernelSpec&>(p) = spec;
  const auto size = parse_size(spec.size);
  if (!size) return size.error();
  auto subject = find_subject(spec.name, origin);
  if (!subject) return subject.error();
  // The zoo runs as written: committed results were made of it.
  auto module = subject->own ? load_ptx(subject->ptx, subject->ptx_file) : ptx::parse(subject->ptx, subject->ptx_file);
  if (!module) return module.error();
  p.module = std::make_shared<ptx::Module>(*std::move(module));
  p.ptx = subject->ptx;
  p.ptx_file = subject->ptx_file;
  for (const zoo::Kernel& k : subject->kernels)
    if (!subject->kernel.empty() && k.name == subject->kernel) p.entry = k.entry;
  auto c = std::make_shared<zoo::Case>(subject->make(*size));
  p.application = std::shared_ptr<const gpu::Application>(c, &c->application);
  if (!c->expected.empty() || c->check || c->reference)
    p.verify = [c](const std::vector<std::vector<std::byte>>& buffers) {
      // A reference that takes time is computed once for all runs that are compared.
      if (const auto reference = std::exchange(c->reference, nullptr)) reference(*c);
      return zoo::verify(*c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return buffers[id.index]; });
    };
  return p;
}

Result<lab::Participant> parse_participant(const std::string& word, zoo::Size size, const PtxOrigin& origin) {
  const auto spec = parse_kernel(word, name(size), 1);
  if (!spec) return spec.error();
  return make_participant(*spec, origin);
}

}  // namespace wm::cli
