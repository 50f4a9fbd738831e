#include "runtime/server/control.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/json.h"

namespace wm::runtime {
namespace {

using Json = nlohmann::json;

constexpr double kMaxShare = 1000;
constexpr int kMaxPriority = 100;

std::string named(const Session::ClientInfo& info) {
  return fmt::format("client {} ({}, pid {})", info.number, info.name, info.peer.pid);
}

}  // namespace

double Control::default_share(unsigned uid) const {
  if (user_shares_.empty()) return 1;
  const auto it = user_shares_.find(user_name(uid));
  return it == user_shares_.end() ? 1 : it->second;
}

Result<std::shared_ptr<Session>> Control::find(const std::string& client) const {
  std::vector<std::shared_ptr<Session>> found;
  const auto sessions = clients_.sessions();
  for (const auto& s : sessions) {
    if (std::to_string(s->info().number) == client) return s;
  }
  for (const auto& s : sessions) {
    if (std::to_string(s->info().peer.pid) == client || s->info().name == client) found.push_back(s);
  }
  if (found.empty()) return Error{"no client '" + client + "'; wm status lists them"};
  if (found.size() > 1)
    return Error{fmt::format("'{}' names {} clients: give a number of wm status", client, found.size())};
  return found.front();
}

Result<std::string> Control::set(const std::string& client, const double* share, const int* priority) {
  if (share != nullptr && !(*share > 0 && *share <= kMaxShare)) return Error{"share must be above 0 and at most 1000"};
  if (priority != nullptr && (*priority < 0 || *priority > kMaxPriority))
    return Error{"priority must be from 0 to 100"};
  const auto change = [&](Session& session) {
    const ClientStatistics now = daemon_.scheduler().statistics(session);
    daemon_.scheduler().set_weights(session, priority != nullptr ? *priority : now.priority,
                                    share != nullptr ? *share : now.share);
  };
  if (client.starts_with("user:")) {
    const std::string user = client.substr(5);
    if (user.empty()) return Error{"user: needs a name, as in user:alice"};
    if (!is_user(user)) return Error{"there is no user '" + user + "'"};
    if (priority != nullptr) return Error{"a user has a share and no priority"};
    user_shares_[user] = *share;
    std::size_t count = 0;
    for (const auto& session : clients_.sessions()) {
      if (user_name(session->info().peer.uid) != user) continue;
      change(*session);
      ++count;
    }
    return fmt::format("share {:g} for user {}: {} now, and later ones", *share, user, wm::counted(count, "client"));
  }
  const auto session = find(client);
  if (!session) return session.error();
  change(**session);
  const ClientStatistics now = daemon_.scheduler().statistics(**session);
  return fmt::format("{}: share {:g}, priority {}", named((*session)->info()), now.share, now.priority);
}

Result<std::string> Control::apply(const std::string& request) {
  const Json document = Json::parse(request, nullptr, false);
  if (!document.is_object()) return Error{"the request is no JSON object"};
  const std::string op = document.value("op", ""), client = document.value("client", "");
  if (op == "policy") {
    if (auto done = daemon_.set_policy(document.value("policy", "")); !done) return done.error();
    return "policy " + daemon_.policy_name();
  }
  if (op == "end") {
    const auto session = find(client);
    if (!session) return session.error();
    (*session)->cut("was ended with wm end");
    return named((*session)->info()) + " is ended";
  }
  if (op == "set") {
    const bool has_share = document.contains("share"), has_priority = document.contains("priority");
    if (!has_share && !has_priority) return Error{"nothing to set: share=… or priority=…"};
    const double share = document.value("share", 1.0);
    const int priority = document.value("priority", 0);
    return set(client, has_share ? &share : nullptr, has_priority ? &priority : nullptr);
  }
  return Error{"no request '" + op + "'"};
}

std::string Control::answer(const std::string& request) {
  try {
    const auto done = apply(request);
    // Programs choose their names, so bytes that are not UTF-8 are replaced.
    return (done ? Json{{"done", *done}} : Json{{"error", done.error().to_string()}})
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception&) {  // a value of another type than expected
    return Json{{"error", "the request has a value of a wrong type"}}.dump();
  }
}

}  // namespace wm::runtime
