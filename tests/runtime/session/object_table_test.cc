// The objects of a client by id, its shared regions, and its background tasks.
#include "runtime/session/object_table.h"

#include <gtest/gtest.h>

#include "runtime/session/background_tasks.h"
#include "runtime/session/image_size.h"
#include "runtime/session/shared_regions.h"

namespace wm::runtime {
namespace {

TEST(ObjectTable, AnIdIsUsedOnce) {
  ObjectTable<int> table;
  EXPECT_TRUE(table.add(7, std::make_shared<int>(1)));
  EXPECT_FALSE(table.add(7, std::make_shared<int>(2)));
  ASSERT_NE(table.find(7), nullptr);
  EXPECT_EQ(*table.find(7), 1);
  EXPECT_EQ(table.find(8), nullptr);
}

TEST(ObjectTable, ARemovedObjectLivesAsLongAsItIsUsed) {
  ObjectTable<int> table;
  table.add(1, std::make_shared<int>(5));
  const auto used = table.find(1);
  EXPECT_EQ(table.remove(1), used);
  EXPECT_EQ(table.remove(1), nullptr);
  EXPECT_EQ(*used, 5);
  EXPECT_EQ(table.size(), 0U);
}

TEST(ObjectTable, ObjectsAreDestroyedWithoutTheLock) {
  ObjectTable<std::shared_ptr<void>> table;
  std::size_t size_at_end = 99;
  auto object = std::make_shared<std::shared_ptr<void>>();
  *object = {nullptr, [&](std::nullptr_t) { size_at_end = table.size(); }};  // would deadlock under the lock
  table.add(1, std::move(object));
  table.close();
  EXPECT_EQ(size_at_end, 0U);
}

TEST(ObjectTable, AfterItIsClosedNothingIsAdded) {
  ObjectTables tables;
  tables.samplers.add(1, std::make_shared<Sampler>());
  tables.memories.add(1, std::make_shared<Memory>());
  EXPECT_EQ(tables.size(), 2U);
  tables.close();
  EXPECT_EQ(tables.size(), 0U);
  EXPECT_FALSE(tables.samplers.add(2, std::make_shared<Sampler>()));
}

SharedRegions regions(std::uint64_t max_bytes) {
  Descriptor file;
  return SharedRegions(std::move(*SharedArea::make(file)), max_bytes);
}

TEST(SharedRegions, AChunkMustBeInsideTheSharedMemory) {
  SharedRegions shared = regions(1 << 20);
  EXPECT_EQ(shared.find({0, 0, 0, 64}).bytes.size(), 64U);
  EXPECT_EQ(shared.find({0, 0, kStagingBytes - 1, 1}).bytes.size(), 1U);
  EXPECT_TRUE(shared.find({0, 0, kStagingBytes, 1}).bytes.empty());
  EXPECT_TRUE(shared.find({0, 0, 1, ~std::uint64_t{0}}).bytes.empty()) << "the end overflows";
  EXPECT_TRUE(shared.find({5, 0, 0, 1}).bytes.empty()) << "there is no such region";
  Descriptor file;
  const std::uint32_t region = shared.add(8192, file);
  ASSERT_NE(region, 0U);
  EXPECT_TRUE(file.open());
  EXPECT_EQ(shared.find({region, 0, 8191, 1}).bytes.size(), 1U);
  EXPECT_TRUE(shared.find({region, 0, 8192, 1}).bytes.empty());
}

TEST(SharedRegions, RegionsTogetherHaveALimit) {
  SharedRegions shared = regions(10'000);
  Descriptor file;
  EXPECT_EQ(shared.add(10'001, file), 0U);
  const std::uint32_t first = shared.add(6'000, file);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(shared.add(4'001, file), 0U);
  shared.remove(first);
  EXPECT_NE(shared.add(4'001, file), 0U);
}

TEST(SharedRegions, ARegionThatStoresABufferIsNoChunkAndNotCounted) {
  SharedRegions shared = regions(10'000);
  Descriptor file;
  const std::uint32_t region = shared.add(9'000, file);
  EXPECT_EQ(shared.take_for_buffer(region, 9'001), nullptr) << "it is too small";
  const auto place = shared.take_for_buffer(region, 9'000);
  ASSERT_NE(place, nullptr);
  EXPECT_TRUE(shared.find({region, 0, 0, 1}).bytes.empty());
  EXPECT_EQ(shared.take_for_buffer(region, 1), nullptr);
  EXPECT_NE(shared.add(9'000, file), 0U);
}

TEST(SharedRegions, ThereIsAMaximumOfRegionsAndNoneAfterClosing) {
  SharedRegions shared = regions(1 << 20);
  Descriptor file;
  for (std::size_t i = 0; i < SharedRegions::kMaxRegions; ++i) ASSERT_NE(shared.add(64, file), 0U);
  EXPECT_EQ(shared.add(64, file), 0U);
  shared.remove(1);
  shared.close();
  EXPECT_EQ(shared.add(64, file), 0U);
}

TEST(BackgroundTasks, AreCountedUntilTheyFinish) {
  BackgroundTasks tasks;
  std::promise<void> go;
  const auto wait = go.get_future().share();
  tasks.run([wait] { wait.wait(); });
  tasks.run([wait] { wait.wait(); });
  EXPECT_EQ(tasks.count(), 2U);
  go.set_value();
  tasks.wait();
  EXPECT_EQ(tasks.count(), 0U);
}

CreateImage image(std::uint32_t type, std::uint32_t order, std::uint32_t channel) {
  CreateImage m;
  m.object_type = type;
  m.order = order;
  m.type = channel;
  m.width = 10;
  m.height = 6;
  m.depth = 3;
  m.array_size = 5;
  return m;
}

TEST(ImageSize, CountsTheDimensionsThatTheTypeHas) {
  constexpr std::uint32_t kRgba = 0x10B5, kR = 0x10B0, kUnormInt8 = 0x10D2, kFloat = 0x10DE;
  EXPECT_EQ(image_bytes(image(0x10F4, kR, kUnormInt8)), 10U) << "1D";
  EXPECT_EQ(image_bytes(image(0x10F1, kRgba, kUnormInt8)), 10U * 4 * 6) << "2D";
  EXPECT_EQ(image_bytes(image(0x10F2, kRgba, kFloat)), 10U * 16 * 6 * 3) << "3D";
  for (const std::uint32_t two_channels : {0x10B2U, 0x10B3U, 0x10BBU}) {  // RG, RA, RGx
    EXPECT_EQ(image_bytes(image(0x10F1, two_channels, kFloat)), 10U * 8 * 6);
  }
  EXPECT_EQ(image_bytes(image(0x10F5, kR, kFloat)), 10U * 4 * 5) << "1D array";
  EXPECT_EQ(image_bytes(image(0x10F3, kR, kFloat)), 10U * 4 * 6 * 5) << "2D array";
}

TEST(ImageSize, UsesThePitchesAndDetectsOverflow) {
  CreateImage m = image(0x10F2, 0x10B0, 0x10D2);
  m.row_pitch = 100;
  EXPECT_EQ(image_bytes(m), 100U * 6 * 3);
  m.slice_pitch = 1000;
  EXPECT_EQ(image_bytes(m), 1000U * 3);
  m.width = ~std::uint64_t{0} / 2;
  EXPECT_FALSE(image_bytes(m).has_value());
}

}  // namespace
}  // namespace wm::runtime
