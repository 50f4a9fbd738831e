// Rates alone are measured once: what names a run, what survives on disk, what is measured again.
#include "lab/alone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "lab/scratch.h"

namespace wm::lab {
namespace {

constexpr Alone kSome{.instructions = 123456789, .cycles = 2000000};

CorunResult run(const Participant& p, const AloneCache& cache) {
  CorunOptions options;
  options.cycles = 2000;
  options.cache = cache;
  const auto ran = corun(test_gpu(), {p}, *policy::choose("left_over"), options);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return *ran;
}

TEST(AloneCache, RemembersWhatItWasTold) {
  const Scratch folder;
  const AloneCache cache(folder.path("not/there/yet"));
  EXPECT_EQ(cache.find("0123"), std::nullopt);
  EXPECT_TRUE(cache.keep("0123", kSome));
  EXPECT_EQ(cache.find("0123"), kSome);
  EXPECT_EQ(AloneCache(folder.path("not/there/yet")).find("0123"), kSome);
  EXPECT_EQ(cache.find("0124"), std::nullopt);
}

TEST(AloneCache, AnEntryThatWasHarmedIsNotBelieved) {
  const Scratch folder;
  const AloneCache cache(folder.path());
  ASSERT_TRUE(cache.keep("0123", kSome));
  const std::string whole = folder.read("alone/01/0123");
  std::string harmed = whole;
  harmed[harmed.find("123456789")] = '9';
  for (const std::string& text : {std::string(), whole.substr(0, whole.size() / 2), harmed, whole + "more\n",
                                  std::string(4096, '\0'), std::string("alone 1\ninstructions -1\n")}) {
    folder.write("alone/01/0123", text);
    EXPECT_EQ(cache.find("0123"), std::nullopt) << text;
  }
  // Another run's entry under this name is no better.
  ASSERT_TRUE(cache.keep("0199", kSome));
  folder.write("alone/01/0123", folder.read("alone/01/0199"));
  EXPECT_EQ(cache.find("0123"), std::nullopt);
}

TEST(AloneCache, AFolderThatCannotBeWrittenCostsNoResult) {
  const Scratch folder;
  folder.write("file", "in the way");
  const AloneCache cache(folder.path("file"));
  EXPECT_FALSE(cache.keep("0123", kSome));
  EXPECT_GT(run(zoo_participant("vecadd"), cache).kernels[0].ipc_alone, 0);
}

TEST(AloneCache, ManyWritersAndReadersSeeWholeEntries) {
  const Scratch folder;
  const AloneCache cache(folder.path());
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

TEST(AloneKey, NamesAllThatDecidesTheResult) {
  const gpu::GpuConfig gpu = test_gpu();
  const Participant p = zoo_participant("vecadd");
  const std::string key = alone_key(gpu, p, 1000);
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(alone_key(gpu, p, 1000), key);

  EXPECT_NE(alone_key(gpu, p, 1001), key);
  EXPECT_NE(alone_key(test_gpu("qos56"), p, 1000), key);
  EXPECT_NE(alone_key(gpu, zoo_participant("vecadd", zoo::Size::medium), 1000), key);
  Participant other = p;
  other.ptx += " ";
  EXPECT_NE(alone_key(gpu, other, 1000), key);
  other = p;
  other.launches = 0;
  EXPECT_NE(alone_key(gpu, other, 1000), key);
  other = p;
  auto application = std::make_shared<gpu::Application>(*p.application);
  application->buffers[0].initial[5] ^= std::byte{1};
  other.application = application;
  EXPECT_NE(alone_key(gpu, other, 1000), key);

  // Goals, arrivals and weights do not change what a kernel does alone.
  other = p;
  other.goal = 0.9;
  other.arrive = Cycles{77};
  other.share = 3;
  EXPECT_EQ(alone_key(gpu, other, 1000), key);
  gpu::GpuConfig changed = gpu;
  changed.source.clear();
  EXPECT_EQ(alone_key(changed, p, 1000), "");
}

TEST(Corun, MeasuresARateAloneOnceAndFindsItAgain) {
  const Scratch folder;
  const AloneCache cache(folder.path());
  const CorunResult first = run(zoo_participant("vecadd"), cache);
  const CorunResult second = run(zoo_participant("vecadd"), cache);
  EXPECT_EQ(first.alone_runs, 1U);
  EXPECT_EQ(second.alone_runs, 0U);
  EXPECT_EQ(first.kernels[0].ipc_alone, second.kernels[0].ipc_alone);
  EXPECT_EQ(first.run_hash, second.run_hash);
  EXPECT_EQ(run(zoo_participant("vecadd"), {}).alone_runs, 1U);
}

TEST(Corun, AHarmedCacheIsMeasuredAgainAndMended) {
  const Scratch folder;
  const AloneCache cache(folder.path());
  const Participant p = zoo_participant("vecadd");
  const double right = run(p, cache).kernels[0].ipc_alone;
  const std::string path = cache.path(alone_key(test_gpu(), p, 2000));
  ASSERT_TRUE(std::filesystem::exists(path));
  std::ofstream(path) << "alone 1\ninstructions 1\ncycles 1\nsum 0\n";
  const CorunResult again = run(p, cache);
  EXPECT_EQ(again.alone_runs, 1U);
  EXPECT_EQ(again.kernels[0].ipc_alone, right);
  EXPECT_EQ(run(p, cache).alone_runs, 0U);
}

}  // namespace
}  // namespace wm::lab
