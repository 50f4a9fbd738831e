#include "runtime/simulated/served_connection.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <thread>

#include "base/number.h"
#include "base/units.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime {

namespace {

constexpr int kWelcomeTimeout = 30'000;  // milliseconds

}  // namespace

Result<ServedGoal> parse_served_goal(const std::string& text) {
  ServedGoal goal;
  if (text.empty()) return goal;
  const std::size_t sign = text.find('=');
  const std::string name = sign == std::string::npos ? "" : text.substr(0, sign);
  const std::string value = sign == std::string::npos ? text : text.substr(sign + 1);
  const auto number = parse_double(value);
  if (name == "time" || name == "p99") {
    const auto time = parse_picoseconds(value);
    if (!time) return time.error();
    goal = {.kind = ServedGoal::Kind::nanoseconds, .value = static_cast<double>(time->count) * 1e-3};
  } else if (name == "rate" && number) {
    goal = {.kind = ServedGoal::Kind::nanoseconds, .value = *number > 0 ? 1e9 / *number : 0};
  } else if (name == "ipc" && number) {
    goal = {.kind = ServedGoal::Kind::ipc, .value = *number};
  } else if (name.empty() && number && *number <= 1) {
    goal = {.kind = ServedGoal::Kind::fraction, .value = *number};
  }
  if (goal.value > 0) return goal;
  return Error{"--goal '" + text +
               "' is neither a part of the isolated rate as 0.9, nor ipc=200, nor a time of a launch as in time=2ms, "
               "nor launches per second as in rate=500"};
}

Result<ServedConnection*> ServedConnection::open(const std::string& path, const ServedTerms& terms) {
  auto socket = connect_to(path);
  if (!socket)
    return Error{"no daemon answers at " + path + " (start one with: wm serve --simulate GPU --socket " + path + ")"};
  Hello hello;
  hello.role = Role::simulated;
  hello.priority = terms.priority;
  hello.share = static_cast<std::uint32_t>(terms.share * 1000);
  std::snprintf(hello.name, sizeof hello.name, "%s", terms.name.c_str());
  bool sent = send_packet(*socket, {reinterpret_cast<const std::byte*>(&hello), sizeof hello});
  sent = sent && send_packet(*socket, {reinterpret_cast<const std::byte*>(&terms.goal), sizeof terms.goal});
  auto packet = sent ? receive_packet(*socket, kWelcomeTimeout) : std::nullopt;
  ServedWelcome welcome;
  if (!packet || packet->bytes.size() != sizeof welcome) return Error{path + ": no daemon of a simulated GPU"};
  std::memcpy(&welcome, packet->bytes.data(), sizeof welcome);
  welcome.reason[sizeof welcome.reason - 1] = 0;
  if (welcome.magic != kMagic || welcome.accepted == 0) return Error{path + ": " + welcome.reason};
  auto* connection = new ServedConnection(std::move(*socket), welcome, std::move(packet->file));
  std::thread([connection] { connection->read_answers(); }).detach();
  return connection;
}

std::uint64_t ServedConnection::time_locked() const {
  if (is_waiting_ || welcome_.host_time <= 0) return base_nanoseconds_;
  const auto passed = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - since_).count();
  return base_nanoseconds_ + static_cast<std::uint64_t>(passed * welcome_.host_time);
}

std::int64_t ServedConnection::now() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(time_locked());
}

void ServedConnection::send(ServedOp op, std::uint64_t number, const Payload& payload) {
  ServedHeader header;
  header.op = op;
  header.number = number;
  header.nanoseconds = time_locked();
  header.resumptions = resumptions_;
  if (!is_gone_ && !send_served(socket_, header, payload, true)) is_gone_ = true;
}

void ServedConnection::post(ServedOp op, const Payload& payload) {
  const std::lock_guard lock(mutex_);
  send(op, 0, payload);
}

void ServedConnection::stop_clock() {
  base_nanoseconds_ = time_locked();
  since_ = std::chrono::steady_clock::now();
  is_waiting_ = true;
}

void ServedConnection::set_activity(Activity activity) {
  const std::lock_guard lock(mutex_);
  activity_ = std::move(activity);
}

void ServedConnection::tell_waiting() {
  const std::lock_guard lock(mutex_);
  stop_clock();
  send(ServedOp::wait, 0, {});
}

std::optional<ServedMessage> ServedConnection::call(ServedOp op, const Payload& payload) {
  std::unique_lock lock(mutex_);
  const Activity activity = op == ServedOp::launch ? activity_ : Activity{};
  const std::uint64_t number = ++calls_made_;
  calls_.emplace(number, std::nullopt);
  if (op == ServedOp::poll) stop_clock();
  send(op, number, payload);
  if (activity.left) {
    lock.unlock();
    activity.left();
    lock.lock();
  }
  const auto at = calls_.find(number);
  answered_.wait(lock, [&] { return at->second.has_value() || is_gone_; });
  const bool has_answer = at->second.has_value();
  auto answer = std::move(at->second);
  calls_.erase(at);
  lock.unlock();
  if (!has_answer && activity.returned) activity.returned();
  return answer;
}

void ServedConnection::read_answers() {
  while (true) {
    auto receipt = receive_served(socket_, -1);
    if (!receipt) continue;
    const ServedHeader header = receipt->message.header;
    if (header.op == ServedOp::ended && !receipt->closed) {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
      continue;
    }
    const bool resumes = !receipt->closed && header.resumptions != 0;
    std::unique_lock lock(mutex_);
    if (header.op == ServedOp::launch_over && !receipt->closed && activity_.returned) {
      // The work queue counts the launch as its own again before the daemon can learn that the answer has come.
      const auto returned = activity_.returned;
      lock.unlock();
      returned();
      lock.lock();
    }
    if (receipt->closed) {
      is_gone_ = true;
      answered_.notify_all();
      return;
    }
    if (resumes) {
      ++resumptions_;
      base_nanoseconds_ = std::max(time_locked(), header.nanoseconds);
      since_ = std::chrono::steady_clock::now();
      is_waiting_ = false;
    }
    const auto at = calls_.find(header.number);
    if (at != calls_.end()) at->second = std::move(receipt->message);
    answered_.notify_all();
  }
}

Result<void> ServedConnection::allocated(std::uint64_t address, std::uint64_t bytes, bool on_device,
                                         const std::string& name) {
  Payload payload;
  payload.put(ServedAllocate{.address = address, .bytes = bytes, .on_device = on_device ? 1U : 0U});
  return ask(ServedOp::allocate, payload.text(name));
}

Result<void> ServedConnection::aliased(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes) {
  return ask(ServedOp::alias, Payload().put(ServedAlias{.alias = alias, .address = address, .bytes = bytes}));
}

Result<void> ServedConnection::heap_placed(std::uint64_t address, std::uint64_t sm_bytes) {
  return ask(ServedOp::heap, Payload().put(ServedHeap{.address = address, .sm_bytes = sm_bytes}));
}

Result<void> ServedConnection::ask(ServedOp op, const Payload& payload) {
  const auto answer = call(op, payload);
  if (!answer) return Error{why_gone()};
  Reader reader(answer->payload);
  if (reader.take<std::uint32_t>() == 0) return {};
  return Error{std::string(reader.zero_terminated())};
}

std::string ServedConnection::why_gone() {
  const std::lock_guard lock(mutex_);
  return is_ended_ ? "`wm end` has ended this program on the simulated GPU" : "the daemon of the simulated GPU is gone";
}

void ServedConnection::freed(std::uint64_t address) { post(ServedOp::free, Payload().put(address)); }

}  // namespace wm::runtime
