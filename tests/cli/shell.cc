#include "cli/shell.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Ran shell(const std::string& command) {
  const fs::path base = fs::path(::testing::TempDir()) / ("wm-shell-" + std::to_string(getpid()));
  const std::string out = base.string() + ".out";
  const std::string err = base.string() + ".err";
  const std::string line = "( " + command + " ) >" + out + " 2>" + err + " </dev/null";
  const int status = std::system(line.c_str());  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(out), slurp(err)};
  fs::remove(out);
  fs::remove(err);
  return ran;
}

Ran run_wm(const std::string& arguments) { return shell(binary_path("bin/wm ") + arguments); }

Scratch::Scratch() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ = fs::path(::testing::TempDir()) / (std::string("wm-") + test->test_suite_name() + "-" + test->name());
  fs::remove_all(folder_);
  fs::create_directories(folder_);
}

Scratch::~Scratch() { fs::remove_all(folder_); }

void Scratch::write(const std::string& name, const std::string& content, bool executable) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << content;
  if (executable) fs::permissions(folder_ / name, fs::perms::owner_all);
}

std::string Scratch::read(const std::string& name) const { return slurp(folder_ / name); }

std::vector<std::string> Scratch::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace wm::cli
