#include "runtime/simulated_server/silence.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/file.h"

namespace wm::runtime {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double processor_wait_seconds(pid_t process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/schedstat");
  unsigned long long ran = 0, waited = 0;  // nanoseconds
  if (!text || std::sscanf(text->c_str(), "%llu %llu", &ran, &waited) != 2) return 0;
  return static_cast<double>(waited) * 1e-9;
}

Silence::Silence(std::function<double()> now, std::function<double()> waited)
    : now_(std::move(now)), waited_(std::move(waited)), since_(now_()) {}

Silence::Silence(pid_t process) : Silence(steady_seconds, [process] { return processor_wait_seconds(process); }) {}

void Silence::end() {
  since_ = now_();
  waited_before_.reset();
}

bool Silence::lasts(double seconds) {
  const double passed = now_() - since_;
  if (passed <= seconds / 2) return false;
  if (!waited_before_) waited_before_ = waited_();
  return passed > seconds && passed - (waited_() - *waited_before_) > seconds;
}

}  // namespace wm::runtime
