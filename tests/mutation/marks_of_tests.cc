// Part of a mutation run: records for every test which mutants it reached, and how long it took.
//
// tests/mutation/run adds this file to the test program. WM_MUTANT_MARKS names the file of marks, WM_MUTANT_RECORD the
// file that gets one line per test: its name, its milliseconds, and the marks that are set as ID:MARK. A first line
// with the name * has the marks that the program sets before its tests, in initialisers.
#include <fstream>
#include <gtest/gtest.h>

#include "mutation/schemata.h"

namespace wm_mutation {
namespace {

class Recorder final : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : out_(path) {}

 private:
  void OnTestProgramStart(const testing::UnitTest&) override {
    out_ << "* 0";
    write_marks();
  }

  void OnTestStart(const testing::TestInfo&) override {
    for (int id = 0; id < kMarks; ++id) state().marks[id] = 0;
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    out_ << test.test_suite_name() << '.' << test.name() << ' ' << test.result()->elapsed_time();
    write_marks();
  }

  void write_marks() {
    for (int id = 0; id < kMarks; ++id)
      if (state().marks[id] != 0) out_ << ' ' << id << ':' << int{state().marks[id]};
    out_ << '\n' << std::flush;
  }

  std::ofstream out_;
};

[[maybe_unused]] const bool is_recording = [] {
  const char* path = std::getenv("WM_MUTANT_RECORD");
  if (!path || !state().marks) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
  ::unsetenv("WM_MUTANT_RECORD");  // A test that starts this program again would begin a new record.
  return true;
}();

}  // namespace
}  // namespace wm_mutation
