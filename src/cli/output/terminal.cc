#include "cli/output/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace wm::cli {
namespace {

using std::chrono::duration_cast;

constexpr std::chrono::seconds kLineInterval{10};  // interval of progress lines without a terminal

bool colours() {
  static const bool on =
      isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;  // NOLINT(concurrency-mt-unsafe)
  return on;
}

}  // namespace

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string styled(Style style, std::string_view text) {
  if (style == Style::plain || !colours()) return std::string(text);
  static constexpr std::array kCodes{"0", "1", "2", "32", "31", "34", "33", "35", "36"};
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<std::size_t>(style)], text);
}

Style style_of_kernel(std::size_t kernel) {
  static constexpr std::array kStyles{Style::blue, Style::amber, Style::violet, Style::teal};
  return kStyles[kernel % kStyles.size()];
}

std::string bar(double part, std::size_t width) {
  static constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(width) * 8));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const std::size_t columns = eighths / 8 + (eighths % 8 != 0 ? 1 : 0);
  return text + std::string(width - columns, ' ');
}

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string scaled(double number) {
  static constexpr std::array kPrefixes{"", " k", " M", " G", " T"};
  std::size_t prefix = 0;
  while (number >= 999.5 && prefix + 1 < kPrefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  return fmt::format("{:.{}f}{}", number, prefix == 0 || number >= 99.95 ? 0 : 1, kPrefixes[prefix]);
}

std::string duration(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto rounded = static_cast<std::uint64_t>(std::lround(seconds));
  return fmt::format("{} min {} s", rounded / 60, rounded % 60);
}

std::string progress_line(double done, double seconds, std::string_view what) {
  constexpr int kWidth = 30;
  done = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(done * kWidth);
  std::string line = fmt::format("[{:#<{}}{:-<{}}] {:3.0f}%  {}", "", filled, "", kWidth - filled, done * 100, what);
  if (done > 0 && done < 1) line += fmt::format("  about {} left", duration(std::ceil(seconds * (1 - done) / done)));
  return line;
}

Progress::Progress(std::size_t steps) : steps_(static_cast<double>(std::max<std::size_t>(steps, 1))) {
  painter_ = std::thread([this] {
    if (isatty(STDERR_FILENO) != 0)
      draw_until_done();
    else
      print_until_done();
  });
}

Progress::~Progress() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
  painter_.join();
}

void Progress::advance(double part, const std::string& what) {
  const std::lock_guard lock(mutex_);
  done_ += part;
  what_ = what;
}

void Progress::print_until_done() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kLineInterval, [this] { return ended_; })) {
    const double done = std::clamp(done_ / steps_, 0.0, 1.0);
    std::string line = fmt::format("wm: {:.0f}%  {}", done * 100, what_);
    const double seconds = seconds_since(start_);
    if (done > 0 && done < 1) line += fmt::format("  about {} left", duration(std::ceil(seconds * (1 - done) / done)));
    std::fprintf(stderr, "%s\n", line.c_str());
    std::fflush(stderr);
  }
}

void Progress::draw_until_done() {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return ended_; };
  if (wake_.wait_for(lock, std::chrono::seconds(2), ended)) return;
  do {
    const std::string line = progress_line(done_ / steps_, seconds_since(start_), what_);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  } while (!wake_.wait_for(lock, std::chrono::milliseconds(200), ended));
  std::fputs("\r\033[K", stderr);
}

}  // namespace wm::cli
