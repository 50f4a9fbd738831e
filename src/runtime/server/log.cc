#include "runtime/server/log.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <iterator>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/json.h"

namespace wm::runtime::log {
namespace {

std::atomic<bool> as_json{false};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> made = [] {
    auto l = std::make_shared<spdlog::logger>("warpmux", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    l->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
    l->set_level(spdlog::level::warn);
    l->flush_on(spdlog::level::debug);
    return l;
  }();
  return *made;
}

std::string_view name(Level level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<int>(level)];
}

// Quoted where it has blanks, quotes or control characters.
std::string word(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(" \"\\=\n\t") == std::string::npos;
  return plain ? text : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<void> configure(const std::string& level, const std::string& format) {
  constexpr std::pair<std::string_view, spdlog::level::level_enum> kLevels[] = {{"debug", spdlog::level::debug},
                                                                                {"info", spdlog::level::info},
                                                                                {"warning", spdlog::level::warn},
                                                                                {"error", spdlog::level::err},
                                                                                {"off", spdlog::level::off}};
  const auto* const chosen =
      std::find_if(std::begin(kLevels), std::end(kLevels), [&](const auto& known) { return known.first == level; });
  if (chosen == std::end(kLevels)) {
    return Error{"--log-level '" + level + "' is none of debug, info, warning, error, off"};
  }
  if (format != "text" && format != "json") return Error{"--log-format '" + format + "' is neither text nor json"};
  as_json = format == "json";
  logger().set_level(chosen->second);
  logger().set_pattern(as_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v)" : "%Y-%m-%dT%H:%M:%S.%eZ %v",
                       spdlog::pattern_time_type::utc);
  return {};
}

std::string line(Level level, std::string_view event, std::initializer_list<Value> values, bool json) {
  if (json) {
    nlohmann::ordered_json document{{"level", name(level)}, {"event", event}};
    for (const Value& v : values) {
      std::visit([&](const auto& value) { document[std::string(v.name)] = value; }, v.value);
    }
    return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  std::string text = fmt::format("{} {}", name(level), event);
  for (const Value& v : values) {
    text += fmt::format(" {}=", v.name);
    if (const auto* s = std::get_if<std::string>(&v.value)) text += word(*s);
    if (const auto* i = std::get_if<std::int64_t>(&v.value)) text += std::to_string(*i);
    if (const auto* d = std::get_if<double>(&v.value)) text += fmt::format("{:g}", *d);
  }
  return text;
}

void write(Level level, std::string_view event, std::initializer_list<Value> values) {
  if (!logger().should_log(to_spdlog(level))) return;
  const std::string text = line(level, event, values, as_json);
  logger().log(to_spdlog(level), "{}", as_json ? text.substr(1) : text);
}

}  // namespace wm::runtime::log
