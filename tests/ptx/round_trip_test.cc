#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "every_form.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "tree.h"

namespace wm::ptx {
namespace {

// parse(print(x)) equals x, and printing again gives the same text.
void expect_round_trip(const std::string& text, const std::string& file) {
  const auto module = parse(text, file);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const std::string printed = print(*module);
  const auto again = parse(printed, "printed");
  ASSERT_TRUE(again.ok()) << file << " printed: " << again.error().to_string();
  EXPECT_TRUE(*module == *again) << file;
  EXPECT_EQ(print(*again), printed) << file;
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/ptx/corpus"))) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Corpus : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Corpus, RoundTrips) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  expect_round_trip(text.str(), GetParam().filename().string());
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, testing::ValuesIn(corpus()), [](const auto& info) {
  std::string name = info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

// Inputs kept from fuzzing: accepted texts round-trip, refused ones give a position.
TEST(FuzzCorpus, RoundTripsOrIsRefusedWithItsPlace) {
  int accepted = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("fuzz/corpus/ptx"))) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const auto module = parse(text.str(), entry.path().filename().string());
    ++(module.ok() ? accepted : refused);
    if (module.ok()) {
      expect_round_trip(text.str(), entry.path().filename().string());
    } else {
      EXPECT_NE(module.error().where.line, 0U) << module.error().to_string();
    }
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(refused, 10);
}

class EveryForm : public testing::TestWithParam<int> {};

TEST_P(EveryForm, RoundTrips) {
  const auto opcode = static_cast<Opcode>(GetParam());
  const std::vector<std::string> instructions = every_form(opcode);
  if (opcode != Opcode::call) {
    EXPECT_FALSE(instructions.empty());
  }
  expect_round_trip(every_form_module(instructions), std::string(name(opcode)));
}

INSTANTIATE_TEST_SUITE_P(Opcodes, EveryForm, testing::Range(0, kOpcodeCount), [](const auto& info) {
  std::string text(name(static_cast<Opcode>(info.param)));
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
});

}  // namespace
}  // namespace wm::ptx
