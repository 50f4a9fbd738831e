// Changes of a running daemon, as `wm set`, `wm policy` and `wm end` request them.
//
//   {"op":"set", "client":"3", "share":2, "priority":1}     a client by number, pid or unique program name
//   {"op":"set", "client":"user:alice", "share":2}          all clients of a user, now and later
//   {"op":"policy", "policy":"moving_shares"}
//   {"op":"end", "client":"3"}
//
// The answer is {"done":"…"} or {"error":"…"}.
#pragma once

#include <map>
#include <string>

#include "runtime/server/client_list.h"
#include "runtime/server/daemon.h"

namespace wm::runtime {

class Control {
 public:
  Control(Daemon& daemon, ClientList& clients, std::map<std::string, double> user_shares)
      : daemon_(daemon), clients_(clients), user_shares_(std::move(user_shares)) {}

  // The answer to a request. Only the daemon's user and root may make one; the server has checked that.
  [[nodiscard]] std::string answer(const std::string& request);
  // The share of a client of this user that asks for none.
  [[nodiscard]] double default_share(unsigned uid) const;

 private:
  [[nodiscard]] Result<std::string> apply(const std::string& request);
  [[nodiscard]] Result<std::string> set(const std::string& client, const double* share, const int* priority);
  // The client that the text names.
  [[nodiscard]] Result<std::shared_ptr<Session>> find(const std::string& client) const;

  Daemon& daemon_;
  ClientList& clients_;
  std::map<std::string, double> user_shares_;  // by user name
};

}  // namespace wm::runtime
