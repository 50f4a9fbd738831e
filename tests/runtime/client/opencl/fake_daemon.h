// The daemon's side of one connection, driven by a test: it accepts a client, answers its region requests on a thread,
// and reads the messages that the client posts.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/client/opencl/connection/channel.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime::client::test {

class FakeDaemon {
 public:
  explicit FakeDaemon(Welcome welcome = accepting()) : welcome_(welcome) {
    std::string pattern = testing::TempDir() + "wm-fake-daemon-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    auto listener = listen_at(path(), 0600);
    EXPECT_TRUE(listener.ok());
    listener_ = std::move(*listener);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeDaemon() {
    stop_ = true;
    thread_.join();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  static Welcome accepting() {
    Welcome welcome;
    welcome.accepted = 1;
    return welcome;
  }

  [[nodiscard]] std::string path() const { return folder_ + "/socket"; }
  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] std::uint32_t regions() const { return regions_; }
  // The largest region that the daemon grants.
  void limit_regions(std::uint64_t bytes) { max_region_ = bytes; }

  // The shared area, once a client has connected.
  [[nodiscard]] const SharedArea& area() const { return *area_; }
  void complete(EventId event, std::int32_t state = 0) { publish(area().header(), area().events()[event], state); }

  // The next message of the client; nothing when there is none within a second.
  std::optional<std::vector<std::byte>> next_message() {
    std::vector<std::byte> message;
    for (int i = 0; i < 100; ++i) {
      if (reader_->try_read(message) == RingReader::Outcome::message) return message;
      reader_->wait_for_message(10);
    }
    return std::nullopt;
  }
  // Writes the answer to a message where the client expects it.
  void reply(const std::vector<std::byte>& message, std::int32_t status, const std::string& answer = "") {
    MessageHeader header;
    std::memcpy(&header, message.data(), sizeof header);
    std::byte* at = area().staging().data() + header.reply.offset;
    const Reply reply{0, status, answer.size()};
    std::memcpy(at + sizeof reply.state, reinterpret_cast<const std::byte*>(&reply) + sizeof reply.state,
                sizeof reply - sizeof reply.state);
    if (sizeof reply + answer.size() <= header.reply.size) {
      std::memcpy(at + sizeof reply, answer.data(), answer.size());
    }
    Word& state = *reinterpret_cast<Word*>(at);
    state.store(1, std::memory_order_release);
    wake_all(state);
  }
  // Closes the connection, as a daemon that is killed does.
  void disconnect() { disconnect_ = true; }

 private:
  void serve() {
    std::optional<Descriptor> client;
    while (!stop_ && !client) client = wait_for_client();
    if (!client || !welcome(*client)) return;
    while (!stop_ && !disconnect_) {
      const auto packet = receive_packet(*client, 10);
      if (!packet) continue;
      if (packet->bytes.size() != sizeof(RegionRequest)) return;
      RegionRequest request;
      std::memcpy(&request, packet->bytes.data(), sizeof request);
      const bool granted = request.size <= max_region_;
      const RegionAnswer answer{granted ? ++regions_ : 0, 0};
      auto memory = sealed_memory("region", request.size);
      send_packet(*client, {reinterpret_cast<const std::byte*>(&answer), sizeof answer},
                  granted ? std::move(*memory) : Descriptor());
    }
  }
  std::optional<Descriptor> wait_for_client() {
    // accept_from blocks, so the thread looks whether a client waits first.
    ::usleep(1000);
    return waiting() ? accept_from(listener_) : std::nullopt;
  }
  [[nodiscard]] bool waiting() const;
  bool welcome(const Descriptor& client) {
    const auto packet = receive_packet(client, 1000);
    if (!packet || packet->bytes.size() != sizeof hello_) return false;
    std::memcpy(&hello_, packet->bytes.data(), sizeof hello_);
    Descriptor file;
    auto area = SharedArea::make(file);
    if (!area) return false;
    area_.emplace(std::move(*area));
    reader_.emplace(&area_->header().ring, area_->ring());
    return send_packet(client, {reinterpret_cast<const std::byte*>(&welcome_), sizeof welcome_}, file);
  }

  const Welcome welcome_;
  std::string folder_;
  Descriptor listener_;
  Hello hello_;
  std::optional<SharedArea> area_;
  std::optional<RingReader> reader_;
  std::atomic<std::uint32_t> regions_{0};
  std::atomic<std::uint64_t> max_region_{std::uint64_t{1} << 30};
  std::atomic<bool> stop_{false}, disconnect_{false};
  std::thread thread_;
};

}  // namespace wm::runtime::client::test
