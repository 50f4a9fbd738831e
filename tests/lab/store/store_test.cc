// A store keeps its rows after kills, full disks and damage, or reports an error.
#include "lab/store/store.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lab/scratch.h"
#include "lab/store/rows.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;

Store opened(const std::string& path, Store::Mode mode = Store::Mode::write) {
  auto store = Store::open(path, mode);
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().to_string());
  return *std::move(store);
}

std::string refusal(const std::string& path, Store::Mode mode = Store::Mode::write) {
  const auto store = Store::open(path, mode);
  return store.ok() ? "" : store.error().to_string();
}

TEST(Store, KeepsRowsBetweenOpenings) {
  const Scratch folder;
  Row failed = some_row(2);
  failed.state = Row::State::failed;
  failed.error = "it's \"gone\"\n";
  {
    Store store = opened(folder.path("s.db"));
    EXPECT_TRUE(store.put(some_row(1)).ok());
    EXPECT_TRUE(store.put(failed).ok());
    EXPECT_TRUE(store.put_gpu("g", "name: g\n").ok());
  }
  const Store store = opened(folder.path("s.db"), Store::Mode::read);
  EXPECT_EQ(**store.find("k01"), some_row(1));
  EXPECT_EQ(**store.find("k02"), failed);
  EXPECT_FALSE(store.find("k03")->has_value());
  EXPECT_EQ(store.rows()->size(), 2U);
  EXPECT_EQ(store.gpus()->at("g"), "name: g\n");
}

TEST(Store, ALaterRowTakesThePlaceOfAnEarlier) {
  const Scratch folder;
  Store store = opened(folder.path("s.db"));
  Row row = some_row(1);
  EXPECT_TRUE(store.put(row).ok());
  row.run_hash = "other";
  EXPECT_TRUE(store.put(row).ok());
  EXPECT_EQ(store.rows()->size(), 1U);
  EXPECT_EQ((*store.find("k01"))->run_hash, "other");
}

TEST(Store, ReadingWantsAStore) {
  const Scratch folder;
  EXPECT_THAT(refusal(folder.path("none.db"), Store::Mode::read), HasSubstr("there is no store"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("none.db")));
}

TEST(Store, AFileThatIsNoStoreIsRefusedAndUnchanged) {
  const Scratch folder;
  const std::string text = "key,command\n" + std::string(5000, 'x');
  folder.write("notes.db", text);
  EXPECT_THAT(refusal(folder.path("notes.db")), HasSubstr("is damaged (file is not a database)"));
  EXPECT_EQ(folder.read("notes.db"), text);
}

TEST(Store, ADamagedPageIsNamedAndNothingIsWritten) {
  const Scratch folder;
  {
    Store store = opened(folder.path("s.db"));
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.put(some_row(i, 3000)).ok());
  }
  std::string bytes = folder.read("s.db");
  ASSERT_GT(bytes.size(), 5 * 4096U);
  for (std::size_t page = 2; page * 4096 < bytes.size(); ++page)
    bytes.replace(page * 4096, 64, std::string(64, '\xff'));
  folder.write("s.db", bytes);
  EXPECT_THAT(refusal(folder.path("s.db")), HasSubstr("is damaged"));
  EXPECT_THAT(refusal(folder.path("s.db"), Store::Mode::read), HasSubstr("is damaged"));
  EXPECT_EQ(folder.read("s.db"), bytes);
}

// The administrator may write everywhere, so the attempt is made as nobody.
TEST(Store, AReadOnlyFolderOrFileIsAClearError) {
  const Scratch folder;
  { Store store = opened(folder.path("s.db")); }
  ::chmod(folder.path("s.db").c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
  const int code = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 9;
    if (refusal(folder.path("new.db")).find("cannot open the store") == std::string::npos) return 1;
    if (refusal(folder.path("s.db")).find("read-only") == std::string::npos) return 2;
    return refusal(folder.path("s.db"), Store::Mode::read).empty() ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
}

TEST(Store, AFullDiskLosesNothingThatWasKept) {
  const Scratch folder;
  // Exit code: rows that were acknowledged before the first refusal, whose message must name the failed operation.
  const int kept = in_child([&] {
    auto store = Store::open(folder.path("s.db"), Store::Mode::write);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{120'000, 120'000};
    if (!store || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 200;
    for (int i = 0; i < 90; ++i) {
      const auto put = store->put(some_row(i, 5000));
      if (!put) return put.error().to_string().find("cannot write to the store") == std::string::npos ? 201 : i;
    }
    return 202;
  });
  ASSERT_GT(kept, 3);
  ASSERT_LT(kept, 90);
  Store store = opened(folder.path("s.db"));
  const auto rows = store.rows();
  ASSERT_EQ(rows->size(), static_cast<std::size_t>(kept));
  for (int i = 0; i < kept; ++i) EXPECT_EQ((*rows)[static_cast<std::size_t>(i)], some_row(i, 5000));
  EXPECT_TRUE(store.put(some_row(kept, 5000)).ok());
}

// Acknowledged rows outlive kill -9; the one being written is there whole or not at all.
TEST(Store, KilledAtAnyMomentARowIsWholeOrAbsent) {
  const Scratch folder;
  int acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = Store::open(folder.path("s.db"), Store::Mode::write);
      if (!store) _exit(1);
      for (int i = acknowledged;; ++i) {
        if (!store->put(some_row(i, 20'000))) _exit(2);
        const char one = 1;
        if (write(ends[1], &one, 1) != 1) _exit(3);
      }
    }
    close(ends[1]);
    pollfd first{ends[0], POLLIN, 0};
    poll(&first, 1, 30'000);  // on a busy host a process may be long in starting
    ::usleep(static_cast<useconds_t>(4100 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    char byte = 0;
    while (read(ends[0], &byte, 1) == 1) ++acknowledged;
    close(ends[0]);
    const auto rows = opened(folder.path("s.db")).rows();
    ASSERT_TRUE(rows.ok());
    ASSERT_GE(rows->size(), static_cast<std::size_t>(acknowledged));
    ASSERT_LE(rows->size(), static_cast<std::size_t>(acknowledged) + 1);
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const int n = static_cast<int>((*rows)[i].seed);
      ASSERT_EQ((*rows)[i], some_row(n, 20'000));
    }
    acknowledged = static_cast<int>(rows->size());
  }
  EXPECT_GT(acknowledged, 3);
}

}  // namespace
}  // namespace wm::lab
