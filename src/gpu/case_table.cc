#include "gpu/case_table.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "gpu/content.h"
#include "gpu/element.h"

namespace wm::gpu {
namespace {

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t unit = 1;
  if (text.ends_with('K') || text.ends_with('M')) {
    unit = text.back() == 'K' ? 1024 : 1024 * 1024;
    text.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value * unit;
}

std::optional<Dim3> parse_dim(const std::string& text) {
  Dim3 d;
  std::istringstream parts(text);
  std::uint32_t* const places[] = {&d.x, &d.y, &d.z};
  std::size_t n = 0;
  for (std::string part; std::getline(parts, part, ','); ++n) {
    const auto value = parse_count(part);
    if (n == 3 || !value || *value == 0 || *value > ~std::uint32_t{0}) return std::nullopt;
    *places[n] = static_cast<std::uint32_t>(*value);
  }
  return n == 0 ? std::nullopt : std::optional<Dim3>(d);
}

// The numbers in the brackets of "random(0,1)".
std::vector<double> numbers_of(std::string_view content) {
  std::vector<double> numbers;
  const std::size_t open = content.find('(');
  if (open == content.npos || !content.ends_with(')')) return numbers;
  std::istringstream parts(std::string(content.substr(open + 1, content.size() - open - 2)));
  for (std::string part; std::getline(parts, part, ',');) numbers.push_back(std::strtod(part.c_str(), nullptr));
  return numbers;
}

Result<std::vector<std::byte>> make_content(std::string_view content, Element element, std::size_t count,
                                            std::uint64_t seed) {
  const std::vector<double> numbers = numbers_of(content);
  if (content == "zero") return zeros(element, count);
  if (content == "random") return random(element, count, seed);
  if (content.starts_with("random(") && numbers.size() == 2)
    return random_between(element, count, numbers[0], numbers[1], seed);
  if (content.starts_with("iota(") && numbers.size() == 2) return iota(element, count, numbers[0], numbers[1]);
  if (content.starts_with("fill(") && numbers.size() == 1) return iota(element, count, numbers[0], 0);
  return Error{fmt::format("'{}' is no content: zero, fill(V), iota(FROM,STEP), random, random(LOW,HIGH)", content)};
}

// Adds the buffer that `text` describes, if it describes one, and returns the argument.
Result<Argument> make_argument(const std::string& text, Application& application) {
  const std::size_t mark = text.find_first_of(":*");
  const auto element = parse_element(std::string_view(text).substr(0, mark));
  if (mark == text.npos || !element) return Error{fmt::format("'{}' is no argument: TYPE:VALUE or TYPE*COUNT", text)};
  if (text[mark] == ':') {
    Scalar scalar;
    if (auto r = append(*element, std::string_view(text).substr(mark + 1), scalar.bytes); !r) return r.error();
    return Argument{scalar};
  }
  const std::size_t equals = text.find('=', mark);
  const auto count =
      parse_count(std::string_view(text).substr(mark + 1, equals == text.npos ? equals : equals - mark - 1));
  if (!count || *count == 0) return Error{fmt::format("'{}' has no number of elements", text)};
  const std::uint64_t seed = application.buffers.size() + 1;
  auto content =
      make_content(equals == text.npos ? "zero" : std::string_view(text).substr(equals + 1), *element, *count, seed);
  if (!content) return content.error();
  const BufferId id = application.add(fmt::format("b{}", application.buffers.size()), *content);
  application.upload(id);
  return buffer(id);
}

}  // namespace

Result<std::vector<LaunchCase>> parse_cases(std::string_view text, const std::string& path) {
  std::vector<LaunchCase> cases;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    LaunchCase c;
    std::string grid;
    std::string block;
    std::istringstream fields(line);
    fields >> c.name >> c.file >> grid >> block >> c.dynamic_shared_bytes;
    const auto blocks = parse_dim(grid);
    const auto threads = parse_dim(block);
    if (fields.fail() || !blocks || !threads)
      return Error{fmt::format("{}:{}: expected NAME FILE GRID BLOCK SHARED ARGUMENT…", path, number)};
    c.grid = *blocks;
    c.block = *threads;
    c.entry = c.name.substr(0, c.name.find('.'));
    for (std::string argument; fields >> argument;) c.arguments.push_back(argument);
    cases.push_back(std::move(c));
  }
  return cases;
}

Result<Application> make_application(const LaunchCase& launch_case, std::uint32_t launches) {
  Application application;
  Launch launch{.kernel = launch_case.entry,
                .grid = launch_case.grid,
                .block = launch_case.block,
                .arguments = {},
                .dynamic_shared_bytes = launch_case.dynamic_shared_bytes};
  for (const std::string& text : launch_case.arguments) {
    auto argument = make_argument(text, application);
    if (!argument) return Error{fmt::format("{}: {}", launch_case.name, argument.error().what)};
    launch.arguments.push_back(*std::move(argument));
  }
  for (std::uint32_t i = 0; i < launches; ++i) application.launch(launch);
  return application;
}

}  // namespace wm::gpu
