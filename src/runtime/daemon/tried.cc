#include "runtime/daemon/tried.h"

namespace wm::runtime {

Tried::Tried(std::shared_ptr<Program> what, std::string with) : program(std::move(what)), options(std::move(with)) {
  for (const auto& [name, header] : program->headers) {
    if (auto there = header.lock()) headers.emplace_back(name, std::move(there));
  }
}

trial::Program Tried::text() const {
  const bool binary = !program->binary.empty();
  trial::Program text{binary, binary ? program->binary : program->source, options, {}};
  for (const auto& [name, header] : headers) text.headers.push_back({name, header->source});
  return text;
}

trial::Request request_of(trial::Request::What what, const std::string& options, const std::vector<Tried>& programs) {
  trial::Request request;
  request.what = what;
  request.options = options;
  for (const Tried& t : programs) request.programs.push_back(t.text());
  return request;
}

}  // namespace wm::runtime
