// A fresh folder for one test, gone afterwards, and a kernel of the zoo ready to take part.
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "gpu/load_gpu.h"
#include "kernels/benchmark.h"
#include "lab/run/corun.h"
#include "ptx/parse.h"
#include "tree.h"

namespace wm::lab {

class Scratch {
 public:
  Scratch() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("wm-lab-") + test->test_suite_name() + "-" + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

inline gpu::GpuConfig test_gpu(const std::string& name = "qos16") {
  auto g = gpu::load_gpu(name, source_path("configs/gpus"));
  EXPECT_TRUE(g.ok()) << g.error().to_string();
  return *g;
}

inline Participant zoo_participant(const std::string& name, zoo::Size size = zoo::Size::small) {
  const auto entry = zoo::find(name);
  EXPECT_TRUE(entry.ok());
  Participant p;
  p.name = name;
  p.ptx = (*entry)->ptx;
  p.module = std::make_shared<ptx::Module>(*ptx::parse(p.ptx, name));
  p.application = std::make_shared<gpu::Application>((*entry)->benchmark.make(size).application);
  return p;
}

}  // namespace wm::lab
