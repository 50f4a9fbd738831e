// wm top on a terminal: it shows the clients within the terminal's size, and q ends it. The daemon is a stand-in that
// answers every request with one status.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef WM_RUNTIME

#include <atomic>
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
          {"policy", "accelos"},
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

TEST(Top, FitsTheTerminalAndEndsWithQ) {
  const Scratch scratch;
  const std::string socket = scratch.path("socket");
  const StandInDaemon daemon(socket);
  winsize size{.ws_row = 6, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string wm = binary_path("bin/wm");
    ::execl(wm.c_str(), "wm", "top", "--socket", socket.c_str(), "--every", "0.1", nullptr);
    ::_exit(127);
  }
  // Reads until three pages have begun.
  const std::string clear = "\033[H\033[2J";
  std::string text;
  const auto pages = [&] {
    std::size_t count = 0;
    for (std::size_t at = text.find(clear); at != std::string::npos; at = text.find(clear, at + 1)) ++count;
    return count;
  };
  char part[4096];
  for (pollfd watched{terminal, POLLIN, 0}; pages() < 3 && ::poll(&watched, 1, 10'000) > 0;) {
    const ssize_t got = ::read(terminal, part, sizeof part);
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  ASSERT_EQ(pages(), 3U) << text;
  termios settings{};
  ::tcgetattr(terminal, &settings);
  EXPECT_EQ(settings.c_lflag & ECHO, 0U) << "keys are not shown";
  ASSERT_EQ(::write(terminal, "q", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(terminal);

  const std::size_t begin = text.find(clear, text.find(clear) + 1), end = text.rfind(clear);
  const std::string page = visible(text.substr(begin, end - begin));
  EXPECT_THAT(page, HasSubstr("utilisation"));
  for (const char* column : {"user", "share", "prio", "alice"}) EXPECT_THAT(page, HasSubstr(column));
  EXPECT_LT(std::count(page.begin(), page.end(), '\n'), 6);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << line;
}

}  // namespace
}  // namespace wm::cli
#endif
