// The daemon's socket, over a device that computes nothing: greetings, regions, status, control, metrics and the end.
#include "runtime/server/server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

#include "base/json.h"
#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_cpu.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/ring.h"
#include "runtime/protocol/wire.h"
#include "runtime/server/log.h"
#include "runtime/server/loopback.h"

namespace wm::runtime::test {
namespace {

struct ServerTest : testing::Test {
  ServerTest() {
    std::string pattern = testing::TempDir() + "wm-server-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    options.socket = folder + "/socket";
    options.rewrite = false;
    options.sandbox_seconds = 0;
    options.cache = folder;
    options.memory = 64 << 20;
  }
  ~ServerTest() override {
    stop();
    server.reset();
    std::filesystem::remove_all(folder);
  }
  void start(const Server::OpenDevice& device = [] { return null_backend(true); }) {
    auto opened = Server::open(options, device);
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    server = std::move(*opened);
    thread = std::thread([this] { ended_well = server->run(event.get()); });
  }
  void stop() {
    const std::uint64_t one = 1;
    if (!thread.joinable()) return;
    EXPECT_EQ(::write(event.get(), &one, sizeof one), ssize_t{sizeof one});
    thread.join();
  }
  [[nodiscard]] Descriptor connect() const { return std::move(*connect_to(options.socket)); }
  static Packet answer(const Descriptor& socket) {
    auto packet = receive_packet(socket, 30'000);
    EXPECT_TRUE(packet.has_value());
    return packet ? std::move(*packet) : Packet{};
  }
  // The answer to a greeting.
  static Welcome greet(const Descriptor& socket, const Hello& hello, Descriptor* area = nullptr) {
    EXPECT_TRUE(send_packet(socket, bytes_of(hello)));
    Packet packet = answer(socket);
    Welcome welcome;
    EXPECT_EQ(packet.bytes.size(), sizeof welcome);
    if (packet.bytes.size() == sizeof welcome) std::memcpy(&welcome, packet.bytes.data(), sizeof welcome);
    if (area != nullptr) *area = std::move(packet.file);
    return welcome;
  }
  static Hello client(const char* name) {
    Hello hello;
    std::snprintf(hello.name, sizeof hello.name, "%s", name);
    return hello;
  }
  [[nodiscard]] nlohmann::json status() const { return nlohmann::json::parse(*request_status(options.socket)); }
  template <typename Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 20'000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::string folder;
  ServeOptions options;
  std::unique_ptr<Server> server;
  Descriptor event{::eventfd(0, 0)};
  std::thread thread;
  bool ended_well = false;
};

TEST_F(ServerTest, AClientIsWelcomeAndGetsItsSharedArea) {
  start();
  const Descriptor socket = connect();
  Descriptor area;
  const Welcome welcome = greet(socket, client("app"), &area);
  EXPECT_EQ(welcome.accepted, 1U);
  EXPECT_EQ(welcome.magic, kMagic);
  EXPECT_EQ(welcome.version, kVersion);
  EXPECT_EQ(welcome.host_memory, 1U);
  EXPECT_STREQ(welcome.reason, "");
  ASSERT_TRUE(area.open());
  EXPECT_TRUE(SharedArea::attach(area).ok());
  EXPECT_EQ(status()["clients"][0]["name"], "app");
  EXPECT_EQ(status()["clients"][0]["pid"], ::getpid());
}

TEST_F(ServerTest, ANameWithoutAnEndEndsWithItsField) {
  start();
  const Descriptor socket = connect();
  Hello hello;
  std::memset(hello.name, 'x', sizeof hello.name);
  greet(socket, hello);
  EXPECT_EQ(status()["clients"][0]["name"], std::string(sizeof hello.name, 'x'));
}

TEST_F(ServerTest, AnotherGreetingIsRefusedWithTheReason) {
  start();
  Hello other_magic = client("x"), other_version = client("x");
  other_magic.magic = 1;
  other_version.version = kVersion + 1;
  for (const Hello& hello : {other_magic, other_version}) {
    const Welcome refused = greet(connect(), hello);
    EXPECT_EQ(refused.accepted, 0U);
    EXPECT_NE(std::string(refused.reason).find("version " + std::to_string(kVersion)), std::string::npos);
  }
  const Descriptor socket = connect();
  ASSERT_TRUE(send_packet(socket, bytes_of(std::uint32_t{1})));
  const Packet packet = answer(socket);
  ASSERT_EQ(packet.bytes.size(), sizeof(Welcome));
  EXPECT_STREQ(reinterpret_cast<const char*>(packet.bytes.data()) + offsetof(Welcome, reason),
               "not a hello of this version");
  EXPECT_TRUE(answer(socket).bytes.empty()) << "the connection is closed";
  EXPECT_EQ(status()["clients_seen"], 0);
}

TEST_F(ServerTest, ARegionHasItsSizeAndANumberOfItsOwn) {
  start();
  const Descriptor socket = connect();
  greet(socket, client("app"));
  const auto region = [&](std::uint64_t size) {
    EXPECT_TRUE(send_packet(socket, bytes_of(RegionRequest{size})));
    Packet packet = answer(socket);
    RegionAnswer answered;
    EXPECT_EQ(packet.bytes.size(), sizeof answered);
    std::memcpy(&answered, packet.bytes.data(), std::min(packet.bytes.size(), sizeof answered));
    struct stat facts {};
    const bool has_file = packet.file.open() && ::fstat(packet.file.get(), &facts) == 0;
    EXPECT_EQ(has_file, answered.region != 0);
    EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), has_file ? size : 0);
    return answered.region;
  };
  EXPECT_EQ(region(4096), 1U);
  EXPECT_EQ(region(8192), 2U);
  EXPECT_EQ(region(0), 0U);
  EXPECT_EQ(region((std::uint64_t{1} << 36) + 1), 0U);
  EXPECT_EQ(region(4096), 3U) << "the session continues";
}

TEST_F(ServerTest, ABrokenRequestOnTheSocketEndsTheClient) {
  start();
  const Descriptor socket = connect();
  greet(socket, client("app"));
  ASSERT_TRUE(send_packet(socket, bytes_of(std::uint8_t{1})));
  EXPECT_TRUE(answer(socket).bytes.empty());
  EXPECT_TRUE(eventually([&] { return status()["clients_cut_off"] == 1; }));
  EXPECT_EQ(status()["cut_off"][0]["reason"], "broke the protocol");
}

TEST_F(ServerTest, AClientThatDisconnectsLeavesNothing) {
  start();
  {
    const Descriptor socket = connect();
    greet(socket, client("app"));
    EXPECT_EQ(status()["alive"]["queues"], 1);
  }
  EXPECT_TRUE(eventually([&] { return status()["clients"].empty() && status()["alive"]["queues"] == 0; }));
  EXPECT_EQ(status()["clients_seen"], 1);
  EXPECT_EQ(status()["clients_cut_off"], 0);
}

TEST_F(ServerTest, AStatusOfManyClientsComesInSeveralPackets) {
  start();
  std::vector<Descriptor> sockets;
  for (int i = 0; i < 30; ++i) {
    sockets.push_back(connect());
    greet(sockets.back(), client(("client " + std::to_string(i)).c_str()));
  }
  EXPECT_GT(request_status(options.socket)->size(), std::size_t{16} << 10);
  EXPECT_EQ(status()["clients"].size(), 30U);
  EXPECT_EQ(status()["clients"][29]["name"], "client 29");
}

TEST_F(ServerTest, AControllerChangesTheDaemon) {
  start();
  const Descriptor socket = connect();
  greet(socket, client("app"));
  EXPECT_EQ(*request_control(options.socket, R"({"op":"set","client":"app","share":3})"),
            "{\"done\":\"client 1 (app, pid " + std::to_string(::getpid()) + "): share 3, priority 0\"}");
  EXPECT_EQ(*request_control(options.socket, R"({"op":"policy","policy":"even"})"), R"({"done":"policy even"})");
  EXPECT_NE(server->about().find("null: null, policy even\nadmission rule "), std::string::npos) << server->about();
  EXPECT_EQ(*request_control(options.socket, R"({"op":"end","client":"1"})"),
            "{\"done\":\"client 1 (app, pid " + std::to_string(::getpid()) + ") is ended\"}");
  EXPECT_TRUE(answer(socket).bytes.empty());
}

// --- The log, on standard error.

struct ServerLog : ServerTest {
  ServerLog() {
    EXPECT_TRUE(log::configure("debug", "json").ok());
    testing::internal::CaptureStderr();
  }
  ~ServerLog() override { EXPECT_TRUE(log::configure("warning", "text").ok()); }
  // The events so far, without their times, once the server has ended.
  std::vector<nlohmann::json> events() {
    stop();
    std::istringstream lines(testing::internal::GetCapturedStderr());
    std::vector<nlohmann::json> found;
    for (std::string line; std::getline(lines, line);) {
      found.push_back(nlohmann::json::parse(line));
      found.back().erase("time");
    }
    return found;
  }
  const std::int64_t pid = ::getpid();
  const std::string user = user_name(::getuid());
};

TEST_F(ServerLog, NamesClientsThatComeAndGo) {
  start();
  {
    const Descriptor socket = connect();
    greet(socket, client("app"));
  }
  while (!status()["clients"].empty()) std::this_thread::yield();
  const auto found = events();
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found.front(), (nlohmann::json{{"level", "info"},
                                           {"event", "client_connected"},
                                           {"client", 1},
                                           {"program", "app"},
                                           {"pid", pid},
                                           {"user", user}}));
  const nlohmann::json gone{{"level", "info"},       {"event", "client_gone"}, {"client", 1},
                            {"program", "app"},      {"launches", 0},          {"queued_workers", 0},
                            {"repeated_workers", 0}, {"device_seconds", 0.0},  {"reason", "disconnected"}};
  EXPECT_NE(std::find(found.begin(), found.end(), gone), found.end());
  const nlohmann::json asked{{"level", "debug"}, {"event", "status_requested"}, {"pid", pid}, {"user", user}};
  EXPECT_NE(std::find(found.begin(), found.end(), asked), found.end());
}

TEST_F(ServerLog, WarnsOfClientsThatWereCutOff) {
  start();
  const Descriptor socket = connect();
  greet(socket, client("app"));
  ASSERT_TRUE(send_packet(socket, bytes_of(std::uint8_t{1})));
  EXPECT_TRUE(answer(socket).bytes.empty());
  const auto found = events();
  EXPECT_EQ(found.back()["level"], "warning");
  EXPECT_EQ(found.back()["event"], "client_gone");
  EXPECT_EQ(found.back()["reason"], "broke the protocol");
}

TEST_F(ServerLog, NamesWhoControlsTheDaemon) {
  start();
  const std::string request = R"({"op":"policy","policy":"even"})";
  ASSERT_TRUE(request_control(options.socket, request).ok());
  EXPECT_EQ(events(), (std::vector<nlohmann::json>{{{"level", "info"},
                                                    {"event", "control"},
                                                    {"user", user},
                                                    {"request", request},
                                                    {"answer", R"({"done":"policy even"})"}}}));
}

TEST_F(ServerTest, DrainingClosesTheConnectionsOfClients) {
  start();
  const Descriptor socket = connect();
  greet(socket, client("app"));
  EXPECT_FALSE(peer_closed(socket));
  stop();
  EXPECT_TRUE(server->drain(10));
  EXPECT_TRUE(peer_closed(socket));
}

// --- The end of the device. A write to memory fails, and so does the daemon's question whether the device lives.

TEST_F(ServerTest, EndsWhenTheDeviceHasFailed) {
  static std::atomic<bool> failed;
  static decltype(NativeCalls::EnqueueWriteBuffer) write;
  failed = false;
  start([] {
    auto native = null_opencl(true);
    write = native->cl.EnqueueWriteBuffer;
    native->cl.EnqueueWriteBuffer = [](cl_command_queue q, cl_mem m, cl_bool wait, std::size_t at, std::size_t size,
                                       const void* from, cl_uint n, const cl_event* after, cl_event* event) {
      return failed ? cl_int{CL_OUT_OF_RESOURCES} : write(q, m, wait, at, size, from, n, after, event);
    };
    native->cl.EnqueueFillBuffer = [](cl_command_queue, cl_mem, const void*, std::size_t, std::size_t, std::size_t,
                                      cl_uint, const cl_event*, cl_event*) { return cl_int{CL_OUT_OF_RESOURCES}; };
    return Result<std::unique_ptr<Backend>>(std::make_unique<OpenClCpu>(std::move(native)));
  });
  const Descriptor socket = connect();
  Descriptor file;
  greet(socket, client("app"), &file);
  const auto area = SharedArea::attach(file);
  RingWriter ring(&area->header().ring, area->ring());
  Writer buffer(Op::create_buffer);
  buffer.put(CreateBuffer{1, CL_MEM_READ_WRITE, 4096, 0, 0});
  buffer.reply_to({0, 0, 0, 1024});
  ASSERT_TRUE(ring.try_write(buffer.finish()));
  failed = true;
  Writer fill(Op::command);
  Fill what{.memory = 1, .offset = 0, .size = 64, .pattern_size = 4};
  fill.put(CommandMessage{0, CommandType::fill, 5, 0, 0}).put(what);
  ASSERT_TRUE(ring.try_write(fill.finish()));
  ended_well = true;
  thread.join();  // without being stopped
  EXPECT_FALSE(ended_well);
}

// The answer to an HTTP request; `request` may be empty.
std::string fetched(std::uint16_t port, const std::string& request) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return "none";
  if (!request.empty() && ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "none";
  std::string text;
  char part[4096];
  for (ssize_t n = 0; (n = ::recv(socket.get(), part, sizeof part, 0)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  return text;
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

TEST(Loopback, ServesThePageOfAPath) {
  const auto listener = listen_on_loopback(0);
  ASSERT_TRUE(listener.ok());
  const std::uint16_t port = port_of(*listener);
  const auto served = [&](const std::string& request) {
    std::thread server([&] {
      serve_http(*listener, [](const std::string& path) -> std::optional<std::string> {
        if (path == "/metrics") return "numbers\n";
        return std::nullopt;
      });
    });
    std::string text = fetched(port, request);
    server.join();
    return text;
  };
  const std::string head = "Content-Type: text/plain; version=0.0.4\r\nContent-Length: ",
                    end = "\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(served("GET /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n" + head + "8" + end + "numbers\n");
  EXPECT_EQ(served("HEAD /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n" + head + "8" + end);
  EXPECT_EQ(served("GET /other HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found\r\n" + head + "10" + end + "not found\n");
  EXPECT_EQ(served(""), "HTTP/1.1 200 OK\r\n" + head + "8" + end + "numbers\n") << "a client that sends nothing";
  const auto again = listen_on_loopback(port);
  EXPECT_FALSE(again.ok()) << "the port is taken";
}

TEST_F(ServerTest, PagesOfTheMetricsPort) {
  std::uint16_t port = 0;
  {
    const auto free = listen_on_loopback(0);
    port = port_of(*free);
  }
  options.metrics_port = port;
  start();
  EXPECT_NE(fetched(port, "GET /metrics HTTP/1.1\r\n\r\n").find("warpmux_clients 0\n"), std::string::npos);
  EXPECT_NE(fetched(port, "GET / HTTP/1.1\r\n\r\n").find("warpmux_clients 0\n"), std::string::npos);
  EXPECT_NE(fetched(port, "GET /healthz HTTP/1.1\r\n\r\n").find("\r\n\r\nok\n"), std::string::npos);
  EXPECT_NE(fetched(port, "GET /other HTTP/1.1\r\n\r\n").find("404"), std::string::npos);
}

TEST_F(ServerTest, ASocketWithADaemonIsNotTakenAndTheFileGoesWithTheServer) {
  start();
  EXPECT_FALSE(Server::open(options, [] { return null_backend(true); }).ok());
  EXPECT_TRUE(std::filesystem::exists(options.socket));
  stop();
  EXPECT_TRUE(ended_well);
  EXPECT_TRUE(server->drain(10));
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(options.socket));
}

TEST_F(ServerTest, WhatCannotBeServedIsRefusedAndLeavesNoSocket) {
  const auto no_device = [] { return Result<std::unique_ptr<Backend>>(Error{"no device"}); };
  EXPECT_EQ(Server::open(options, no_device).error().what, "no device");
  EXPECT_FALSE(std::filesystem::exists(options.socket));
  for (const char* policy : {"nosuch", "spatial", "fifo:x=1"}) {
    options.policy = policy;
    EXPECT_FALSE(Server::open(options, [] { return null_backend(true); }).ok()) << policy;
    EXPECT_FALSE(std::filesystem::exists(options.socket)) << policy;
  }
  options.policy = "fifo";
  const auto taken = listen_on_loopback(0);
  options.metrics_port = port_of(*taken);
  EXPECT_FALSE(Server::open(options, [] { return null_backend(true); }).ok());
  EXPECT_FALSE(std::filesystem::exists(options.socket));
  options.metrics_port = 0;
  start();
  EXPECT_EQ(status()["policy"], "fifo");
}

}  // namespace
}  // namespace wm::runtime::test
