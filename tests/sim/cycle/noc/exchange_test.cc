#include "sim/cycle/noc/exchange.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace wm::sim {
namespace {

Message message(std::uint64_t time, std::uint32_t token) { return {.time = time, .token = token}; }

// Sends a message to the receiver token / 100.
void send(Exchange& exchange, std::uint32_t sender, const std::vector<Message>& messages) {
  exchange.send(sender, messages, [](const Message& m) { return m.token / 100; });
}

std::map<std::uint32_t, std::uint64_t> close(Exchange& exchange) {
  std::map<std::uint32_t, std::uint64_t> first;
  exchange.close([&](std::uint32_t receiver, std::uint64_t time) {
    const auto [at, is_first] = first.emplace(receiver, time);
    if (!is_first) at->second = std::min(at->second, time);
  });
  return first;
}

std::vector<std::uint32_t> take(Exchange& exchange, std::uint32_t receiver) {
  std::vector<std::uint32_t> tokens;
  exchange.take(receiver, [&](const Message& m) { tokens.push_back(m.token); });
  return tokens;
}

TEST(Exchange, AReceiverTakesItsMessagesInOrderOfSendersAndAsTheyWereSent) {
  Exchange exchange(3, 4);
  send(exchange, 2, {message(10, 301), message(5, 101), message(7, 302)});
  send(exchange, 0, {message(20, 102), message(30, 103)});
  close(exchange);
  EXPECT_EQ(take(exchange, 1), (std::vector<std::uint32_t>{102, 103, 101}));
  EXPECT_EQ(take(exchange, 3), (std::vector<std::uint32_t>{301, 302}));
}

TEST(Exchange, ReceiversLearnWhenTheFirstMessageArrives) {
  Exchange exchange(2, 4);
  send(exchange, 0, {message(10, 301), message(5, 101), message(7, 302)});
  send(exchange, 1, {message(6, 303)});
  EXPECT_EQ(close(exchange), (std::map<std::uint32_t, std::uint64_t>{{1, 5}, {3, 6}}));
}

TEST(Exchange, MessagesAreTakenOnce) {
  Exchange exchange(2, 2);
  send(exchange, 0, {message(10, 1)});
  close(exchange);
  EXPECT_TRUE(exchange.waits_for(0));
  EXPECT_FALSE(exchange.waits_for(1));
  EXPECT_EQ(take(exchange, 0).size(), 1U);
  EXPECT_FALSE(exchange.waits_for(0));
  EXPECT_TRUE(take(exchange, 0).empty());
}

TEST(Exchange, FewerMessagesThanBeforeLeaveNothingOfThoseBehind) {
  Exchange exchange(1, 3);
  send(exchange, 0, {message(1, 1), message(2, 102), message(3, 203), message(4, 204)});
  close(exchange);
  for (std::uint32_t receiver = 0; receiver < 3; ++receiver) take(exchange, receiver);
  send(exchange, 0, {message(5, 105)});
  EXPECT_EQ(close(exchange), (std::map<std::uint32_t, std::uint64_t>{{1, 5}}));
  EXPECT_TRUE(take(exchange, 0).empty());
  EXPECT_EQ(take(exchange, 1), (std::vector<std::uint32_t>{105}));
  EXPECT_TRUE(take(exchange, 2).empty());
}

TEST(Exchange, ASenderWithoutMessagesSendsNoneAgain) {
  Exchange exchange(1, 1);
  send(exchange, 0, {message(10, 1)});
  close(exchange);
  take(exchange, 0);
  send(exchange, 0, {});
  EXPECT_TRUE(close(exchange).empty());
  EXPECT_FALSE(exchange.waits_for(0));
  send(exchange, 0, {message(20, 2)});
  EXPECT_EQ(close(exchange).at(0), 20U);
  EXPECT_EQ(take(exchange, 0), (std::vector<std::uint32_t>{2}));
}

TEST(Exchange, TimesMayChangeBeforeReceiversLearnThem) {
  Exchange exchange(1, 2);
  send(exchange, 0, {message(10, 101), message(20, 102)});
  exchange.visit([](Message& m, std::uint32_t receiver) {
    EXPECT_EQ(receiver, 1U);
    m.time = 100 - m.time;
  });
  exchange.update_first();
  EXPECT_EQ(close(exchange).at(1), 80U);
}

}  // namespace
}  // namespace wm::sim
