// The measurements of the programs in this folder, apart from CUDA: tests use them with the simulated driver.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace measure {

using Clock = std::chrono::steady_clock;

inline Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}
inline double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// The time that is measured. PAIR_BEGIN (seconds since 1970) is its begin, so that two programs measure the same time;
// without that variable it begins at once.
struct Window {
  Clock::time_point begin = Clock::now(), end;
  double late_ms = 0;  // how long after the begin the program was ready

  explicit Window(double seconds) {
    if (const char* text = std::getenv("PAIR_BEGIN")) {
      const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
      const double wait = std::atof(text) - now;
      if (wait < -60 || wait > 60) {
        std::fprintf(stderr, "PAIR_BEGIN '%s' is %.0f seconds from now\n", text, wait);
        std::_Exit(2);
      }
      begin += duration_of(wait);
    }
    late_ms = std::max(0.0, seconds_of(Clock::now() - begin) * 1e3);
    end = begin + duration_of(seconds);
  }
  bool is_over() const { return Clock::now() >= end; }

  // Equal parts of the window whose results are given one by one, for their spread: PAIR_PARTS of them, or one.
  static std::size_t parts() {
    const char* text = std::getenv("PAIR_PARTS");
    return text == nullptr ? 1 : static_cast<std::size_t>(std::clamp(std::atoi(text), 1, 100));
  }
  // The part that a time belongs to.
  std::size_t part_of(Clock::time_point time) const {
    const double part = seconds_of(time - begin) / seconds_of(end - begin) * static_cast<double>(parts());
    return std::min(static_cast<std::size_t>(std::max(part, 0.0)), parts() - 1);
  }
};

inline double quantile(const std::vector<double>& sorted, double part) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

inline void print_list(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.1f", i == 0 ? "" : ", ", values[i]);
  std::printf("], ");
}

// Requests every half millisecond until the window is over; those that start in it are measured.
template <typename Request>
void latency(double seconds, Request request) {
  for (int i = 0; i < 100; ++i) request();
  std::vector<double> times;
  std::vector<std::vector<double>> parts(Window::parts());
  const Window window(seconds);
  auto next = Clock::now();
  while (!window.is_over()) {
    next = std::max(next + std::chrono::microseconds(500), Clock::now());
    std::this_thread::sleep_until(next);
    const auto started = Clock::now();
    request();
    if (started < window.begin) continue;
    times.push_back(seconds_of(Clock::now() - started) * 1e6);
    parts[window.part_of(started)].push_back(times.back());
  }
  if (times.empty()) {
    std::fputs("no request was measured\n", stderr);
    std::_Exit(2);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) { return quantile(times, part); };
  std::vector<double> medians, slowest;
  for (std::vector<double>& part : parts) {
    std::sort(part.begin(), part.end());
    medians.push_back(quantile(part, 0.5));
    slowest.push_back(quantile(part, 0.99));
  }
  std::printf(
      "{\"kind\": \"latency\", \"requests\": %zu, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f, \"late_ms\": %.0f, ",
      times.size(), at(0.5), at(0.9), at(0.99), times.back(), window.late_ms);
  if (parts.size() == 1) return;
  print_list("parts_p50_us", medians);
  print_list("parts_p99_us", slowest);
}

// `launch` starts a launch, `record` marks its end in the stream, `wait` waits for the mark. One launch is always
// ahead, as in an application that keeps the device busy.
template <typename Launch, typename Record, typename Wait>
void batch(double seconds, const char* kind, Launch launch, Record record, Wait wait) {
  std::size_t launches = 0;
  std::vector<double> parts(Window::parts());
  const Window window(seconds);
  Clock::time_point first = Clock::now(), last = first;  // ends of launches: before the first that counts, and the last
  launch();
  while (!window.is_over()) {
    record();
    launch();
    wait();
    last = Clock::now();
    if (last < window.begin) {
      first = last;
    } else {
      ++launches;
      if (last < window.end) parts[window.part_of(last)] += static_cast<double>(parts.size()) / seconds;
    }
  }
  const double time = seconds_of(last - first);
  if (launches == 0 || time <= 0) {
    std::fputs("no launch was measured\n", stderr);
    std::_Exit(2);
  }
  std::printf(
      "{\"kind\": \"%s\", \"launches\": %zu, \"launches_per_second\": %.2f, \"milliseconds\": %.3f, \"late_ms\": "
      "%.0f, ",
      kind, launches, static_cast<double>(launches) / time, time * 1e3 / static_cast<double>(launches), window.late_ms);
  if (parts.size() > 1) print_list("parts_launches_per_second", parts);
}

// The time of a launch call, over groups of 64 calls: the queue of the driver does not fill up.
template <typename Launch, typename Wait>
void calls(double seconds, Launch launch, Wait wait) {
  constexpr int kGroup = 64;
  std::vector<double> times;
  for (const Window window(seconds); !window.is_over() || times.empty();) {
    const auto started = Clock::now();
    for (int i = 0; i < kGroup; ++i) launch();
    times.push_back(seconds_of(Clock::now() - started) * 1e9 / kGroup);
    wait();
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"kind\": \"calls\", \"groups\": %zu, \"launch_ns\": %.1f, \"p10_ns\": %.1f, ", times.size(),
              times[times.size() / 2], times[times.size() / 10]);
}

}  // namespace measure
