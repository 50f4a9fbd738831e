#include "rewrite/wire.h"

#include "rewrite/archive.h"

namespace wm::rewrite {
namespace {

constexpr std::uint32_t kMagic = 0x52574d57;  // "WMWR"

template <typename Archive, typename T>
void visit(Archive& a, T& v, const Request*) {
  const auto strings = [&a](auto& list) { a.list(list, [&a](auto& item) { a.string(item); }); };
  a.string(v.source);
  a.string(v.options);
  a.list(v.headers, [&a](auto& header) {
    a.string(header.first);
    a.string(header.second);
  });
  a.string(v.directory);
  a.string(v.device.triple);
  a.string(v.device.language);
  strings(v.device.extensions);
  strings(v.device.macros);
  strings(v.device.undefined);
}

template <typename Archive, typename T>
void visit_kernel(Archive& a, T& k) {
  a.string(k.name);
  a.number(k.rewritten);
  a.string(k.reason);
  a.list(k.arguments, [&a](auto& argument) {
    a.string(argument.name);
    a.string(argument.type);
    a.string(argument.address);
    a.string(argument.access);
    a.string(argument.qualifiers);
  });
  a.string(k.attributes);
  a.number(k.instructions);
  a.number(k.chunk);
  a.number(k.local_bytes);
  a.number(k.extra_local_bytes);
}

template <typename Archive, typename T>
void visit(Archive& a, T& v, const Reply*) {
  a.string(v.source);
  a.string(v.options);
  a.string(v.refusal);
  a.list(v.kernels, [&a](auto& kernel) { visit_kernel(a, kernel); });
  a.list(v.dependencies, [&a](auto& file) {
    a.string(file.path);
    a.number(file.digest);
  });
  a.list(v.assumptions, [&a](auto& assumption) {
    a.string(assumption.name);
    a.number(assumption.defined);
    a.number(assumption.valued);
    a.string(assumption.value);
  });
}

template <typename T>
std::string encode_any(const T& value) {
  ArchiveWriter writer;
  writer.number(kMagic);
  writer.number(kRewriterVersion);
  visit(writer, value, &value);
  return writer.take();
}

template <typename T>
Result<T> decode_any(std::string_view bytes, const char* what) {
  ArchiveReader reader(bytes);
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  reader.number(magic);
  reader.number(version);
  if (magic != kMagic) return Error{std::string("not a rewriter's ") + what};
  if (version != kRewriterVersion) return Error{std::string(what) + " of another version of the rewriter"};
  T value;
  visit(reader, value, &value);
  if (!reader.complete()) return Error{std::string("a broken ") + what};
  return value;
}

}  // namespace

std::string encode(const Request& request) { return encode_any(request); }
std::string encode(const Reply& reply) { return encode_any(reply); }
Result<Request> decode_request(std::string_view bytes) { return decode_any<Request>(bytes, "request"); }
Result<Reply> decode_reply(std::string_view bytes) { return decode_any<Reply>(bytes, "reply"); }

std::uint64_t digest(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace wm::rewrite
