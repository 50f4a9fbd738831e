#include "runtime/daemon/tried.h"

namespace wm::runtime {

Tried::Tried(std::shared_ptr<Program> what, std::string with)
    : program(std::move(what)), options(std::move(with)), object(program->object()) {
  if (object) return;
  for (const auto& [name, header] : program->headers) {
    if (auto there = header.lock()) headers.emplace_back(name, std::move(there));
  }
}

trial::Program Tried::text() const {
  if (object) return {true, *object, options, {}};
  const bool binary = !program->binary.empty();
  trial::Program text{binary, binary ? program->binary : program->source, options, {}};
  for (const auto& [name, header] : headers) text.headers.push_back({name, header->source});
  return text;
}

std::vector<Tried> what_made(const std::shared_ptr<Program>& program) {
  if (program->inputs) return *program->inputs;
  return {Tried(program, program->options + kArgumentInfo)};
}

trial::Request::What how_made(const Program& program) {
  return program.inputs           ? trial::Request::What::link
         : program.binary.empty() ? trial::Request::What::build
                                  : trial::Request::What::load;
}

trial::Request request_of(trial::Request::What what, const std::string& options, const std::vector<Tried>& programs) {
  trial::Request request;
  request.what = what;
  request.options = options;
  for (const Tried& t : programs) request.programs.push_back(t.text());
  return request;
}

}  // namespace wm::runtime
