// Output for people at a terminal, suppressed in pipes: colour, and the progress of a long task.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace wm::cli {

// The text with colour codes; unchanged where stdout is not a terminal, or NO_COLOR is set.
enum class Style { plain, bold, dim, good, bad, blue, amber, violet, teal };
std::string styled(Style style, std::string_view text);

// The width of the terminal; 0 where stdout is not a terminal.
std::size_t terminal_width();

// One colour per kernel, in the order of the command line.
Style style_of_kernel(std::size_t kernel);
// "██████▌   " for 0.65: `part` of `width` columns, to an eighth of one.
std::string bar(double part, std::size_t width);

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
// 23456789.0 as "23.5 M".
std::string scaled(double number);
// 0.0123 as "12 ms", 83.2 as "1 min 23 s".
std::string duration(double seconds);
double seconds_since(std::chrono::steady_clock::time_point start);

// "[######------] 40%  sgemm  about 12 s left": the line a bar shows. `done` in [0, 1].
std::string progress_line(double done, double seconds, std::string_view what);

// A progress bar on stderr, drawn after two seconds and erased at the end. Where stderr is not a terminal, a line every
// ten seconds. Steps may come from several threads.
class Progress {
 public:
  explicit Progress(std::size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Adds a fraction of a step, in [0, 1], that was done for `what`.
  void advance(double part, const std::string& what);

 private:
  void draw_until_done();
  void print_until_done();

  const double steps_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  double done_ = 0;
  std::string what_;
  bool ended_ = false;
  std::thread painter_;
};

}  // namespace wm::cli
