#include "runtime/program/attached_source.h"

#include "rewrite/wire.h"
#include "runtime/sandbox/packing.h"

namespace wm::runtime {
namespace {

// The end of a binary with a source: the packed source, its size, the digest of all bytes before, and this text.
constexpr std::string_view kMark = "warpmux source 1";
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kEndBytes = 2 * kNumberBytes + kMark.size();

std::string packed(const AttachedSource& source) {
  sandbox::Packer packer;
  packer.text(source.source).text(source.options).number(static_cast<std::uint32_t>(source.dependencies.size()));
  for (const rewrite::Dependency& file : source.dependencies) packer.text(file.path).large(file.digest);
  return packer.take();
}

std::optional<AttachedSource> unpacked(std::string_view bytes) {
  sandbox::Unpacker unpacker(bytes);
  AttachedSource source;
  source.source = unpacker.text();
  source.options = unpacker.text();
  const std::uint32_t files = unpacker.number();
  for (std::uint32_t i = 0; i < files && unpacker.ok(); ++i) {
    rewrite::Dependency file;
    file.path = unpacker.text();
    file.digest = unpacker.large();
    source.dependencies.push_back(std::move(file));
  }
  return unpacker.ok() && !source.source.empty() ? std::optional(std::move(source)) : std::nullopt;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  return sandbox::Unpacker(bytes.substr(at, kNumberBytes)).large();
}

}  // namespace

std::size_t attached_size(const AttachedSource& source) { return packed(source).size() + kEndBytes; }

std::string attach_source(std::string native, const AttachedSource& source) {
  const std::string text = packed(source);
  native += text;
  const std::uint64_t digest = rewrite::digest(native);
  native += sandbox::Packer().large(text.size()).large(digest).take();
  native += kMark;
  return native;
}

SplitBinary split_binary(std::string_view binary) {
  if (binary.size() < kEndBytes || !binary.ends_with(kMark)) return {binary, std::nullopt};
  const std::size_t end = binary.size() - kEndBytes;
  const std::uint64_t size = number_at(binary, end);
  if (size >= end) return {binary, std::nullopt};
  const std::string_view native = binary.substr(0, end - size);
  if (rewrite::digest(binary.substr(0, end)) != number_at(binary, end + kNumberBytes)) return {native, std::nullopt};
  return {native, unpacked(binary.substr(end - size, size))};
}

}  // namespace wm::runtime
