#include "runtime/conformance/children.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace wm::runtime::test {
namespace {

void a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

// A minute is far more than an idle machine needs: compilers of other tests may hold the processors meanwhile.
bool says(const Daemon& daemon, const std::string& text, bool so) {
  for (int i = 0; i < 6000; ++i) {
    const std::string document = daemon.status();
    if (!document.empty() && (document.find(text) != std::string::npos) == so) return true;
    a_moment();
  }
  return false;
}

// `files` is for ICD loaders that accept no folder; empty: not set.
[[noreturn]] void become_client(const std::string& vendors, const std::string& files,
                                const std::vector<std::string>& words) {
  ::setenv("OCL_ICD_VENDORS", vendors.c_str(), 1);
  ::unsetenv("OCL_ICD_FILENAMES");
  if (!files.empty()) ::setenv("OCL_ICD_FILENAMES", files.c_str(), 1);
  std::vector<char*> arguments{const_cast<char*>(WM_CLIENT)};
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  ::execv(WM_CLIENT, arguments.data());
  std::_Exit(127);
}

}  // namespace

Child::Child(const Daemon& daemon, const std::vector<std::string>& words) : pid_(::fork()) {
  if (pid_ != 0) return;
  ::setenv("WARPMUX_SOCKET", daemon.socket().c_str(), 1);
  become_client(daemon.only_ours(), WM_DRIVER, words);
}

Child::~Child() { kill(); }

void Child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

std::optional<int> Child::wait(double seconds) {
  for (int i = 0; i < seconds * 100; ++i) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    a_moment();
  }
  return std::nullopt;
}

bool comes_to_say(const Daemon& daemon, const std::string& text) { return says(daemon, text, true); }
bool stops_saying(const Daemon& daemon, const std::string& text) { return says(daemon, text, false); }

RawClient raw_client(const Daemon& daemon, const std::string& name) {
  RawClient client;
  auto socket = connect_to(daemon.socket());
  EXPECT_TRUE(socket.ok());
  if (!socket) return client;
  Hello hello;
  std::strncpy(hello.name, name.c_str(), sizeof hello.name - 1);
  EXPECT_TRUE(send_packet(*socket, {reinterpret_cast<const std::byte*>(&hello), sizeof hello}));
  const auto welcome = receive_packet(*socket, 5000);
  EXPECT_TRUE(welcome.has_value());
  if (!welcome) return client;
  auto area = SharedArea::attach(welcome->file);
  EXPECT_TRUE(area.ok());
  if (!area) return client;
  client.socket = std::move(*socket);
  client.area.emplace(std::move(*area));
  client.ring.emplace(&client.area->header().ring, client.area->ring());
  return client;
}

}  // namespace wm::runtime::test
