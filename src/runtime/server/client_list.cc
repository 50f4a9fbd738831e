#include "runtime/server/client_list.h"

#include <utility>

namespace wm::runtime {

std::vector<std::shared_ptr<Session>> ClientList::sessions() const {
  std::vector<std::shared_ptr<Session>> sessions;
  for (const ClientConnection& c : connections_) {
    if (c.session) sessions.push_back(c.session);
  }
  return sessions;
}

void ClientList::close(ClientConnection& connection) {
  if (!connection.session) return;
  if (const std::string reason = connection.session->cut_off(); !reason.empty()) {
    ++cut_off_count_;
    cut_offs_.push_back({connection.session->info(), reason});
    if (cut_offs_.size() > kMaxCutOffs) cut_offs_.pop_front();
  }
  some_have_left_ = true;
  closing_.push_back(std::async(std::launch::async, [session = std::move(connection.session)] { session->close(); }));
}

void ClientList::close_all() {
  for (ClientConnection& c : connections_) close(c);
  connections_.clear();
}

std::size_t ClientList::closing() {
  closing_.remove_if([](auto& c) { return c.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  return closing_.size();
}

bool ClientList::all_have_left() {
  if (closing() != 0 || !connections_.empty()) return false;
  return std::exchange(some_have_left_, false);
}

void ClientList::shut_down() {
  for (ClientConnection& c : connections_) {
    if (c.session) c.session->close();
  }
  connections_.clear();
  closing_.clear();
}

}  // namespace wm::runtime
