#include "runtime/simulated_server/control.h"

#include <fmt/format.h>

#include "base/json.h"

namespace wm::runtime {

namespace {

using Json = nlohmann::json;

Result<ServedProgram*> find(const std::string& who, const std::vector<ServedProgram*>& programs) {
  std::vector<ServedProgram*> found;
  for (ServedProgram* p : programs) {
    if (std::to_string(p->identity.number) == who) return p;
    if (std::to_string(p->identity.peer.pid) == who || p->identity.name == who) found.push_back(p);
  }
  if (found.empty()) return Error{"no client '" + who + "'; wm status lists them"};
  if (found.size() > 1)
    return Error{fmt::format("'{}' names {} clients: give a number of wm status", who, found.size())};
  return found.front();
}

Result<std::string> apply(const Json& request, const std::vector<ServedProgram*>& programs,
                          const std::function<void(ServedProgram&)>& end) {
  const std::string op = request.value("op", "");
  if (op == "policy") return Error{"the policy of a simulated GPU is chosen when the daemon starts"};
  if (op != "set" && op != "end") return Error{"no request '" + op + "'"};
  const auto program = find(request.value("client", ""), programs);
  if (!program) return program.error();
  const std::string named = fmt::format("client {} ({}, pid {})", (*program)->identity.number,
                                        (*program)->identity.name, (*program)->identity.peer.pid);
  if (op == "end") {
    end(**program);
    return named + " is ended";
  }
  ServedProgram::Terms& terms = (*program)->terms;
  const double share = request.value("share", terms.share);
  const int priority = request.value("priority", terms.priority);
  if (!(share > 0 && share <= 1000)) return Error{"share must be above 0 and at most 1000"};
  if (priority < 0 || priority > 100) return Error{"priority must be from 0 to 100"};
  terms.share = share;
  terms.priority = priority;
  return fmt::format("{}: share {:g}, priority {}", named, share, priority);
}

}  // namespace

std::string control_programs(const std::string& request, const std::vector<ServedProgram*>& programs,
                             const std::function<void(ServedProgram&)>& end) {
  const Json document = Json::parse(request, nullptr, false);
  if (!document.is_object()) return Json{{"error", "the request is no JSON object"}}.dump();
  try {
    const auto done = apply(document, programs, end);
    // Programs choose their names, so bytes that are not UTF-8 are replaced.
    return (done ? Json{{"done", *done}} : Json{{"error", done.error().to_string()}})
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception&) {  // a value of another type than expected
    return Json{{"error", "the request has a value of a wrong type"}}.dump();
  }
}

}  // namespace wm::runtime
