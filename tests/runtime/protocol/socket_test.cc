// The Unix socket: its path, its file, its peers and the ends of connections.
#include "runtime/protocol/socket.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
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

// Two ends of one connection.
std::pair<Descriptor, Descriptor> connected() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

TEST(SocketTest, AnEmptyPacketMayCarryADescriptor) {
  const auto [here, there] = connected();
  const auto memory = sealed_memory("sent", 4096);
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(send_packet(here, {}, *memory));
  const auto packet = receive_packet(there, 10'000);
  ASSERT_TRUE(packet.has_value());
  EXPECT_TRUE(packet->bytes.empty());
  EXPECT_TRUE(packet->file.open()) << "it would stay open otherwise";
}

TEST(SocketTest, OtherControlMessagesAreNotTakenForDescriptors) {
  const auto [here, there] = connected();
  const int yes = 1;  // the credentials of the sender come with every packet
  ASSERT_EQ(::setsockopt(there.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  ASSERT_TRUE(send_packet(here, bytes_of(std::uint64_t{5})));
  const auto packet = receive_packet(there, 10'000);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->bytes.size(), sizeof(std::uint64_t));
  EXPECT_FALSE(packet->file.open());
}

TEST(SocketTest, OnlyTheLastOfSeveralDescriptorsIsKept) {
  const auto [here, there] = connected();
  const auto first = sealed_memory("first", 4096), second = sealed_memory("second", 8192);
  const int files[2] = {first->get(), second->get()};
  char byte = 1;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof files);
  std::memcpy(CMSG_DATA(head), files, sizeof files);
  ASSERT_EQ(::sendmsg(here.get(), &message, 0), 1);
  const auto packet = receive_packet(there, 10'000);
  struct stat facts {};
  ASSERT_TRUE(packet && packet->file.open());
  ASSERT_EQ(::fstat(packet->file.get(), &facts), 0);
  EXPECT_EQ(facts.st_size, 8192);
}

}  // namespace
}  // namespace wm::runtime
