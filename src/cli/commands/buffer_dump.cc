#include "cli/commands/buffer_dump.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> values_of(const ChosenDump& chosen, const std::vector<std::byte>& bytes) {
  const std::size_t size = gpu::size(chosen.dump.element);
  const std::uint64_t count = std::min<std::uint64_t>(chosen.dump.count, bytes.size() / size);
  std::vector<std::string> values;
  values.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(gpu::format(chosen.dump.element, std::span(bytes).subspan(i * size, size)));
  }
  return values;
}

// "y[0] 1 3.5 6 …", eight a line.
std::string lines_of(const std::string& name, const std::vector<std::string>& values) {
  constexpr std::size_t kPerLine = 8;
  std::string text;
  for (std::size_t i = 0; i < values.size(); i += kPerLine) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(i + kPerLine, values.size()));
    text += fmt::format("{}[{}] {}\n", name, i, fmt::join(begin, end, " "));
  }
  return text;
}

// Numbers as JSON numbers; nan and inf, which JSON cannot represent, as text.
Json json_values(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) {
    Json number = Json::parse(value, nullptr, false);
    list.push_back(number.is_number() ? number : Json(value));
  }
  return list;
}

}  // namespace

Result<std::vector<ChosenDump>> choose_dumps(const std::vector<std::string>& words,
                                             const std::vector<gpu::Buffer>& buffers,
                                             const std::vector<gpu::Element>& elements) {
  std::vector<ChosenDump> chosen;
  for (const std::string& word : words) {
    auto dump = parse_dump(word);
    if (!dump) return Error{"--dump " + dump.error().what};
    std::vector<std::string> names;
    for (const gpu::Buffer& b : buffers) names.push_back(b.name);
    const auto at = std::find(names.begin(), names.end(), dump->buffer);
    if (at == names.end()) return Error{"--dump: no buffer '" + dump->buffer + "'" + did_you_mean(dump->buffer, names)};
    const auto index = static_cast<std::size_t>(at - names.begin());
    if (!dump->typed && index < elements.size()) dump->element = elements[index];
    const std::uint64_t held = buffers[index].bytes / gpu::size(dump->element);
    if (dump->count != Dump::kAll && dump->count > held) {
      return Error{fmt::format("--dump '{}': the buffer has {} values of {}", word, held, gpu::name(dump->element))};
    }
    chosen.push_back({*std::move(dump), index});
  }
  return chosen;
}

Result<void> write_dumps(const std::vector<ChosenDump>& chosen, const std::vector<std::vector<std::byte>>& buffers,
                         const Output& output, Json& item) {
  for (const ChosenDump& c : chosen) {
    const std::vector<std::byte>& bytes = buffers[c.buffer];
    if (!c.dump.file.empty()) {
      const std::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (auto done = write_file(c.dump.file, raw); !done) return done;
      continue;
    }
    const auto values = values_of(c, bytes);
    output.say(lines_of(c.dump.buffer, values));
    item["buffers"][c.dump.buffer] = json_values(values);
  }
  return {};
}

}  // namespace wm::cli
