#include "sim/cycle/noc/mesh.h"

#include <gtest/gtest.h>
#include <set>

namespace wm::sim {
namespace {

constexpr MeshSpec kMesh{.sms = 24, .channels = 6, .hop_latency = 4, .bytes_per_cycle = 32};

TEST(Mesh, EverySmAndChannelHasANodeOfItsOwn) {
  const Mesh mesh(kMesh);
  std::set<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < 24; ++i) nodes.insert(mesh.node_of_sm(i));
  for (std::uint32_t i = 0; i < 6; ++i) nodes.insert(mesh.node_of_channel(i));
  EXPECT_EQ(nodes.size(), 30U);
}

TEST(Mesh, AnUnloadedMessageTakesItsHops) {
  Mesh mesh(kMesh);
  for (std::uint32_t sm = 0; sm < 24; ++sm) {
    Mesh fresh(kMesh);
    const std::uint32_t from = fresh.node_of_sm(sm);
    const std::uint32_t to = fresh.node_of_channel(3);
    EXPECT_EQ(fresh.travel(from, to, 100, 8), 100U + 4 * fresh.hops(from, to));
  }
}

TEST(Mesh, TwoMessagesOverOneLinkGoOneAfterTheOther) {
  Mesh mesh(kMesh);
  const std::uint64_t first = mesh.travel(0, 1, 100, 136);  // five flits
  EXPECT_EQ(first, 104U);
  EXPECT_EQ(mesh.travel(0, 1, 100, 8), 109U) << "the link is free again after five cycles";
  EXPECT_EQ(mesh.travel(1, 0, 100, 8), 104U) << "the way back is another link";
}

TEST(Mesh, ALinkThatIsFreeAgainDelaysNoPacket) {
  Mesh mesh(kMesh);
  mesh.travel(0, 1, 100, 136);
  EXPECT_EQ(mesh.travel(0, 1, 105, 8), 109U);
  Mesh other(kMesh);
  other.travel(0, 1, 100, 136);
  EXPECT_EQ(other.travel(0, 1, 104, 8), 109U) << "one cycle too early waits that cycle";
}

}  // namespace
}  // namespace wm::sim
