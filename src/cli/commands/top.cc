// wm top: the clients of the shared device, again and again, until q is pressed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/commands/command.h"
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

// A terminal that delivers single keys and does not show them; the destructor restores it.
class RawKeyboard {
 public:
  RawKeyboard() : active_(::isatty(STDIN_FILENO) != 0 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!active_) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  ~RawKeyboard() {
    if (active_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawKeyboard(const RawKeyboard&) = delete;
  RawKeyboard& operator=(const RawKeyboard&) = delete;

  // Waits; true: the user pressed q.
  [[nodiscard]] bool quits_within(double seconds) const {
    pollfd watched{STDIN_FILENO, POLLIN, 0};
    if (!active_) return ::poll(nullptr, 0, static_cast<int>(seconds * 1000)) != 0;
    char key = 0;
    return ::poll(&watched, 1, static_cast<int>(seconds * 1000)) > 0 && ::read(STDIN_FILENO, &key, 1) == 1 &&
           (key == 'q' || key == 'Q');
  }

 private:
  termios before_{};
  bool active_;
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

// The first lines of the text that a terminal has room for, each cut to its width; all of it without a terminal.
std::string fitted(std::string_view text, const TerminalExtent& extent) {
  if (extent.columns == 0 || extent.lines == 0) return std::string(text);
  std::string out;
  std::size_t at = 0;
  for (std::size_t line = 0; line + 1 < extent.lines && at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += cut(text.substr(at, end - at), extent.columns) + "\n";
    at = end + 1;
  }
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
    const std::string page = status_heading(document, before) + client_table(document, before, extent.columns);
    if (extent.columns != 0) std::fputs("\033[H\033[2J", stdout);
    std::fputs(fitted(page, extent).c_str(), stdout);
    std::fflush(stdout);
    earlier = std::move(document);
  }
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
