#include "lab/experiment/record.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;
using Number = std::optional<double>;

Number number_at(const Json& value, std::string_view path) {
  const Json* at = &value;
  while (true) {
    const std::string part(path.substr(0, path.find('.')));
    if (at->is_array()) {
      const std::size_t i = part.find_first_not_of("0123456789") == std::string::npos ? std::stoul(part) : at->size();
      if (i >= at->size()) return std::nullopt;
      at = &(*at)[i];
    } else if (at->is_object() && at->contains(part)) {
      at = &(*at)[part];
    } else {
      return std::nullopt;
    }
    if (part.size() == path.size()) break;
    path.remove_prefix(part.size() + 1);
  }
  if (at->is_boolean()) return at->get<bool>() ? 1.0 : 0.0;
  return at->is_number() ? Number(at->get<double>()) : std::nullopt;
}

// Mean of `what` over kernels that have a goal, or have none.
Number mean_of_kernels(const Json& r, bool with_goal, double (*what)(const Json&)) {
  double sum = 0;
  int count = 0;
  for (const Json& k : r.at("kernels"))
    if (!k.at("goal").is_null() == with_goal) {
      sum += what(k);
      ++count;
    }
  return count == 0 ? Number() : sum / count;
}

double normalized(const Json& k) { return k.at("normalized").get<double>(); }
double of_goal(const Json& k) { return k.at("ipc").get<double>() / k.at("goal").get<double>(); }

Number reached(const Json& r) {
  bool any = false;
  for (const Json& k : r.at("kernels"))
    if (!k.at("goal").is_null()) {
      any = true;
      if (!k.at("reached").get<bool>()) return 0;
    }
  return any ? Number(1) : std::nullopt;
}

// The largest shortfall of a goal, as a fraction of the goal; 0 where all were met.
Number shortfall(const Json& r) {
  Number worst;
  for (const Json& k : r.at("kernels"))
    if (!k.at("goal").is_null()) worst = std::max(worst.value_or(0), 1 - of_goal(k));
  return worst;
}

Number least(const Json& r) {
  Number least;
  for (const Json& k : r.at("kernels")) least = std::min(least.value_or(normalized(k)), normalized(k));
  return least;
}

// Sum over kernels of a counter, and ratios of such sums.
double total(const Json& r, std::string_view counter) {
  double sum = 0;
  for (const Json& k : r.at("kernels")) sum += number_at(k, counter).value_or(0);
  return sum;
}
Number ratio(double a, double b) { return b > 0 ? Number(a / b) : std::nullopt; }

// The fraction of time that a unit was occupied, over all SMs.
Number occupied(const Json& r, std::string_view unit, bool per_scheduler) {
  const double sms = number_at(r, "sms").value_or(0);
  const double width = per_scheduler ? number_at(r, "schedulers").value_or(1) : 1;
  return ratio(total(r, "counters.units." + std::string(unit)), sms * width * r.at("cycles").get<double>());
}

Number stall(const Json& r, std::string_view kind) {
  const double slots = number_at(r, "sms").value_or(0) * number_at(r, "schedulers").value_or(1);
  return ratio(total(r, "counters.stalls." + std::string(kind)), slots * r.at("cycles").get<double>());
}

// Mean over the later half of the run, when policies have settled.
double settled(const Json& list) {
  double sum = 0;
  const std::size_t half = list.size() / 2;
  for (std::size_t i = half; i < list.size(); ++i) sum += list[i].get<double>();
  return list.empty() ? 0 : sum / static_cast<double>(list.size() - half);
}
// SMs owned by the kernels from `first` to before `last`.
Number owned(const Json& r, std::size_t first, std::size_t last) {
  if (!r.contains("held") || !r["held"].contains("owned")) return std::nullopt;
  const Json& lists = r["held"]["owned"];
  double sum = 0;
  for (std::size_t i = first; i < std::min(last, lists.size()); ++i) sum += settled(lists[i]);
  return sum;
}

struct Named {
  Measure measure;
  Number (*compute)(const Json&);
};

const std::vector<Named>& named() {
  static const std::vector<Named> all{
      {{"ipc", "thread instructions a cycle, of all kernels together"},
       [](const Json& r) { return number_at(r, "metrics.ipc"); }},
      {{"cycles", "until the run ended"}, [](const Json& r) { return number_at(r, "cycles"); }},
      {{"stp", "system throughput: sum of normalized progress"},
       [](const Json& r) { return number_at(r, "metrics.stp"); }},
      {{"antt", "mean slowdown"}, [](const Json& r) { return number_at(r, "metrics.antt"); }},
      {{"fairness", "least progress over largest"}, [](const Json& r) { return number_at(r, "metrics.fairness"); }},
      {{"unfairness", "largest slowdown over smallest"},
       [](const Json& r) { return number_at(r, "metrics.unfairness"); }},
      {{"worst", "largest slowdown"}, [](const Json& r) { return number_at(r, "metrics.worst_ntt"); }},
      {{"overlap", "time in which all kernels run, of the time in which any does (block machine)"},
       [](const Json& r) { return number_at(r, "metrics.overlap"); }},
      {{"least", "minimum speedup over kernels"}, least},
      {{"first", "normalized progress of the first kernel"},
       [](const Json& r) { return number_at(r, "kernels.0.normalized"); }},
      {{"reached", "1 where every goal was met, else 0"}, reached},
      {{"shortfall", "part of its goal that the worst kernel misses"}, shortfall},
      {{"of_goal", "rate over goal, mean of kernels with one"},
       [](const Json& r) { return mean_of_kernels(r, true, of_goal); }},
      {{"others", "normalized rate of kernels without a goal, mean"},
       [](const Json& r) { return mean_of_kernels(r, false, normalized); }},
      {{"watts", "power"}, [](const Json& r) { return number_at(r, "power.watts"); }},
      {{"dynamic_watts", "power without what the chip takes for being on"},
       [](const Json& r) { return number_at(r, "power.dynamic_watts"); }},
      {{"joules", "energy"}, [](const Json& r) { return number_at(r, "power.joules"); }},
      {{"instructions_per_joule", "energy efficiency"},
       [](const Json& r) { return number_at(r, "power.instructions_per_joule"); }},
      {{"l1_miss", "L1 sectors missed, of those read"},
       [](const Json& r) { return ratio(total(r, "counters.l1_misses"), total(r, "counters.l1_sectors")); }},
      {{"l2_miss", "L2 sectors missed, of those asked for"},
       [](const Json& r) { return ratio(total(r, "counters.l2_misses"), total(r, "counters.l2_sectors")); }},
      {{"l2_accesses", "L2 sectors asked for"}, [](const Json& r) { return Number(total(r, "counters.l2_sectors")); }},
      {{"l2_mpki", "L2 lines missed per thousand warp instructions"},
       [](const Json& r) { return ratio(1000 * total(r, "counters.l2_line_misses"), total(r, "warp_instructions")); }},
      {{"alu", "part of the time the integer and single-precision units are taken"},
       [](const Json& r) {
         return Number(occupied(r, "fp32", true).value_or(0) + occupied(r, "integer", true).value_or(0));
       }},
      {{"sfu", "the same of the special-function units"}, [](const Json& r) { return occupied(r, "sfu", true); }},
      {{"load_store", "the same of the load and store units"},
       [](const Json& r) { return occupied(r, "load_store", false); }},
      {{"registers", "part of the register files that blocks held, over time"},
       [](const Json& r) { return number_at(r, "held.registers"); }},
      {{"shared", "the same of shared memory"}, [](const Json& r) { return number_at(r, "held.shared_memory"); }},
      {{"threads", "the same of thread slots"}, [](const Json& r) { return number_at(r, "held.threads"); }},
      {{"gated", "part of the time SMs were switched off"}, [](const Json& r) { return number_at(r, "held.gated"); }},
      {{"sms_first", "SMs the first kernel owns, in the later half of the run"},
       [](const Json& r) { return owned(r, 0, 1); }},
      {{"sms_others", "SMs the other kernels own, in the later half"},
       [](const Json& r) { return owned(r, 1, ~std::size_t{0}); }},
      {{"sms_off", "SMs switched off, in the later half"},
       [](const Json& r) { return r.contains("held") ? Number(settled(r["held"]["off"])) : std::nullopt; }},
      {{"stall_memory", "part of the issue cycles lost to memory"}, [](const Json& r) { return stall(r, "memory"); }},
      {{"stall_unit", "lost to units that are taken"}, [](const Json& r) { return stall(r, "unit"); }},
      {{"stall_dependency", "lost to operands not ready"}, [](const Json& r) { return stall(r, "dependency"); }},
      {{"stall_fetch", "lost to instruction fetch"}, [](const Json& r) { return stall(r, "fetch"); }},
      {{"stall_barrier", "lost to barriers"}, [](const Json& r) { return stall(r, "barrier"); }},
      {{"stall_quota", "lost to quotas that are spent"}, [](const Json& r) { return stall(r, "quota"); }},
      {{"preemptions", "blocks switched out"}, [](const Json& r) { return Number(total(r, "preemptions")); }},
      {{"instructions", "of threads, all kernels"}, [](const Json& r) { return Number(total(r, "instructions")); }},
  };
  return all;
}

}  // namespace

std::optional<double> measure(const Record& record, std::string_view name) {
  for (const Named& n : named())
    if (n.measure.name == name) {
      const Number v = n.compute(*record.result);
      return v && std::isfinite(*v) ? v : std::nullopt;
    }
  return number_at(*record.result, name);
}

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = [] {
    std::vector<Measure> list;
    for (const Named& n : named()) list.push_back(n.measure);
    return list;
  }();
  return all;
}

bool is_measure(std::string_view name) {
  return name.find('.') != std::string_view::npos ||
         std::any_of(named().begin(), named().end(), [&](const Named& n) { return n.measure.name == name; });
}

}  // namespace wm::lab
