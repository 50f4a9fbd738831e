// Isolated rates are measured once: the key of a run, entries on disk, and entries that are measured again.
#include "lab/run/isolated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "lab/scratch.h"

namespace wm::lab {
namespace {

constexpr IsolatedRate kSome{.instructions = 123456789, .cycles = 2000000};

CorunResult run(const Participant& p, const IsolatedCache& cache) {
  CorunOptions options;
  options.cycles = 2000;
  options.cache = cache;
  const auto ran = corun(test_gpu(), {p}, *policy::choose("left_over"), options);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return *ran;
}

TEST(IsolatedCache, RemembersWhatItWasTold) {
  const Scratch folder;
  const IsolatedCache cache(folder.path("not/there/yet"));
  EXPECT_EQ(cache.find("0123"), std::nullopt);
  EXPECT_TRUE(cache.keep("0123", kSome));
  EXPECT_EQ(cache.find("0123"), kSome);
  EXPECT_EQ(IsolatedCache(folder.path("not/there/yet")).find("0123"), kSome);
  EXPECT_EQ(cache.find("0124"), std::nullopt);
}

TEST(IsolatedCache, AnEntryThatWasHarmedIsNotBelieved) {
  const Scratch folder;
  const IsolatedCache cache(folder.path());
  ASSERT_TRUE(cache.keep("0123", kSome));
  const std::string full_text = folder.read("alone/01/0123");
  std::string harmed = full_text;
  harmed[harmed.find("123456789")] = '9';
  for (const std::string& text :
       {std::string(), full_text.substr(0, full_text.size() / 2), harmed, full_text + "more\n", std::string(4096, '\0'),
        std::string("alone 1\ninstructions -1\n")}) {
    folder.write("alone/01/0123", text);
    EXPECT_EQ(cache.find("0123"), std::nullopt) << text;
  }
  // Another run's entry under this name is no better.
  ASSERT_TRUE(cache.keep("0199", kSome));
  folder.write("alone/01/0123", folder.read("alone/01/0199"));
  EXPECT_EQ(cache.find("0123"), std::nullopt);
}

TEST(IsolatedCache, AFolderThatCannotBeWrittenCostsNoResult) {
  const Scratch folder;
  folder.write("file", "in the way");
  const IsolatedCache cache(folder.path("file"));
  EXPECT_FALSE(cache.keep("0123", kSome));
  EXPECT_GT(run(zoo_participant("vecadd"), cache).kernels[0].isolated_ipc, 0);
}

TEST(IsolatedCache, ManyWritersAndReadersSeeWholeEntries) {
  const Scratch folder;
  const IsolatedCache cache(folder.path());
  ASSERT_TRUE(cache.keep("0123", kSome));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        cache.keep("0123", kSome);
        EXPECT_EQ(cache.find("0123"), kSome);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(IsolatedKey, NamesAllThatDecidesTheResult) {
  const gpu::GpuConfig gpu = test_gpu();
  const Participant p = zoo_participant("vecadd");
  const std::string key = isolated_key(gpu, p, 1000);
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(isolated_key(gpu, p, 1000), key);

  EXPECT_NE(isolated_key(gpu, p, 1001), key);
  EXPECT_NE(isolated_key(test_gpu("qos56"), p, 1000), key);
  EXPECT_NE(isolated_key(gpu, zoo_participant("vecadd", zoo::Size::medium), 1000), key);
  Participant other = p;
  other.ptx += " ";
  EXPECT_NE(isolated_key(gpu, other, 1000), key);
  other = p;
  other.launches = 0;
  EXPECT_NE(isolated_key(gpu, other, 1000), key);
  other = p;
  auto application = std::make_shared<gpu::Application>(*p.application);
  application->buffers[0].initial[5] ^= std::byte{1};
  other.application = application;
  EXPECT_NE(isolated_key(gpu, other, 1000), key);

  // Goals, arrivals and weights do not change an isolated run.
  other = p;
  other.goal = 0.9;
  other.arrive = Cycles{77};
  other.share = 3;
  EXPECT_EQ(isolated_key(gpu, other, 1000), key);
  gpu::GpuConfig changed = gpu;
  changed.source.clear();
  EXPECT_EQ(isolated_key(changed, p, 1000), "");
}

TEST(Corun, MeasuresAnIsolatedRateOnceAndFindsItAgain) {
  const Scratch folder;
  const IsolatedCache cache(folder.path());
  const CorunResult first = run(zoo_participant("vecadd"), cache);
  const CorunResult second = run(zoo_participant("vecadd"), cache);
  EXPECT_EQ(first.isolated_runs, 1U);
  EXPECT_EQ(second.isolated_runs, 0U);
  EXPECT_EQ(first.kernels[0].isolated_ipc, second.kernels[0].isolated_ipc);
  EXPECT_EQ(first.run_hash, second.run_hash);
  EXPECT_EQ(run(zoo_participant("vecadd"), {}).isolated_runs, 1U);
}

TEST(Corun, AHarmedCacheIsMeasuredAgainAndMended) {
  const Scratch folder;
  const IsolatedCache cache(folder.path());
  const Participant p = zoo_participant("vecadd");
  const double right = run(p, cache).kernels[0].isolated_ipc;
  const std::string path = cache.path(isolated_key(test_gpu(), p, 2000));
  ASSERT_TRUE(std::filesystem::exists(path));
  std::ofstream(path) << "alone 1\ninstructions 1\ncycles 1\nsum 0\n";
  const CorunResult again = run(p, cache);
  EXPECT_EQ(again.isolated_runs, 1U);
  EXPECT_EQ(again.kernels[0].isolated_ipc, right);
  EXPECT_EQ(run(p, cache).isolated_runs, 0U);
}

}  // namespace
}  // namespace wm::lab
