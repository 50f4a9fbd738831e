// The Unix socket: its path, its file, its peers and the ends of connections.
#include "runtime/protocol/socket.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wm::runtime {
namespace {

TEST(SocketTest, TheDefaultIsTheVariableThenTheUsersFolder) {
  const std::string old_socket = std::getenv("WARPMUX_SOCKET") != nullptr ? std::getenv("WARPMUX_SOCKET") : "";
  const std::string old_folder = std::getenv("XDG_RUNTIME_DIR") != nullptr ? std::getenv("XDG_RUNTIME_DIR") : "";
  ::setenv("WARPMUX_SOCKET", "/a/socket", 1);
  ::setenv("XDG_RUNTIME_DIR", "/b", 1);
  EXPECT_EQ(default_socket(), "/a/socket");
  ::setenv("WARPMUX_SOCKET", "", 1);
  EXPECT_EQ(default_socket(), "/b/warpmux.sock");
  ::setenv("XDG_RUNTIME_DIR", "", 1);
  const bool has_folder = std::filesystem::exists("/run/warpmux");
  EXPECT_EQ(default_socket(),
            has_folder ? "/run/warpmux/warpmux.sock" : "/tmp/warpmux-" + std::to_string(::getuid()) + ".sock");
  ::setenv("WARPMUX_SOCKET", old_socket.c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", old_folder.c_str(), 1);
}

TEST(SocketTest, UsersHaveNamesOrNumbers) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(4'000'000'000U), "4000000000");
  EXPECT_TRUE(is_user("root"));
  EXPECT_TRUE(is_user("4000000000"));
  EXPECT_FALSE(is_user("no such user"));
  EXPECT_FALSE(is_user("12a"));
  EXPECT_FALSE(is_user(""));
}

TEST(SocketTest, AFileThatIsNoSocketIsKept) {
  std::string pattern = testing::TempDir() + "wm-socket-XXXXXX";
  const std::string folder = ::mkdtemp(pattern.data()), path = folder + "/file";
  std::ofstream(path) << "kept";
  EXPECT_NE(listen_at(path, 0600).error().what.find("is not a socket"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(connect_to(path).ok());
  for (const std::string& wrong : {std::string(), std::string(108, 'x')}) {
    EXPECT_NE(listen_at(wrong, 0600).error().what.find("is empty or too long"), std::string::npos);
    EXPECT_NE(connect_to(wrong).error().what.find("is empty or too long"), std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST(SocketTest, ASocketHasItsModeAndKnowsItsPeer) {
  std::string pattern = testing::TempDir() + "wm-socket-XXXXXX";
  const std::string folder = ::mkdtemp(pattern.data());
  const std::string longest = folder + "/" + std::string(107 - folder.size() - 1, 's');
  const auto listener = listen_at(longest, 0640);
  ASSERT_TRUE(listener.ok()) << listener.error().what;
  struct stat facts {};
  ASSERT_EQ(::stat(longest.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  auto client = connect_to(longest);
  ASSERT_TRUE(client.ok());
  const auto served = accept_from(*listener);
  ASSERT_TRUE(served.has_value());
  const auto peer = peer_of(*served);
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::getuid());
  EXPECT_FALSE(peer_closed(*served));
  EXPECT_FALSE(receive_packet(*served, 0).has_value()) << "nothing was sent";
  EXPECT_TRUE(send_packet(*client, bytes_of(std::uint64_t{5})));
  EXPECT_EQ(receive_packet(*served, 10'000, 4)->bytes.size(), 4U) << "no more than asked for";
  { const Descriptor gone = std::move(*client); }
  EXPECT_TRUE(peer_closed(*served));
  EXPECT_TRUE(receive_packet(*served, 10'000)->bytes.empty());
  EXPECT_FALSE(send_packet(*served, bytes_of(std::uint64_t{5})));
  EXPECT_NE(listen_at(longest, 0600).error().what.find("a daemon listens there already"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace wm::runtime
