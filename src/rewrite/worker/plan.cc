#include "rewrite/worker/plan.h"

#include <algorithm>

namespace wm::rewrite {

Needs Needs::of(const QuerySite& site) {
  Needs needs;
  if (site.query == Query::work_dim) return dimensions();
  if (is_local(site.query)) return site.dimension ? needs : computed_dimension();
  for (unsigned d = 0; d < 3; ++d) {
    if (site.query == Query::global_linear_id) needs |= Needs(group(d).bits_ | count(d).bits_);
    if (site.dimension && *site.dimension != d) continue;
    if (site.query == Query::group_id || site.query == Query::global_id) needs |= group(d);
    if (site.query == Query::num_groups || site.query == Query::global_size) needs |= count(d);
    if (site.query == Query::global_id || site.query == Query::global_offset) needs |= offset(d);
  }
  return needs;
}

std::uint32_t scheduling_words(const FunctionPlan& kernel) { return 4 + (kernel.needs.has_mark() ? kMarkWords : 1); }

std::uint32_t chunk_for(std::uint32_t instructions) {
  if (instructions < 10) return 8;
  if (instructions < 20) return 6;
  if (instructions < 30) return 4;
  return instructions < 40 ? 2 : 1;
}

namespace {

class Planner {
 public:
  explicit Planner(const Facts& facts) : facts_(facts), plan_(facts.functions.size()), state_(facts.functions.size()) {}

  Plan make() {
    for (std::size_t i = 0; i < plan_.size(); ++i) visit(i);
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (!facts_.functions[i].kernel) continue;
      plan_[i].reason = objection(i);
      plan_[i].rewritten = plan_[i].reason.empty() && facts_.functions[i].defined();
    }
    keep_what_others_call();
    place_texts();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const Function& function(std::size_t i) const { return facts_.functions[i]; }

  // Needs, locals and instructions, callees first. OpenCL C has no recursion; a cycle here is code that cannot run.
  void visit(std::size_t i) {
    if (state_[i] != 0) return;
    state_[i] = 1;
    FunctionPlan& out = plan_[i];
    out.instructions = function(i).instructions;
    for (const QuerySite& site : function(i).queries) out.needs |= Needs::of(site);
    if (!function(i).barriers.empty()) out.needs |= Needs::mark();
    for (std::size_t l = 0; l < function(i).locals.size(); ++l) out.locals.push_back({i, l});
    for (const CallSite& call : function(i).calls) {
      visit(call.callee);
      const FunctionPlan& callee = plan_[call.callee];
      out.needs |= callee.needs;
      out.instructions += callee.instructions;
      for (const LocalId& local : callee.locals) {
        if (std::find(out.locals.begin(), out.locals.end(), local) == out.locals.end()) out.locals.push_back(local);
      }
    }
  }

  // Every function that `root` gets to, itself included, in order.
  [[nodiscard]] std::vector<std::size_t> reached(std::size_t root) const {
    std::vector<std::size_t> list{root};
    for (std::size_t at = 0; at < list.size(); ++at) {
      for (const CallSite& call : function(list[at]).calls) {
        if (std::find(list.begin(), list.end(), call.callee) == list.end()) list.push_back(call.callee);
      }
    }
    return list;
  }

  [[nodiscard]] std::string objection(std::size_t kernel) const {
    for (const std::size_t i : reached(kernel)) {
      const std::string whose = i == kernel ? std::string{} : "calls '" + function(i).name + "', which ";
      if (!function(i).reasons.empty()) return whose + function(i).reasons.front();
      if (!function(i).defined()) return whose + "is defined in another program";
      if (shares_declaration(i)) return whose + "is declared together with another function";
    }
    return {};
  }

  [[nodiscard]] bool shares_declaration(std::size_t i) const {
    for (std::size_t other = 0; other < plan_.size(); ++other) {
      for (const Declaration& theirs : function(other).declarations) {
        for (const Declaration& ours : function(i).declarations) {
          if (other != i && theirs.extent.begin == ours.extent.begin) return true;
        }
      }
    }
    return false;
  }

  // A kernel that stays as it is calls the kernels it calls by their old form, which they must then keep.
  void keep_what_others_call() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < plan_.size(); ++i) {
        if (!function(i).kernel || plan_[i].rewritten) continue;
        for (const std::size_t callee : reached(i)) {
          if (!plan_[callee].rewritten) continue;
          plan_[callee].rewritten = false;
          plan_[callee].reason = "is called by '" + function(i).name + "', which is not rewritten";
          changed = true;
        }
      }
    }
  }

  void place_texts() {
    std::vector<bool> from_workers(plan_.size());
    std::vector<bool> from_others(plan_.size());
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (!function(i).kernel) continue;
      for (const std::size_t callee : reached(i)) (plan_[i].rewritten ? from_workers : from_others)[callee] = true;
    }
    // A function that no kernel gets to stays as it is, and with it what it calls.
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (from_workers[i] || from_others[i]) continue;
      for (const std::size_t callee : reached(i)) from_others[callee] = true;
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const bool takes_ids = !plan_[i].needs.none() || !plan_[i].locals.empty() || function(i).kernel;
      plan_[i].threaded = from_workers[i] && takes_ids;
      plan_[i].original = !plan_[i].threaded || from_others[i];
    }
  }

  const Facts& facts_;
  Plan plan_;
  std::vector<int> state_;
};

}  // namespace

Plan make_plan(const Facts& facts) { return Planner(facts).make(); }

}  // namespace wm::rewrite
