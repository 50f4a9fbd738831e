// One client: its shared memory, its objects, and the thread that reads its messages.
//
// The session trusts nothing in a message: messages are copied before they are read, ids are looked up in the client's
// own tables, and chunks are checked against the shared memory. A client that breaks the protocol is cut off, and
// `wm status` shows the reason.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/protocol/ring.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"
#include "runtime/session/command_reader.h"
#include "runtime/session/kernel_calls.h"
#include "runtime/session/launch_reader.h"
#include "runtime/session/memory_calls.h"
#include "runtime/session/program_calls.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

class Session final : public Client, public std::enable_shared_from_this<Session> {
 public:
  struct ClientInfo {
    Peer peer;
    std::string name;
    std::uint64_t number = 0;
    double default_share = 1;  // where the client asks for none
  };
  // Creates the shared area too; `file` is sent to the client.
  static Result<std::shared_ptr<Session>> make(const DaemonContext& daemon, ClientInfo info, const Hello& hello,
                                               Descriptor& file);
  ~Session() override;

  void start();
  // The client has disconnected or is cut off: stops reading, drops commands that have not started, and releases all
  // objects. Waits for compilations that are running.
  void close();
  // Ends the session because of an error of the client.
  void cut(const std::string& reason);
  // The reason of `cut`; empty: the client was not cut off.
  [[nodiscard]] std::string cut_off() const;
  // Whether the reader thread has ended.
  [[nodiscard]] bool finished() const { return finished_.load(std::memory_order_acquire); }

  // A region of shared memory; 0: the client has reached a limit.
  std::uint32_t add_region(std::uint64_t size, Descriptor& file) { return state_.shared.add(size, file); }

  // --- Client
  [[nodiscard]] bool closed() const override { return state_.closed.load(std::memory_order_acquire); }
  void show_state(EventId event, Status state) override;
  void show_completion(const Command& command) override;
  [[nodiscard]] Identity identity() const override { return {info_.number, info_.name, info_.peer.pid}; }

  // --- for `wm status`
  [[nodiscard]] const ClientInfo& info() const { return info_; }
  struct Counts {
    std::size_t memories = 0, programs = 0, kernels = 0, queues = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
    std::map<std::string, std::string> unmodified_kernels;  // kernels that are not rewritten, and the reasons
  };
  [[nodiscard]] Counts counts() const;

  // A client waits while more than this is outstanding: commands, the bytes of their messages, compilations.
  static constexpr std::uint64_t kMaxOutstanding = 65'536, kMaxOutstandingBytes = 16 << 20;
  static constexpr std::size_t kMaxBackgroundTasks = 256;
  struct Outstanding {
    std::uint64_t commands = 0, bytes = 0;
    std::size_t tasks = 0;
  };
  [[nodiscard]] static bool must_wait(Op op, const Outstanding& now);
  // A client that has this many objects gets no more.
  static constexpr std::size_t kMaxObjects = 1 << 18;

 private:
  Session(const DaemonContext& daemon, ClientInfo info, SharedArea area);
  void read_messages();
  // These return false where the message breaks the protocol.
  bool handle(std::span<const std::byte> message);
  bool handle_call(const MessageHeader& header, Reader& reader);
  bool handle_post(const MessageHeader& header, Reader& reader);
  bool handle_user_event(Op op, const UserEvent& m);
  bool release(const Release& m);
  // Waits while the client has too much outstanding: its ring fills up, and its calls take longer.
  void throttle(Op op);

  const ClientInfo info_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  SessionState state_;
  MemoryCalls memory_;
  ProgramCalls programs_;
  KernelCalls kernels_;
  LaunchReader launches_;
  CommandReader commands_;
  std::atomic<bool> finished_{false};
  std::thread reader_;
  mutable std::mutex mutex_;  // guards cut_off_
  std::string cut_off_;
};

}  // namespace wm::runtime
