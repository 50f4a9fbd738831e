// wm top on a terminal: it shows the clients within the terminal's size, and q ends it. The daemon is a stand-in that
// answers every request with one status.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef WM_RUNTIME

#include <atomic>
#include <csignal>
#include <poll.h>
#include <pty.h>
#include <span>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

#include "base/json.h"
#include "cli/shell.h"
#include "runtime/protocol/socket.h"
#include "tree.h"

namespace wm::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::ordered_json status_of_two_clients() {
  nlohmann::ordered_json clients = nlohmann::ordered_json::array();
  for (const int number : {1, 2})
    clients.push_back({{"client", number},
                       {"name", "a-program"},
                       {"pid", 1000 + number},
                       {"user", "alice"},
                       {"share", 2.0},
                       {"priority", number},
                       {"slowdown", 1.5},
                       {"slowdown_basis", "measured"},
                       {"workers", 3},
                       {"queued", 1},
                       {"launches", 1234},
                       {"device_seconds", 0.5},
                       {"seconds", 2.0},
                       {"memory_bytes", 1 << 20},
                       {"kernel", "a_kernel"}});
  return {{"platform", "a platform"},
          {"device", "a device"},
          {"policy", "accelos:window=100000,threshold=0.25,another_parameter=12345"},
          {"seconds", 2.0},
          {"clients_seen", 2},
          {"clients_cut_off", 0},
          {"clients", clients},
          {"alive", {{"memories", 1}, {"programs", 1}, {"kernels", 1}, {"queues", 1}, {"commands", 1}}}};
}

// Answers until it is destroyed.
class StandInDaemon {
 public:
  explicit StandInDaemon(const std::string& socket)
      : listener_(std::move(*runtime::listen_at(socket, 0600))), thread_([this] { serve(); }) {}
  ~StandInDaemon() {
    stop_ = true;
    thread_.join();
  }
  StandInDaemon(const StandInDaemon&) = delete;
  StandInDaemon& operator=(const StandInDaemon&) = delete;

 private:
  void serve() {
    const std::string text = status_of_two_clients().dump();
    while (!stop_) {
      pollfd watched{listener_.get(), POLLIN, 0};
      if (::poll(&watched, 1, 20) <= 0) continue;
      const auto connection = runtime::accept_from(listener_);
      if (connection && runtime::receive_packet(*connection, 5000))
        runtime::send_packet(*connection, std::as_bytes(std::span(text)));
    }
  }

  runtime::Descriptor listener_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// The text without escape sequences.
std::string visible(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\033') {
      if (text[i] != '\r') plain += text[i];
      continue;
    }
    while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
  }
  return plain;
}

const std::string kClear = "\033[H\033[2J";

// wm top on a terminal of its own.
class TopOnTerminal {
 public:
  TopOnTerminal(const std::string& socket, winsize size) {
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    const std::string wm = binary_path("bin/wm");
    ::execl(wm.c_str(), "wm", "top", "--socket", socket.c_str(), "--every", "0.1", nullptr);
    ::_exit(127);
  }
  ~TopOnTerminal() { ::close(terminal_); }
  TopOnTerminal(const TopOnTerminal&) = delete;
  TopOnTerminal& operator=(const TopOnTerminal&) = delete;

  // The second page, which has a utilisation; it is complete when a third one has begun.
  std::string second_page() {
    const auto pages = [&] {
      std::size_t count = 0;
      for (std::size_t at = text_.find(kClear); at != std::string::npos; at = text_.find(kClear, at + 1)) ++count;
      return count;
    };
    char part[4096];
    for (pollfd watched{terminal_, POLLIN, 0}; pages() < 3 && ::poll(&watched, 1, 10'000) > 0;) {
      const ssize_t got = ::read(terminal_, part, sizeof part);
      if (got <= 0) break;
      text_.append(part, static_cast<std::size_t>(got));
    }
    const std::size_t begin = text_.find(kClear, text_.find(kClear) + 1), end = text_.rfind(kClear);
    return begin == std::string::npos ? text_ : visible(text_.substr(begin, end - begin));
  }

  void press(char key) { EXPECT_EQ(::write(terminal_, &key, 1), 1); }
  void signal(int number) const { ::kill(child_, number); }
  [[nodiscard]] int wait() const {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return status;
  }
  [[nodiscard]] bool shows_keys() const {
    termios settings{};
    ::tcgetattr(terminal_, &settings);
    return (settings.c_lflag & (ECHO | ICANON)) == (ECHO | ICANON);
  }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string text_;
};

void expect_fits(const std::string& page, std::size_t lines_limit, std::size_t columns) {
  EXPECT_LT(static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')), lines_limit);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
}

TEST(Top, FitsTheTerminalAndEndsWithQ) {
  const Scratch scratch;
  const StandInDaemon daemon(scratch.path("socket"));
  TopOnTerminal top(scratch.path("socket"), {.ws_row = 6, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0});
  const std::string page = top.second_page();
  EXPECT_FALSE(top.shows_keys());
  top.press('q');
  EXPECT_EQ(top.wait(), 0);
  EXPECT_TRUE(top.shows_keys());
  EXPECT_THAT(page, HasSubstr("utilisation"));
  for (const char* column : {"user", "share", "prio", "alice"}) EXPECT_THAT(page, HasSubstr(column));
  expect_fits(page, 6, 60);
}

// At 80 columns whole columns are left out, and the policy is shown without its parameters.
TEST(Top, LeavesOutTheLeastImportantColumns) {
  const Scratch scratch;
  const StandInDaemon daemon(scratch.path("socket"));
  TopOnTerminal top(scratch.path("socket"), {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0});
  const std::string page = top.second_page();
  EXPECT_THAT(page, HasSubstr("utilisation 0%, policy accelos, up"));
  for (const char* column : {"use ", "slowdown", "workers", "queue", "1.50"}) EXPECT_THAT(page, HasSubstr(column));
  for (const char* column : {"launches", "memory  ", "a_kernel"}) EXPECT_THAT(page, Not(HasSubstr(column)));
  expect_fits(page, 24, 80);
}

TEST(Top, ShowsAClientOnThreeRows) {
  const Scratch scratch;
  const StandInDaemon daemon(scratch.path("socket"));
  TopOnTerminal top(scratch.path("socket"), {.ws_row = 3, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0});
  const std::string page = top.second_page();
  for (const char* part : {"utilisation", "slowdown", "a-program", "1.50"}) EXPECT_THAT(page, HasSubstr(part));
  expect_fits(page, 3, 40);
}

TEST(Top, RestoresTheTerminalWhenASignalEndsIt) {
  const Scratch scratch;
  const StandInDaemon daemon(scratch.path("socket"));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    TopOnTerminal top(scratch.path("socket"), {.ws_row = 6, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0});
    top.second_page();
    EXPECT_FALSE(top.shows_keys());
    if (signal == SIGINT) {
      top.press('\x03');  // Ctrl-C
    } else {
      top.signal(signal);
    }
    const int status = top.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_TRUE(top.shows_keys()) << signal;
  }
}

}  // namespace
}  // namespace wm::cli
#endif
