#include "runtime/program/sandbox_program.h"

namespace wm::runtime {

SandboxProgram::SandboxProgram(std::shared_ptr<Program> of, std::string build_options)
    : program(std::move(of)), options(std::move(build_options)), object(program->object()) {
  if (object) return;
  for (const auto& [name, header] : program->headers) {
    if (auto alive = header.lock()) headers.emplace_back(name, std::move(alive));
  }
}

sandbox::Program SandboxProgram::text() const {
  if (object) return {true, *object, options, {}};
  const bool binary = !program->binary.empty();
  sandbox::Program text{binary, binary ? program->binary : program->source, options, {}};
  for (const auto& [name, header] : headers) text.headers.push_back({name, header->source});
  return text;
}

std::vector<SandboxProgram> built_from(const std::shared_ptr<Program>& program) {
  if (program->inputs) return *program->inputs;
  return {SandboxProgram(program, program->options + kArgumentInfo)};
}

sandbox::Request::Kind build_kind(const Program& program) {
  return program.inputs           ? sandbox::Request::Kind::link
         : program.binary.empty() ? sandbox::Request::Kind::build
                                  : sandbox::Request::Kind::load;
}

sandbox::Request request_of(sandbox::Request::Kind kind, const std::string& options,
                            const std::vector<SandboxProgram>& programs) {
  sandbox::Request request;
  request.kind = kind;
  request.options = options;
  for (const SandboxProgram& t : programs) request.programs.push_back(t.text());
  return request;
}

}  // namespace wm::runtime
