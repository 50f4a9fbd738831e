// The number of rounds of a test program: a count, or "told": until the file that WM_STOP_FILE names exists and one
// round more, so that a test decides by what it has seen and not by time.
#pragma once

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

class Rounds {
 public:
  explicit Rounds(const char* length) : waits_(std::strcmp(length, "told") == 0), left_(std::atoi(length)) {}

  // Whether there is another round. A program that nobody tells to stop ends after a minute.
  bool next() {
    if (waits_ && is_told()) {
      waits_ = false;
      left_ = 1;
    }
    return waits_ || left_-- > 0;
  }

 private:
  [[nodiscard]] bool is_told() const {
    const char* const file = std::getenv("WM_STOP_FILE");
    return file == nullptr || ::access(file, F_OK) == 0 ||
           std::chrono::steady_clock::now() - start_ > std::chrono::minutes(1);
  }

  bool waits_;
  int left_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
