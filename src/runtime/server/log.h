// The daemon's log on standard error: one line per event, with a level and named values.
//
//   2026-11-16T06:11:27.123Z info client_connected client=3 program=clinfo pid=812
//   {"time":"2026-11-16T06:11:27.123Z","level":"info","event":"client_connected","client":3,…}      --log-format json
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace wm::runtime::log {

enum class Level { debug, info, warning, error };

struct Value {
  std::string_view name;
  std::variant<std::string, std::int64_t, double> value;
};

// `level`: debug, info, warning, error or off; `format`: text or json. Before this call only warnings are written.
Result<void> configure(const std::string& level, const std::string& format);

void write(Level level, std::string_view event, std::initializer_list<Value> values = {});

// One line without the time, as `write` formats it.
[[nodiscard]] std::string line(Level level, std::string_view event, std::initializer_list<Value> values, bool json);

}  // namespace wm::runtime::log
