#include "runtime/server/log.h"

#include <gtest/gtest.h>
#include <regex>

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

TEST(Log, LettersStayAsTheyAre) {
  EXPECT_EQ(log::line(log::Level::info, "x", {{"name", "\xc3\xa9 1"}}, false), "info x name=\"\xc3\xa9 1\"");
  EXPECT_EQ(log::line(log::Level::info, "x", {{"name", "\xc3\xa9"}}, true),
            "{\"level\":\"info\",\"event\":\"x\",\"name\":\"\xc3\xa9\"}");
}

TEST(Log, BytesThatAreNoTextDoNotBreakALine) {
  EXPECT_EQ(log::line(log::Level::info, "x", {{"name", "a\n\xff"}}, false), "info x name=\"a\\n\xef\xbf\xbd\"");
}

// The lines that `write` leaves on standard error, without their times.
std::string written(const char* level, const char* format) {
  EXPECT_TRUE(log::configure(level, format).ok());
  testing::internal::CaptureStderr();
  log::write(log::Level::debug, "d");
  log::write(log::Level::info, "i", {{"n", std::int64_t{1}}});
  log::write(log::Level::warning, "w");
  log::write(log::Level::error, "e");
  std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log::configure("warning", "text").ok());
  static const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z");
  return std::regex_replace(lines, time, "T");
}

TEST(Log, EventsBelowTheLevelAreNotWritten) {
  EXPECT_EQ(written("debug", "text"), "T debug d\nT info i n=1\nT warning w\nT error e\n");
  EXPECT_EQ(written("info", "text"), "T info i n=1\nT warning w\nT error e\n");
  EXPECT_EQ(written("warning", "text"), "T warning w\nT error e\n");
  EXPECT_EQ(written("error", "text"), "T error e\n");
  EXPECT_EQ(written("off", "text"), "");
  EXPECT_EQ(written("error", "json"), "{\"time\":\"T\",\"level\":\"error\",\"event\":\"e\"}\n");
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
