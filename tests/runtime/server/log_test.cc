#include "runtime/server/log.h"

#include <gtest/gtest.h>

#include "runtime/server/loopback.h"

namespace wm::runtime {
namespace {

TEST(Log, ALineHasItsLevelEventAndValues) {
  EXPECT_EQ(log::line(log::Level::info, "client_gone",
                      {{"client", std::int64_t{3}}, {"program", "a b"}, {"seconds", 0.5}}, false),
            R"(info client_gone client=3 program="a b" seconds=0.5)");
  EXPECT_EQ(log::line(log::Level::warning, "x", {{"name", "say \"hi\""}}, true),
            R"({"level":"warning","event":"x","name":"say \"hi\""})");
}

TEST(Log, BytesThatAreNoTextDoNotBreakALine) {
  EXPECT_EQ(log::line(log::Level::info, "x", {{"name", "a\n\xff"}}, false), "info x name=\"a\\n\xef\xbf\xbd\"");
}

TEST(Log, UnknownLevelsAndFormatsAreRefused) {
  EXPECT_FALSE(log::configure("loud", "text").ok());
  EXPECT_FALSE(log::configure("critical", "text").ok()) << "a level of the logging library, not of ours";
  EXPECT_FALSE(log::configure("info", "xml").ok());
  EXPECT_TRUE(log::configure("warning", "text").ok());
}

TEST(Loopback, TheFirstLineNamesThePath) {
  EXPECT_EQ(path_of("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), "/healthz");
  EXPECT_EQ(path_of("GET /metrics?x=1 HTTP/1.1\r\n\r\n"), "/metrics");
  EXPECT_EQ(path_of("HEAD /healthz HTTP/1.1\r\n\r\n"), "/healthz");
  EXPECT_EQ(path_of(""), "/metrics");
  EXPECT_EQ(path_of("POST / HTTP/1.1\r\n\r\n"), "");
}

}  // namespace
}  // namespace wm::runtime
