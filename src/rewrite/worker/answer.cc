#include "rewrite/worker/answer.h"

#include "base/file.h"
#include "rewrite/wire.h"
#include "rewrite/worker/emit.h"
#include "rewrite/worker/plan.h"
#include "rewrite/worker/survey.h"

namespace wm::rewrite {
namespace {

std::uint64_t local_bytes(const Facts& facts, const FunctionPlan& plan) {
  std::uint64_t bytes = 0;
  for (const LocalId& id : plan.locals) {
    const LocalVariable& local = facts.functions[id.function].locals[id.local];
    bytes = (bytes + local.alignment - 1) / local.alignment * local.alignment + local.bytes;
  }
  return bytes;
}

KernelReply describe(const Facts& facts, const Plan& plan, std::size_t i) {
  const Function& function = facts.functions[i];
  KernelReply kernel;
  kernel.name = function.name;
  kernel.rewritten = plan[i].rewritten;
  kernel.reason = plan[i].reason;
  kernel.arguments = function.arguments;
  kernel.attributes = function.attributes;
  kernel.instructions = plan[i].instructions;
  kernel.chunk = chunk_for(plan[i].instructions);
  kernel.local_bytes = local_bytes(facts, plan[i]);
  kernel.extra_local_bytes = scheduling_words(plan[i]) * std::uint64_t{4};
  return kernel;
}

}  // namespace

Reply answer(Frontend& frontend, const Request& request) {
  const BuildOptions options = parse_build_options(request.options);
  Reply reply;
  const auto refused = [&reply](std::string why) {
    reply.refusal = std::move(why);
    return reply;
  };
  if (options.standard.starts_with("CLC++")) return refused("C++ for OpenCL is not rewritten");
  const auto source = frontend.preprocess(request, options, reply.assumptions);
  if (!source) return refused(source.error().to_string());
  if (source->text.find("wm__") != std::string::npos) return refused("the program uses names that begin with wm__");
  Facts facts;
  const Result<void> parsed = frontend.parse(
      source->text, request, options, [&](clang::ASTContext& context) { facts = survey(context, source->text); });
  if (!parsed) return refused(parsed.error().to_string());
  const Plan plan = make_plan(facts);
  bool any = false;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!facts.functions[i].kernel || !facts.functions[i].defined()) continue;
    reply.kernels.push_back(describe(facts, plan, i));
    any = any || plan[i].rewritten;
  }
  for (const std::string& path : source->files) {
    const auto content = read_file(path);
    reply.dependencies.push_back({path, content ? digest(*content) : 0});
  }
  if (any) {
    reply.source = emit(facts, plan);
    reply.options = options.rest;
  }
  return reply;
}

}  // namespace wm::rewrite
