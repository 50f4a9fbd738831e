#include "lab/store/row_json.h"

#include "base/json.h"
#include "lab/store/parse_json.h"

namespace wm::lab {

using Json = nlohmann::ordered_json;

namespace {

Json json_or_text(const std::string& text) {
  Json value = parse_json(text);
  return value.is_discarded() ? Json(text) : value;
}

std::string text_or_dump(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

Json json_from(const Row& r) {
  Json j = {{"key", r.key},
            {"spec", json_or_text(r.spec)},
            {"command", r.command},
            {"gpu", r.gpu},
            {"seed", r.seed},
            {"code_version", r.code_version},
            {"state", r.state == Row::State::done ? "done" : "failed"},
            {"run_hash", r.run_hash},
            {"host_seconds", r.host_seconds}};
  if (r.state == Row::State::done) j["result"] = json_or_text(r.result);
  if (!r.error.empty()) j["error"] = r.error;
  return j;
}

Row row_from_json(const Json& j) {
  Row r;
  r.key = j.at("key");
  r.command = j.at("command");
  r.gpu = j.at("gpu");
  if (j.contains("spec")) r.spec = text_or_dump(j["spec"]);
  r.seed = j.at("seed");
  r.code_version = j.at("code_version");
  r.state = j.at("state") == "done" ? Row::State::done : Row::State::failed;
  r.run_hash = j.at("run_hash");
  r.host_seconds = j.at("host_seconds");
  if (j.contains("result")) r.result = text_or_dump(j["result"]);
  if (j.contains("error")) r.error = j["error"];
  return r;
}

}  // namespace wm::lab
