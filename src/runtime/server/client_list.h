// The clients of the daemon: those that are connected, and those that are being closed.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/protocol/descriptor.h"
#include "runtime/session/session.h"

namespace wm::runtime {

struct ClientConnection {
  Descriptor socket;
  std::shared_ptr<Session> session;  // null: the client has not introduced itself
};

class ClientList {
 public:
  struct CutOff {
    Session::ClientInfo info;
    std::string reason;
  };

  [[nodiscard]] std::list<ClientConnection>& connections() { return connections_; }
  [[nodiscard]] std::vector<std::shared_ptr<Session>> sessions() const;
  // The number of a client that connects now.
  [[nodiscard]] std::uint64_t next_number() { return ++seen_; }

  // Closes a session on a thread of its own, because it waits for running compilations.
  void close(ClientConnection& connection);
  void close_all();
  // The sessions that are being closed.
  [[nodiscard]] std::size_t closing();
  // True once after the last client has left and its session is closed. Releases the threads of closed sessions.
  [[nodiscard]] bool all_have_left();
  // Closes all sessions and waits for them.
  void shut_down();

  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] std::uint64_t cut_off_count() const { return cut_off_count_; }
  // The latest clients that were cut off, at most kMaxCutOffs.
  [[nodiscard]] const std::deque<CutOff>& cut_offs() const { return cut_offs_; }
  static constexpr std::size_t kMaxCutOffs = 16;

 private:
  std::list<ClientConnection> connections_;
  std::list<std::future<void>> closing_;
  bool some_have_left_ = false;  // since all had left
  std::uint64_t seen_ = 0, cut_off_count_ = 0;
  std::deque<CutOff> cut_offs_;
};

}  // namespace wm::runtime
