// wm top: the clients of the shared device, again and again, until q is pressed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/raw_keyboard.h"
#include "cli/output/client_table.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TopOptions {
  std::string socket;
  double every = 1;
  std::uint64_t rounds = 0;
};

struct TerminalExtent {
  std::size_t columns = 0, lines = 0;  // 0: not a terminal
};

TerminalExtent terminal_extent() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_col, size.ws_row};
}

// The line up to `columns` characters. Escape sequences take no room and are kept, so that a style ends where it
// should.
std::string cut(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i + 1;
    if (line[i] == '\033') {
      while (end < line.size() && line[end - 1] != 'm') ++end;
    } else {
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) ++end;  // rest of a character
      if (++shown > columns) {
        i = end;
        continue;
      }
    }
    out += line.substr(i, end - i);
    i = end;
  }
  return out;
}

std::vector<std::string> screen_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// As many lines as the terminal has, the last one without its end. Where there are more, the second line of the
// heading is left out before a client; the first one where it would be the only client.
std::string page(const Json& status, const Json* earlier, const TerminalExtent& extent) {
  if (extent.columns == 0 || extent.lines == 0) return status_heading(status, earlier) + client_table(status, earlier);
  std::vector<std::string> heading = screen_lines(short_heading(status, earlier, extent.columns));
  const std::vector<std::string> table = screen_lines(client_table(status, earlier, extent.columns));
  if (heading.size() + table.size() > extent.lines) heading.resize(extent.lines < 3 ? 0 : 1);
  heading.insert(heading.end(), table.begin(), table.end());
  heading.resize(std::min(heading.size(), extent.lines));
  std::string out = "\033[H\033[2J";
  for (const std::string& line : heading) out += (&line != heading.data() ? "\n" : "") + cut(line, extent.columns);
  return out;
}

Result<int> top(const TopOptions& options) {
  const std::string socket = options.socket.empty() ? runtime::default_socket() : options.socket;
  const RawKeyboard keyboard;
  std::optional<Json> earlier;
  for (std::uint64_t round = 0; options.rounds == 0 || round < options.rounds; ++round) {
    if (round != 0 && keyboard.quits_within(options.every)) break;
    const auto text = runtime::request_status(socket);
    if (!text) return text.error();
    Json document = Json::parse(*text, nullptr, false);
    if (document.is_discarded()) return Error{"the daemon's answer is no JSON"};
    const TerminalExtent extent = terminal_extent();
    const Json* before = earlier ? &*earlier : nullptr;
    std::fputs(page(document, before, extent).c_str(), stdout);
    std::fflush(stdout);
    earlier = std::move(document);
  }
  if (terminal_extent().columns != 0) std::fputs("\n", stdout);
  return 0;
}

}  // namespace

void add_top(const Command& wm) {
  auto options = std::make_shared<TopOptions>();
  const Command command =
      wm.add("top", "The clients of the shared device, refreshed repeatedly; q quits", "wm top --every 0.5");
  command.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  command.option("--every", options->every, "Seconds between looks", {.show_default = true, .low = 0.01, .high = 3600});
  command.option("--rounds", options->rounds, "Looks before it ends (0: until q or an interrupt)");
  command.run([options] { return top(*options); });
}

}  // namespace wm::cli
