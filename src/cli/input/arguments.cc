#include "cli/input/arguments.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/nearest.h"
#include "base/number.h"
#include "gpu/content.h"

namespace wm::cli {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 36;

// Splits at separators into at most `max_parts`. The last part keeps the rest, so that a path may contain a separator.
std::vector<std::string> split(std::string_view text, char separator, std::size_t max_parts) {
  std::vector<std::string> parts;
  while (parts.size() + 1 < max_parts) {
    const auto at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  return parts;
}

struct Extent {
  gpu::Element element;
  std::uint64_t count;
};

// "4096" (bytes) or "f32x1024".
Result<Extent> parse_buffer_size(const std::string& text, const std::string& word) {
  const auto cross = text.find('x');
  const auto element = cross == std::string::npos ? gpu::Element::u8 : gpu::parse_element(text.substr(0, cross));
  const auto count = parse_integer<std::uint64_t>(cross == std::string::npos ? text : text.substr(cross + 1));
  if (!element || !count) return Error{"'" + word + "': a buffer's size is bytes (4096) or elements (f32x1024)"};
  if (*count > kLargestBuffer / gpu::size(*element)) return Error{"'" + word + "': more than 64 GB"};
  return Extent{*element, *count};
}

// "iota-u32" counts in another type than the buffer was declared with.
Result<Extent> retyped(Extent extent, const std::string& type, const std::string& word) {
  const auto element = gpu::parse_element(type);
  if (!element) return Error{fmt::format("'{}': no type '{}' ({})", word, type, fmt::join(gpu::kElementNames, ", "))};
  const std::uint64_t bytes = extent.count * gpu::size(extent.element);
  if (bytes % gpu::size(*element) != 0) return Error{"'" + word + "': not a whole number of elements"};
  return Extent{*element, bytes / gpu::size(*element)};
}

Result<std::vector<std::byte>> parse_content(const std::string& text, Extent extent, const std::string& word) {
  if (text == "none") return std::vector<std::byte>{};
  if (text == "zero") return gpu::zeros(extent.element, extent.count);
  if (text.starts_with('@')) return gpu::bytes_of_file(text.substr(1), extent.count * gpu::size(extent.element));
  if (text.starts_with('=')) {
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < extent.count; ++i) {
      if (auto done = gpu::append(extent.element, text.substr(1), bytes); !done) {
        return Error{"'" + word + "': " + done.error().what};
      }
    }
    return bytes;
  }
  const auto parts = split(text, '-', 2);
  if (parts.size() == 2) {
    const auto other = retyped(extent, parts[1], word);
    if (!other) return other.error();
    extent = *other;
  }
  if (parts[0] == "iota") return gpu::iota(extent.element, extent.count);
  if (parts[0] == "random") return gpu::random(extent.element, extent.count, 1);
  return Error{"'" + word + "': no content '" + text + "' (zero, iota, random, =VALUE, @FILE, none)"};
}

Result<gpu::Argument> parse_scalar(gpu::Element element, const std::string& text, const std::string& word) {
  gpu::Scalar scalar;
  for (const std::string& value : split(text, ',', ~std::size_t{0})) {
    if (auto done = gpu::append(element, value, scalar.bytes); !done) {
      return Error{"'" + word + "': " + done.error().what};
    }
  }
  return gpu::Argument{std::move(scalar)};
}

}  // namespace

Result<gpu::Dim3> parse_extent(std::string_view text) {
  const auto parts = split(text, ',', 4);
  std::vector<std::uint32_t> extents;
  for (const std::string& part : parts) {
    const auto extent = parse_integer<std::uint32_t>(part);
    if (!extent || *extent == 0) break;
    extents.push_back(*extent);
  }
  if (extents.size() != parts.size() || extents.size() > 3) {
    return Error{"'" + std::string(text) + "' is no extent such as 4 or 4,2 or 4,2,1"};
  }
  extents.resize(3, 1);
  return gpu::Dim3{extents[0], extents[1], extents[2]};
}

Result<gpu::BufferId> ArgumentList::find(const std::string& name) const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < buffers_.buffers.size(); ++i) {
    if (buffers_.buffers[i].name == name) return gpu::BufferId{i};
    names.push_back(buffers_.buffers[i].name);
  }
  return Error{"no buffer '" + name + "'" + did_you_mean(name, names)};
}

Result<void> ArgumentList::add_buffer(const std::vector<std::string>& parts, const std::string& word) {
  if (parts.size() < 3 || parts[1].empty()) return Error{"'" + word + "': a buffer is buf:NAME:SIZE[:CONTENT]"};
  if (find(parts[1]))
    return Error{"'" + word + "': buffer '" + parts[1] + "' is there already; ref:NAME names it again"};
  const auto extent = parse_buffer_size(parts[2], word);
  if (!extent) return extent.error();
  auto content = parse_content(parts.size() > 3 ? parts[3] : "zero", *extent, word);
  if (!content) return content.error();
  const auto id = buffers_.add_uninitialized(parts[1], extent->count * gpu::size(extent->element));
  buffers_.buffers[id.index].initial = *std::move(content);
  elements_.push_back(extent->element);
  arguments_.push_back(gpu::buffer(id));
  return {};
}

Result<void> ArgumentList::add(const std::string& word) {
  const auto parts = split(word, ':', 4);
  if (parts[0] == "buf") return add_buffer(parts, word);
  const auto pair = split(word, ':', 2);
  const auto element = gpu::parse_element(pair[0]);
  if (pair.size() == 2 && pair[0] == "ref") {
    const auto id = find(pair[1]);
    if (!id) return Error{"'" + word + "': " + id.error().what};
    arguments_.push_back(gpu::buffer(*id));
  } else if (pair.size() == 2 && pair[0] == "local") {
    const auto bytes = parse_integer<std::uint32_t>(pair[1]);
    if (!bytes) return Error{"'" + word + "': '" + pair[1] + "' is no number of bytes"};
    arguments_.emplace_back(gpu::LocalMemory{*bytes});
  } else if (pair.size() == 2 && element) {
    auto scalar = parse_scalar(*element, pair[1], word);
    if (!scalar) return scalar.error();
    arguments_.push_back(*std::move(scalar));
  } else {
    return Error{
        fmt::format("'{}' is no argument: TYPE:VALUE (TYPE of {}), buf:NAME:SIZE[:CONTENT], ref:NAME, local:BYTES",
                    word, fmt::join(gpu::kElementNames, " "))};
  }
  return {};
}

gpu::Application ArgumentList::application(gpu::Launch launch) const {
  gpu::Application application = buffers_;
  launch.arguments = arguments_;
  for (std::uint32_t i = 0; i < application.buffers.size(); ++i) {
    if (!application.buffers[i].initial.empty()) application.upload({i});
  }
  application.launch(std::move(launch));
  return application;
}

Result<Dump> parse_dump(const std::string& word) {
  Dump dump;
  if (const auto equal = word.find('='); equal != std::string::npos) {
    dump.buffer = word.substr(0, equal);
    dump.file = word.substr(equal + 1);
    if (dump.file.empty()) return Error{"'" + word + "': no file named"};
    return dump;
  }
  const auto parts = split(word, ':', 4);
  dump.buffer = parts[0];
  if (parts.size() > 1) {
    const auto element = gpu::parse_element(parts[1]);
    if (!element)
      return Error{fmt::format("'{}': no type '{}' ({})", word, parts[1], fmt::join(gpu::kElementNames, ", "))};
    dump.typed = true;
    dump.element = *element;
  }
  if (parts.size() > 2) {
    const auto count = parse_integer<std::uint64_t>(parts[2]);
    if (!count) return Error{"'" + word + "': '" + parts[2] + "' is no count"};
    dump.count = *count;
  }
  if (parts.size() > 3) return Error{"'" + word + "': a dump is NAME=FILE or NAME[:TYPE[:COUNT]]"};
  return dump;
}

}  // namespace wm::cli
