// DRAM schedulers: in which order requests of one channel are served.
#include <gtest/gtest.h>
#include <random>

#include "components/names.h"
#include "sim/cycle/dram/controller.h"

namespace wm::sim {
namespace {

constexpr DramSpec kFourBanks{
    .banks = 4, .bytes_per_clock = 32, .tCL = 12, .tRP = 12, .tRC = 40, .tRAS = 28, .tRCD = 12, .tRRD = 6};

std::vector<std::uint32_t> served_by(std::string_view scheduler, const std::vector<DramRequest>& requests) {
  DramController dram(kFourBanks, {.reads = 16, .writes = 16}, scheduler);
  for (const DramRequest& r : requests) dram.push(r);
  std::deque<DramDone> done;
  while (!dram.idle()) dram.advance(~std::uint64_t{0}, done);
  std::vector<std::uint32_t> tokens;
  for (const DramDone& d : done) tokens.push_back(d.token);
  return tokens;
}

DramRequest row_read(std::uint32_t bank, std::uint64_t row, std::uint32_t token) {
  return {.row = row, .bank = bank, .bytes = 32, .token = token};
}

using Tokens = std::vector<std::uint32_t>;

TEST(FrFcfs, ServesRequestsOfAnOpenRowFirst) {
  EXPECT_EQ(served_by("fr_fcfs", {row_read(0, 1, 1), row_read(0, 2, 2), row_read(0, 1, 3)}), (Tokens{1, 3, 2}));
}

TEST(Fcfs, ServesRequestsInTheOrderTheyCame) {
  EXPECT_EQ(served_by("fcfs", {row_read(0, 1, 1), row_read(0, 2, 2), row_read(0, 1, 3)}), (Tokens{1, 2, 3}));
  EXPECT_EQ(served_by("fcfs", {row_read(0, 1, 1), row_read(0, 2, 2), row_read(1, 7, 3)}), (Tokens{1, 2, 3}))
      << "another bank must wait, too";
}

// The promises of every scheduler, those found by the build later included.
TEST(DramSchedulers, ServeEveryRequestOnce) {
  for (const std::string_view name : components::kDramSchedulers) {
    std::vector<DramRequest> requests;
    for (std::uint32_t i = 0; i < 16; ++i) requests.push_back(row_read(i * 7 % 4, i * 5 % 3, i));
    Tokens served = served_by(name, requests);
    std::sort(served.begin(), served.end());
    ASSERT_EQ(served.size(), 16U) << name;
    for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(served[i], i) << name;
  }
}

bool same(const DramChoice& a, const DramChoice& b) {
  return a.at == b.at && a.index == b.index && a.command == b.command;
}

// A choice that a scheduler says it keeps is the one it would make anew, whatever comes and in whatever rows.
TEST(DramSchedulers, KeepOnlyChoicesThatTheyWouldMakeAgain) {
  for (const std::string_view name : components::kDramSchedulers) {
    AnyDramScheduler scheduler = make_dram_scheduler(name);
    const auto choose = [&](const DramWaiting& w) {
      return std::visit([&](auto& s) { return s.choose(w); }, scheduler);
    };
    std::mt19937 random(7);
    DramChannel channel(kFourBanks);
    BankQueue queue(4, 64);
    std::uint64_t now = 0;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const DramRequest added{.row = random() % 3,
                              .arrived = now + random() % 40,
                              .bank = static_cast<std::uint32_t>(random() % 4),
                              .bytes = 32};
      if (!queue.empty()) {
        const DramChoice before = choose({queue, channel, now});
        const bool keeps = std::visit([&](auto& s) { return s.keeps(queue, added); }, scheduler);
        queue.push(added);
        EXPECT_TRUE(!keeps || same(before, choose({queue, channel, now}))) << name << ", request " << i;
        kept += keeps ? 1 : 0;
      } else {
        queue.push(added);
      }
      while (queue.size() > random() % 16) {
        const DramChoice c = choose({queue, channel, now});
        const DramRequest r = queue[c.index];
        now = c.at;
        channel.issue(c.command, r.bank, c.command == DramCommand::activate ? r.row : r.bytes, c.at);
        if (c.command == DramCommand::read) {
          queue.remove(c.index);
        } else {
          queue.open(r.bank, channel.open_row(r.bank));
        }
      }
    }
    EXPECT_GT(kept, 200U) << name;
  }
}

// The definition, request by request: of those that hit the open row of their bank and the oldest one of each bank
// without such, the first that can go out; at the same clock a column command, then the older request.
DramChoice first_ready(const DramWaiting& w, const std::vector<BankQueue::Index>& waiting) {
  DramChoice best;
  const auto column = [](const DramChoice& c) { return c.command == DramCommand::read; };
  for (const BankQueue::Index i : waiting) {
    const DramRequest& r = w.queue[i];
    const bool hits = w.queue.hits(r);
    if (!hits && (w.queue.hit(r.bank) != BankQueue::kNone || w.queue.oldest(r.bank) != i)) continue;
    const DramCommand command = hits ? DramCommand::read : w.row_command(r.bank);
    const DramChoice c{w.at(w.ready(command, r.bank), i), i, command};
    if (c.at > best.at) continue;
    const bool sooner = c.at < best.at;
    const bool preferred = column(c) != column(best) ? column(c) : w.queue.number(i) < w.queue.number(best.index);
    if (sooner || preferred) best = c;
  }
  return best;
}

TEST(FrFcfs, ChoosesAsItsDefinitionSays) {
  for (const std::uint32_t refresh : {0U, 200U}) {
    DramSpec spec = kFourBanks;
    spec.tREFI = refresh;
    spec.tRFC = refresh / 4;
    DramChannel channel(spec);
    BankQueue queue(4, 64);
    std::mt19937 random(11);
    std::vector<BankQueue::Index> waiting;
    std::uint64_t now = 0;
    std::uint32_t later = 0;  // choices for which an older hit has yet to arrive
    for (std::uint32_t i = 0; i < 3000; ++i) {
      for (std::uint32_t n = random() % 3; n != 0 && queue.size() < 32; --n) {
        queue.push({.row = random() % 2,
                    .arrived = now + random() % 80,
                    .bank = static_cast<std::uint32_t>(random() % 4),
                    .bytes = 32});
        waiting.clear();
        for (std::uint32_t bank = 0; bank < 4; ++bank)
          for (BankQueue::Index at = queue.oldest(bank); at != BankQueue::kNone; at = queue.after(at))
            waiting.push_back(at);
      }
      if (queue.empty()) continue;
      const DramWaiting w{queue, channel, now};
      const DramChoice c = dram_schedulers::FrFcfs{}.choose(w);
      ASSERT_TRUE(same(c, first_ready(w, waiting))) << "choice " << i << ", refresh every " << refresh;
      const DramRequest r = queue[c.index];
      later += c.command == DramCommand::read && queue.hit(r.bank) != c.index ? 1 : 0;
      now = c.at;
      channel.issue(c.command, r.bank, c.command == DramCommand::activate ? r.row : r.bytes, c.at);
      if (c.command == DramCommand::read) {
        queue.remove(c.index);
        std::erase(waiting, c.index);
      } else {
        queue.open(r.bank, channel.open_row(r.bank));
      }
    }
    EXPECT_GT(later, 50U);
  }
}

}  // namespace
}  // namespace wm::sim
