// CUDA programs under an arbiter, as processes, with the simulated driver in place of a GPU's.
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <thread>

#include "base/json.h"
#include "runtime/arbiter/arbiter.h"
#include "runtime/protocol/monitor.h"
#include "tree.h"

namespace wm::runtime {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A program in a process of its own; its output goes to a file.
class Program {
 public:
  Program(const fs::path& output, const std::vector<std::string>& arguments,
          const std::vector<std::pair<std::string, std::string>>& variables)
      : output_(output), pid_(::fork()) {
    if (pid_ != 0) return;
    ::setenv("WM_STOP_FILE", stop_file().c_str(), 1);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    if (std::freopen(output.c_str(), "w", stdout) == nullptr) std::_Exit(3);
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    std::vector<char*> words;
    const bool is_zoo = !arguments.empty() && arguments[0] == "zoo";
    std::vector<std::string> copies{binary_path(is_zoo ? "tests/zoo_program" : "tests/forward_program")};
    copies.insert(copies.end(), arguments.begin(), arguments.end());
    words.reserve(copies.size() + 1);
    for (std::string& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    std::_Exit(4);
  }
  ~Program() {
    if (pid_ > 0) kill();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(output_).rdbuf();
    return text.str();
  }
  // Waits until it has printed these words, at most a minute.
  [[nodiscard]] bool says(const std::string& words) const {
    for (int i = 0; i < 6000 && text().find(words) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return text().find(words) != std::string::npos;
  }
  // Tells a program whose rounds end when it is told (rounds.h) to stop; its result.
  Json finish() {
    tell();
    return result();
  }
  void tell() const { std::ofstream(stop_file()).put(' '); }
  // Waits, and reads the line of JSON that it printed.
  Json result() {
    EXPECT_EQ(wait(), 0) << text();
    std::istringstream lines(text());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("{")) return Json::parse(line, nullptr, false);
    }
    ADD_FAILURE() << "no result: " << text();
    return Json::object();
  }

 private:
  [[nodiscard]] std::string stop_file() const { return output_.string() + ".stop"; }

  const fs::path output_;
  pid_t pid_;
};

class ArbitratedProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wm-arbiter-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    socket_ = (folder_ / "socket").string();
  }
  void TearDown() override {
    end_daemon();
    fs::remove_all(folder_);
  }
  void start_daemon(ArbiterOptions options) {
    options.socket = socket_;
    auto arbiter = Arbiter::open(options, "a GPU");
    ASSERT_TRUE(arbiter) << arbiter.error().what;
    arbiter_ = *std::move(arbiter);
    stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread([this] { arbiter_->run(stop_.get()); });
  }
  void end_daemon() {
    if (!thread_.joinable()) return;
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
    arbiter_.reset();
  }
  std::unique_ptr<Program> start(const std::vector<std::string>& arguments, const std::string& priority = "0",
                                 const std::string& preload = "", const std::string& goal = "",
                                 const std::string& memory = "") {
    const std::string forward = binary_path("lib/forward");
    std::vector<std::pair<std::string, std::string>> variables{
        {"WARPMUX_ARBITER", socket_},
        {"WARPMUX_LIBCUDA", binary_path("lib/simulated/libcuda.so.1")},
        {"WARPMUX_SIMULATE", "h200"},
        {"WARPMUX_GPUS", source_path("configs/gpus")},
        {"LD_LIBRARY_PATH", forward + ":" + binary_path("tests/opencl")},
        {"WARPMUX_PRIORITY", priority},
        {"WARPMUX_CUDA_GOAL", goal}};
    if (!memory.empty()) variables.emplace_back("WARPMUX_MEMORY_LIMIT", memory);
    for (const auto& variable : more_variables_) variables.push_back(variable);
    variables.emplace_back("ASAN_OPTIONS", "verify_asan_link_order=0");
    if (!preload.empty()) variables.emplace_back("LD_PRELOAD", forward + "/libcuda.so.1");
    return std::make_unique<Program>(folder_ / std::to_string(++programs_), arguments, variables);
  }
  [[nodiscard]] Json status() const {
    const auto text = request_status(socket_);
    return text ? Json::parse(*text, nullptr, false) : Json::object();
  }
  // The clients when there are so many, or after ten seconds.
  [[nodiscard]] Json clients(std::size_t count) const {
    Json found;
    for (int i = 0; i < 1000; ++i) {
      found = status()["clients"];
      if (found.size() == count) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return found;
  }
  // The client with this priority when `is_ready` says so, or after ten seconds.
  template <typename Ready>
  [[nodiscard]] Json client(int priority, Ready is_ready) const {
    Json found = Json::object();
    for (int i = 0; i < 3000; ++i) {
      const Json document = status();
      for (const Json& c : document["clients"]) {
        if (c["priority"] != priority) continue;
        found = c;
        if (is_ready(c)) return c;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << found.dump();
    return found;
  }

  fs::path folder_;
  std::string socket_;
  int programs_ = 0;
  std::vector<std::pair<std::string, std::string>> more_variables_;  // programs are started with these too
  std::unique_ptr<Arbiter> arbiter_;
  Descriptor stop_;
  std::thread thread_;
};

inline ArbiterOptions mps(std::uint32_t headroom) {
  ArbiterOptions options;
  options.sharing = Sharing::mps;
  options.headroom_percent = headroom;
  return options;
}

}  // namespace wm::runtime
