#include "rewrite/compile_request.h"

#include "rewrite/archive.h"

namespace wm::rewrite {
namespace {

// The last digit counts versions.
constexpr std::uint32_t kRequestMagic = 0x51434d31, kReplyMagic = 0x52434d31, kKernelsMagic = 0x4b434d31;

template <typename Archive, typename T>
void visit_number(Archive& a, T& value) {
  auto number = static_cast<std::uint32_t>(value);
  a.number(number);
  if constexpr (!std::is_const_v<T>) value = static_cast<T>(number);
}

template <typename Archive, typename Kernels>
void visit_kernels(Archive& a, Kernels& kernels) {
  a.list(kernels, [&a](auto& kernel) {
    a.string(kernel.name);
    a.list(kernel.arguments, [&a](auto& argument) {
      a.string(argument.name);
      a.string(argument.type);
      a.string(argument.address);
      a.string(argument.access);
      a.string(argument.qualifiers);
    });
    a.string(kernel.attributes);
    for (auto& size : kernel.group_size) a.number(size);
  });
}

template <typename Archive, typename T>
void visit(Archive& a, T& v, const CompileRequest*) {
  visit_number(a, v.kind);
  a.string(v.source);
  a.string(v.options);
  a.list(v.headers, [&a](auto& header) {
    a.string(header.first);
    a.string(header.second);
  });
  a.list(v.objects, [&a](auto& object) { a.string(object); });
  a.string(v.library);
  a.string(v.target);
}

template <typename Archive, typename T>
void visit(Archive& a, T& v, const CompileReply*) {
  visit_number(a, v.outcome);
  a.string(v.log);
  a.string(v.code);
  visit_kernels(a, v.kernels);
}

template <typename Archive, typename T>
void visit(Archive& a, T& v, const std::vector<CompiledKernel>*) {
  visit_kernels(a, v);
}

template <typename T>
std::string encoded(const T& value, std::uint32_t magic) {
  ArchiveWriter writer;
  writer.number(magic);
  visit(writer, value, static_cast<const T*>(nullptr));
  return writer.take();
}

template <typename T>
Result<T> decoded(std::string_view bytes, std::uint32_t magic) {
  ArchiveReader reader(bytes);
  std::uint32_t found = 0;
  reader.number(found);
  T value{};
  if (found == magic) visit(reader, value, static_cast<const T*>(nullptr));
  if (found != magic || !reader.complete()) return Error{"not a message of this version of wm-compile"};
  return value;
}

}  // namespace

std::string encode(const CompileRequest& request) { return encoded(request, kRequestMagic); }
std::string encode(const CompileReply& reply) { return encoded(reply, kReplyMagic); }
std::string encode(const std::vector<CompiledKernel>& kernels) { return encoded(kernels, kKernelsMagic); }
Result<CompileRequest> decode_compile_request(std::string_view bytes) {
  return decoded<CompileRequest>(bytes, kRequestMagic);
}
Result<CompileReply> decode_compile_reply(std::string_view bytes) { return decoded<CompileReply>(bytes, kReplyMagic); }
Result<std::vector<CompiledKernel>> decode_compiled_kernels(std::string_view bytes) {
  return decoded<std::vector<CompiledKernel>>(bytes, kKernelsMagic);
}

}  // namespace wm::rewrite
