#include "runtime/device/cuda/clang_program.h"

namespace wm::runtime::cuda {
namespace {

using rewrite::CompileReply;

constexpr std::string_view kObject = "warpmux object\n", kLibrary = "warpmux library\n";

}  // namespace

std::string clang_binary(const CompileReply& reply) {
  switch (reply.outcome) {
    case CompileReply::Outcome::object:
      return std::string(kObject) + reply.code;
    case CompileReply::Outcome::library:
      return std::string(kLibrary) + reply.code;
    case CompileReply::Outcome::executable:
      return reply.code + '\0' + rewrite::encode(reply.kernels);
    default:
      return {};
  }
}

Result<CompileReply> read_clang_binary(std::string_view binary) {
  CompileReply reply;
  for (const auto& [line, outcome] :
       {std::pair{kObject, CompileReply::Outcome::object}, std::pair{kLibrary, CompileReply::Outcome::library}}) {
    if (!binary.starts_with(line)) continue;
    reply.outcome = outcome;
    reply.code = binary.substr(line.size());
    return reply;
  }
  const std::size_t end = binary.find('\0');
  if (end == std::string_view::npos) return Error{"not a program of warpmux's compiler"};
  auto kernels = rewrite::decode_compiled_kernels(binary.substr(end + 1));
  if (!kernels) return kernels.error();
  reply.outcome = CompileReply::Outcome::executable;
  reply.code = binary.substr(0, end);
  reply.kernels = *std::move(kernels);
  return reply;
}

}  // namespace wm::runtime::cuda
